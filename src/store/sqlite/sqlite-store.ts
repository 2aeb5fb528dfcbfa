/**
 * The shared tables in one SQLite file, for pods on one host: the embedded default. Every call is one
 * transaction, or a few where a list is long; the lock on the file is what keeps rivals apart, and
 * what commits is on disk. Hints go out when a transaction has committed.
 */
import type { RunId } from '../../ground/index.ts';
import type { Act, ActAnswer, Note } from '../acts.ts';
import { PAYLOAD_BYTES_MAX } from '../bounds.ts';
import type * as bulks from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import { StoreUnreachableError } from '../errors.ts';
import type { Outline, PartQuery } from '../outlines.ts';
import type { Persisted } from '../persisting.ts';
import type { Beat, BeatAnswer, PodBirth, Pruned } from '../pods.ts';
import type { FlowChange } from '../queues.ts';
import type { ReaderOptions, StoreReader } from '../reader.ts';
import type * as schedule from '../schedule/schedules.ts';
import type { Capabilities, Head, MirrorAnswer, OnHint, Store } from '../store.ts';
import type * as tasks from '../tasks.ts';
import type { ThrottleChange, ThrottleWord } from '../throttles.ts';
import type { WatchQuery } from '../watch.ts';
import type { PodId } from '../words.ts';
import { act, note } from './act.ts';
import * as archive from './archive.ts';
import { SqliteBulks } from './bulk-store.ts';
import { census } from './census.ts';
import * as claims from './claims.ts';
import type { Connection } from './connection.ts';
import { violations } from './doctor.ts';
import { Hints } from './hints.ts';
import * as housekeeping from './housekeeping.ts';
import { SqliteIntake } from './intake.ts';
import { connect, type SqliteOptions } from './migrate.ts';
import * as people from './people.ts';
import { SqlitePersisting } from './persisting.ts';
import { identityOf, type Place, placeOf } from './place.ts';
import * as pods from './pods.ts';
import * as flow from './queues.ts';
import { openSqliteReader } from './reader.ts';
import * as schedules from './schedules.ts';
import { refuseUnmigrated } from './schema.ts';
import { batchesOf, Session, type Tx, unlessBusy } from './session.ts';
import { type Changed, hasEnded, settle } from './settle.ts';
import { take } from './take.ts';
import * as apis from './throttles.ts';
import { watch } from './watch.ts';

type RunName = archive.RunName;

/** The file must be on a disk of this host: SQLite's locks do not hold on network file systems. */
export async function openSqliteStore(path: string, options: SqliteOptions): Promise<Store> {
  const place = placeOf(path);
  const connection = await connect(place, options);
  const store = new SqliteStore(place, connection, options);
  try {
    await store.checkSchema();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class SqliteStore implements Store {
  readonly capabilities: Capabilities = {
    kind: 'sqlite',
    heartbeatMs: 3_000,
    silentMs: 15_000,
    idlePollMs: 1_000,
  };
  readonly #place: Place;
  readonly #identity: string | undefined;
  readonly #connection: Connection;
  readonly #session: Session;
  readonly #hints: Hints;
  readonly #intake: SqliteIntake;
  readonly #persisting: SqlitePersisting;
  readonly #bulks: SqliteBulks;
  readonly #options: SqliteOptions;

  constructor(place: Place, connection: Connection, options: SqliteOptions) {
    this.#place = place;
    this.#identity = identityOf(place);
    this.#connection = connection;
    this.#session = new Session(connection, options);
    this.#hints = new Hints(place, options.clock);
    const [session, identity] = [this.#session, this.#identity];
    const tell = (changed: readonly Changed[]) => this.#tell(changed);
    this.#intake = new SqliteIntake({ ...options, session, identity, tell });
    this.#persisting = new SqlitePersisting({ ...options, session, tell });
    this.#bulks = new SqliteBulks(this.#session, this.#hints);
    this.#options = options;
  }

  checkSchema(): Promise<void> {
    const check = () => refuseUnmigrated(this.#connection);
    return unlessBusy(this.#place.file, this.#options, check);
  }

  async close(): Promise<void> {
    this.#hints.close();
    this.#persisting.close();
    this.#session.close();
  }

  register = (birth: PodBirth) => this.#session.write((tx) => pods.register(tx, birth));
  async beat(beat: Beat): Promise<BeatAnswer> {
    this.#refuseReplacedFile();
    return this.#session.write((tx) => pods.beat(tx, beat));
  }
  markDraining = (pod: PodId) => this.#session.write((tx) => pods.markDraining(tx, pod));
  beginTerm(pod: PodId, term: number): Promise<void> {
    return this.#session.write((tx) => pods.beginTerm(tx, pod, term));
  }
  requestDrain = (pod: PodId) => this.#session.write((tx) => pods.requestDrain(tx, pod));
  pods = () => this.#session.read((tx) => pods.pods(tx));
  publishThrottles = (words: readonly ThrottleWord[]) =>
    this.#session.write((tx) => apis.publishThrottles(tx, words));
  throttles = () => this.#session.read((tx) => apis.throttles(tx));
  changeThrottle = (change: ThrottleChange) =>
    this.#session.write((tx) => apis.changeThrottle(tx, change));
  async announce(given: readonly tasks.Announcement[]): Promise<tasks.Announcement[]> {
    return given.length > 0 ? this.#session.write((tx) => pods.announce(tx, given)) : [];
  }
  abandoned(machines: readonly string[]): Promise<string[]> {
    return this.#session.read((tx) => pods.abandoned(tx, machines));
  }
  known = () => this.#session.read((tx) => pods.known(tx));
  inFlight(routes?: readonly string[]): Promise<tasks.RouteTally[]> {
    return this.#session.read((tx) => people.inFlight(tx, routes));
  }
  census(countMax: number, silentMs: number): Promise<Census> {
    return this.#session.read((tx) => census(tx, countMax, silentMs));
  }
  enqueue = (...given: Parameters<Store['enqueue']>) => this.#intake.enqueue(...given);

  async claim(request: tasks.ClaimRequest): Promise<tasks.ClaimedTask[]> {
    if (request.countMax <= 0 || request.routes.length === 0) return [];
    return this.#session.write((tx) => claims.claim(tx, request));
  }

  held(
    pod: PodId,
    after: string,
    countMax: number,
    bytesMax = PAYLOAD_BYTES_MAX,
  ): Promise<tasks.ClaimedTask[]> {
    return this.#session.read((tx) => claims.held(tx, pod, after, { countMax, bytesMax }));
  }
  hasSuspects(routes: readonly string[]): Promise<boolean> {
    return this.#session.read((tx) => claims.hasSuspects(tx, routes));
  }

  async settle(
    pod: PodId,
    settlements: readonly tasks.Settlement[],
  ): Promise<tasks.SettleAnswer[]> {
    const settled = await this.#inBatches(settlements, (tx, batch) => settle(tx, pod, batch));
    this.#tell(settled);
    return settled.map(({ answer }) => answer);
  }

  begin = () => this.#persisting.begin();
  settled = (pod: PodId, persisted: Persisted) => this.#persisting.settled(pod, persisted);

  archive = (segments: readonly tasks.Flush[]) => this.#inBatches(segments, archive.archive);

  async histories(runs: readonly RunName[]): Promise<tasks.Segment[]> {
    if (runs.length === 0) return [];
    return this.#session.read((tx) => archive.histories(tx, [...runs].sort(archive.byName)));
  }

  /** A file that cannot be written is not opened. */
  mayChange = async () => true;

  outlines(runs: readonly RunName[]): Promise<Outline[]> {
    return this.#session.read((tx) => archive.outlines(tx, [...runs].sort(archive.byName)));
  }
  recordsIn = (part: PartQuery) => this.#session.read((tx) => archive.recordsIn(tx, part));
  async heads(runs: readonly RunName[]): Promise<Head[]> {
    return runs.length === 0 ? [] : this.#session.read((tx) => archive.heads(tx, runs));
  }
  mirror = (pod: PodId, runs: readonly tasks.MirroredRun[]): Promise<MirrorAnswer[]> =>
    this.#inBatches(runs, (tx, batch) => claims.mirror(tx, pod, batch));
  worklist = (silentMs: number) => this.#session.read((tx) => pods.worklist(tx, silentMs));

  fence(
    pod: PodId,
    by: PodId,
    because: { readonly silentMs: number } | 'proved',
  ): Promise<boolean> {
    return this.#session.write((tx) => pods.fence(tx, pod, by, because));
  }

  async take(taking: tasks.Taking): Promise<tasks.TakenTask[]> {
    const taken = await this.#session.write((tx) => take(tx, taking, this.#options.random));
    this.#tell(taken);
    return taken;
  }
  retire = (pod: PodId) => this.#session.write((tx) => pods.retire(tx, pod));

  async failHopeless(graceMs: number, countMax: number): Promise<tasks.TaskRow[]> {
    const failed = await this.#session.write((tx) =>
      housekeeping.failHopeless(tx, graceMs, countMax),
    );
    this.#tell(failed);
    return failed;
  }

  async hasHopeless(graceMs: number): Promise<boolean> {
    return this.#session.read((tx) => housekeeping.hasHopeless(tx, graceMs));
  }
  async hasOld(...given: Parameters<Store['hasOld']>): Promise<boolean> {
    return this.#session.read((tx) => housekeeping.hasOld(tx, ...given));
  }
  prune(...given: Parameters<Store['prune']>): Promise<Pruned> {
    return this.#session.write((tx) => housekeeping.prune(tx, ...given));
  }

  async find(ids: readonly RunId[]): Promise<tasks.TaskRow[]> {
    return ids.length === 0 ? [] : this.#session.read((tx) => people.find(tx, ids));
  }
  list = (filter: tasks.TaskFilter) => this.#session.read((tx) => people.list(tx, filter));

  async act(given: Act): Promise<ActAnswer> {
    const { answer, changed } = await this.#session.write((tx) => act(tx, given));
    this.#tell(changed);
    return answer;
  }
  note = (given: Note) => this.#session.write((tx) => note(tx, given));

  beginBulk = (given: bulks.NewBulk) => this.#bulks.begin(given);
  takeBulk = (given: bulks.BulkTaking) => this.#bulks.take(given);
  saveBulk = (given: bulks.BulkSave) => this.#bulks.save(given);
  orderBulk = (given: bulks.BulkOrder) => this.#bulks.order(given);
  changeSchedule = (given: schedule.ScheduleChange) =>
    schedules.changeAndTell(this.#session, this.#hints, given);
  dueSchedules = (machines: readonly string[], countMax: number) =>
    this.#session.read((tx) => schedules.dueSchedules(tx, machines, countMax));
  tickSchedule = (given: schedule.Ticking) =>
    schedules.tickAndTell(this.#session, this.#hints, given);

  queues = () => this.#session.read(flow.queues);
  pausedMachines = () => this.#session.read(flow.pausedMachines);
  changeFlow = async (change: FlowChange) => {
    const answer = await this.#session.write((tx) => flow.changeFlow(tx, change));
    this.#hints.give('ready');
    return answer;
  };

  watch = (query: WatchQuery) => this.#session.read((tx) => watch(tx, query));
  violations = () => this.#session.read(violations);

  async openReader(given: ReaderOptions = {}): Promise<StoreReader> {
    return openSqliteReader(this.#place.file, this.#options, given);
  }

  async listen(onHint: OnHint): Promise<(() => Promise<void>) | undefined> {
    const stop = this.#hints.listen(onHint);
    return stop && (async () => stop());
  }

  async #inBatches<T, R>(
    items: readonly T[],
    act: (tx: Tx, batch: readonly T[]) => R[],
  ): Promise<R[]> {
    const answers: R[] = [];
    for (const batch of batchesOf(items)) {
      answers.push(...(await this.#session.write((tx) => act(tx, batch))));
    }
    return answers;
  }

  /** Whoever waits for tasks to be ready, or to end, hears of these. */
  #tell(changed: readonly Changed[]): void {
    const statuses = changed.flatMap(({ status }) => (status === undefined ? [] : [{ status }]));
    const isReady = ({ status, isPassedOn }: (typeof changed)[number]) =>
      status === 'pending' || isPassedOn;
    if (changed.some(isReady)) this.#hints.give('ready');
    if (statuses.some(hasEnded)) this.#hints.give('ended');
  }

  /** Somebody put another file in this one's place: what is written here would be seen by nobody. */
  #refuseReplacedFile(): void {
    if (identityOf(this.#place) === this.#identity) return;
    throw new StoreUnreachableError(
      `${this.#place.file} has been removed or replaced while in use`,
      {
        hint: 'restart this process; to restore a backup, stop every process that uses the file first',
      },
    );
  }
}

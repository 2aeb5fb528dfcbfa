/**
 * The shared tables in a Snowflake account, for teams whose only shared memory it is. Statements are what
 * costs there, so whatever can be one is one, pods beat and look less often than elsewhere, and nothing
 * is held open. See desk.ts for how a call is carried out.
 */
import type { RunId } from '../../ground/index.ts';
import type { Act, Note, StartNote } from '../acts.ts';
import type { BulkOrder, BulkSave, BulkTaking, NewBulk } from '../bulk/bulks.ts';
import type { CallerTx } from '../caller-tx.ts';
import { StoreOptionsError, TransactionError } from '../errors.ts';
import type { PartQuery } from '../outlines.ts';
import type { Beat, PodBirth } from '../pods.ts';
import type { FlowChange } from '../queues.ts';
import type { ReaderOptions, StoreReader } from '../reader.ts';
import { readLimits } from '../reading/limits.ts';
import type { ScheduleChange, Ticking } from '../schedule/schedules.ts';
import type { Capabilities, CheckAnswers, Store } from '../store.ts';
import type {
  Announcement,
  ClaimRequest,
  Flush,
  MirroredRun,
  NewTask,
  Settlement,
  Taking,
  TaskFilter,
} from '../tasks.ts';
import type { ThrottleChange, ThrottleWord } from '../throttles.ts';
import type { WatchQuery } from '../watch.ts';
import type { PodId } from '../words.ts';
import { Calls } from './calls.ts';
import { violations } from './doctor.ts';
import * as looks from './looks.ts';
import { refuseUnmigrated, type TableKind } from './migrate.ts';
import * as people from './people.ts';
import * as pods from './pods.ts';
import { pausedMachines, SnowflakeReader } from './reader.ts';
import * as recovery from './recovery.ts';
import * as resting from './rest.ts';
import type { SessionLimits, Sessions } from './sessions.ts';
import * as tallies from './tallies.ts';
import * as tasksIn from './tasks-in.ts';
import * as out from './tasks-out.ts';

type Runs = readonly { readonly task: RunId; readonly generation: number }[];

/** What a store is made over; whoever opens sessions knows where the account is. */
export interface SnowflakePorts {
  readonly kind: TableKind;
  readonly sessions: Sessions;
  /** Of a reader, which has sessions of its own. */
  readonly readers: (limits: SessionLimits) => Sessions;
}

/** An idle fleet lets its warehouse suspend, and is up again within a minute. */
const REST = { afterMs: 120_000, lookMsMin: 15_000, lookMsMax: 60_000 } as const;

export class SnowflakeStore implements Store {
  readonly capabilities: Capabilities;
  readonly #calls: Calls;
  readonly #ports: SnowflakePorts;

  constructor(ports: SnowflakePorts) {
    this.#ports = ports;
    this.#calls = Calls.ofStore(ports.sessions, ports.kind === 'hybrid');
    this.capabilities = {
      kind: `snowflake ${ports.kind}`,
      heartbeatMs: 15_000,
      silentMs: 60_000,
      idlePollMs: 15_000,
      rest: REST,
      readsLate: ports.kind === 'standard',
      lacks: ['serial keys', 'queue limits', 'following', 'transactions'],
    };
  }

  checkSchema = () => this.#calls.sessions.use(({ run }) => refuseUnmigrated(run));
  close = () => this.#calls.sessions.close();
  mayChange = async () => true;

  register = (birth: PodBirth) => pods.register(this.#calls, birth);
  beat = (beat: Beat) => pods.beat(this.#calls, beat);
  rest = (pod: PodId) => resting.rest(this.#calls, pod);
  mark = () => resting.mark(this.#calls);
  rise = (pod: PodId) => resting.rise(this.#calls, pod);
  markDraining = (pod: PodId) => pods.markDraining(this.#calls, pod);
  beginTerm = (pod: PodId, term: number) => pods.beginTerm(this.#calls, pod, term);
  requestDrain = (pod: PodId) => pods.requestDrain(this.#calls, pod);
  pods = () => pods.pods(this.#calls);
  publishThrottles = (words: readonly ThrottleWord[]) => pods.publishThrottles(this.#calls, words);
  throttles = () => pods.throttles(this.#calls);
  changeThrottle = (change: ThrottleChange) => people.changeThrottle(this.#calls, change);
  announce = (routes: readonly Announcement[]) => pods.announce(this.#calls, routes);
  abandoned = (machines: readonly string[]) => pods.abandoned(this.#calls, machines);
  known = () => pods.known(this.#calls);
  inFlight = (routes?: readonly string[]) => tallies.inFlight(this.#calls, routes);
  census = (countMax: number, silentMs: number) => tallies.census(this.#calls, countMax, silentMs);

  enqueue = async (
    tasks: readonly NewTask[],
    check?: CheckAnswers,
    note?: StartNote,
    tx?: CallerTx,
  ) => {
    if (tx) throw noTransactions();
    return tasksIn.enqueue(this.#calls, tasks, check, note);
  };
  claim = (request: ClaimRequest) => tasksIn.claim(this.#calls, request);
  held = (pod: PodId, after: string, countMax: number, payloadBytesMax?: number) =>
    tasksIn.held(this.#calls, pod, after, countMax, payloadBytesMax);
  hasSuspects = (routes: readonly string[]) => tasksIn.hasSuspects(this.#calls, routes);
  mirror = (pod: PodId, runs: readonly MirroredRun[]) => tasksIn.mirror(this.#calls, pod, runs);

  settle = (pod: PodId, settlements: readonly Settlement[]) =>
    out.settle(this.#calls, pod, settlements);
  begin = () => Promise.reject(noTransactions());
  settled = () => Promise.reject(noTransactions());
  archive = (segments: readonly Flush[]) => out.archive(this.#calls, segments);
  histories = (runs: Runs) => out.histories(this.#calls, runs);
  outlines = (runs: Runs) => out.outlines(this.#calls, runs);
  recordsIn = (part: PartQuery) => out.recordsIn(this.#calls, part);
  heads = (runs: Runs) => out.heads(this.#calls, runs);

  worklist = (silentMs: number) => pods.worklist(this.#calls, silentMs);
  fence = (pod: PodId, by: PodId, because: { readonly silentMs: number } | 'proved') =>
    pods.fence(this.#calls, pod, by, because);
  take = (taking: Taking) => recovery.take(this.#calls, taking);
  retire = (pod: PodId) => pods.retire(this.#calls, pod);
  failHopeless = (graceMs: number, countMax: number) =>
    recovery.failHopeless(this.#calls, graceMs, countMax);
  hasHopeless = (graceMs: number) => recovery.hasHopeless(this.#calls, graceMs);
  hasOld = (...given: Parameters<Store['hasOld']>) => recovery.hasOld(this.#calls, ...given);
  prune = (...given: Parameters<Store['prune']>) => recovery.prune(this.#calls, ...given);

  find = (ids: readonly RunId[]) => looks.find(this.#calls, ids);
  list = (filter: TaskFilter) => looks.list(this.#calls, filter);
  watch = (query: WatchQuery) => looks.watch(this.#calls, query);
  act = async (act: Act) => people.act(this.#calls, act);
  note = async (note: Note) => people.note(this.#calls, note);
  beginBulk = async (bulk: NewBulk) => people.beginBulk(this.#calls, bulk);
  takeBulk = (taking: BulkTaking) => people.takeBulk(this.#calls, taking);
  saveBulk = (save: BulkSave) => people.saveBulk(this.#calls, save);
  orderBulk = (order: BulkOrder) => people.orderBulk(this.#calls, order);
  queues = () => tallies.queues(this.#calls);
  pausedMachines = () => pausedMachines(this.#calls);
  changeFlow = (change: FlowChange) => people.changeFlow(this.#calls, change);
  changeSchedule = async (change: ScheduleChange) => people.changeSchedule(this.#calls, change);
  dueSchedules = (machines: readonly string[], countMax: number) =>
    people.dueSchedules(this.#calls, machines, countMax);
  tickSchedule = (ticking: Ticking) => people.tickSchedule(this.#calls, ticking);
  violations = () => violations(this.#calls);

  openReader = async (options: ReaderOptions = {}): Promise<StoreReader> => {
    const { url, connectionsMax, statementMs } = readLimits(options);
    if (url !== undefined) {
      throw new StoreOptionsError('a store in Snowflake has no replica to read from');
    }
    const limits = { countMax: connectionsMax, deadlineMs: statementMs, owner: 'reader' };
    return new SnowflakeReader(Calls.ofReader(this.#ports.readers(limits), this.#calls.isHybrid));
  };
  /** An account tells nobody that something has come: pods look. */
  listen = async () => undefined;
}

function noTransactions(): TransactionError {
  return new TransactionError('a store in Snowflake has no transactions for others', {
    hint: 'a step that persists in the store, and tx, need Postgres or SQLite',
  });
}

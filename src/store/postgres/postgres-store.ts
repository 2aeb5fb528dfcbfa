/**
 * The shared tables in Postgres. Almost every call is one statement that commits by itself, so that
 * it holds behind a pooler and on servers that only speak like Postgres; nothing rests on advisory
 * locks, session state, triggers, or the clock of a pod. The parts lie beside this file.
 */
import type { RunId } from '../../ground/index.ts';
import type { Act, ActAnswer, Note, StartNote } from '../acts.ts';
import type * as bulk from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import { StoreUnreachableError } from '../errors.ts';
import type { FilledStoreOptions } from '../options.ts';
import type { Outline, PartQuery } from '../outlines.ts';
import type {
  Beat,
  BeatAnswer,
  JournalSeen,
  Leftovers,
  PodBirth,
  PodRow,
  Worklist,
} from '../pods.ts';
import type { FlowChange } from '../queues.ts';
import type { ReaderOptions, StoreReader } from '../reader.ts';
import type { Capabilities, CheckAnswers, Head, Hint, MirrorAnswer, Store } from '../store.ts';
import type * as tasks from '../tasks.ts';
import type { Watch, WatchQuery } from '../watch.ts';
import type { PodId } from '../words.ts';
import { PostgresActor } from './act.ts';
import { PostgresBulks } from './bulk.ts';
import { findViolations } from './doctor.ts';
import { Hinter, notify } from './hinter.ts';
import { PostgresIntake } from './intake.ts';
import { PostgresLimits } from './limits.ts';
import { Listener } from './listener.ts';
import { migrateUp, refuseUnmigrated } from './migrate.ts';
import { readPostgresWay } from './options.ts';
import { PostgresPeople } from './people.ts';
import { PostgresPods } from './pods.ts';
import { Pool } from './pool.ts';
import { openPostgresReader } from './reader.ts';
import { PostgresRecovery } from './recovery.ts';
import { PostgresSettler } from './settler.ts';
import { PostgresTurns } from './turns.ts';

type RunName = { readonly task: RunId; readonly generation: number };

export async function openPostgresStore(
  address: string,
  options: FilledStoreOptions,
): Promise<Store> {
  const store = new PostgresStore(address, options);
  try {
    if (options.migrates) await store.migrate();
    await store.checkSchema();
    return store;
  } catch (error) {
    // A server that is away may come back: whoever joins the fleet looks at the tables then.
    if (error instanceof StoreUnreachableError && !options.migrates) return store;
    await store.close();
    throw error;
  }
}

class PostgresStore implements Store {
  readonly capabilities: Capabilities = {
    kind: 'postgres',
    heartbeatMs: 3_000,
    silentMs: 15_000,
    idlePollMs: 1_000,
  };
  readonly #address: string;
  readonly #options: FilledStoreOptions;
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #pods: PostgresPods;
  readonly #intake: PostgresIntake;
  readonly #settler: PostgresSettler;
  readonly #recovery: PostgresRecovery;
  readonly #people: PostgresPeople;
  readonly #actor: PostgresActor;
  readonly #bulks: PostgresBulks;
  readonly #limits: PostgresLimits;
  readonly #listeners = new Set<Listener>();

  constructor(address: string, options: FilledStoreOptions) {
    const { clock, random } = options;
    this.#address = address;
    this.#options = options;
    this.#pool = new Pool(readPostgresWay(address, options), clock, random);
    this.#hinter = new Hinter(this.#pool, clock);
    this.#limits = new PostgresLimits(this.#pool, this.#hinter, clock);
    const turns = new PostgresTurns(this.#pool, this.#hinter, clock);
    this.#pods = new PostgresPods(this.#pool);
    this.#intake = new PostgresIntake(this.#pool, this.#hinter, turns, this.#limits);
    this.#settler = new PostgresSettler(this.#pool, this.#hinter, turns, this.#limits);
    this.#recovery = new PostgresRecovery(this.#pool, this.#hinter, turns);
    this.#people = new PostgresPeople(this.#pool);
    this.#actor = new PostgresActor(this.#pool, this.#hinter, turns);
    this.#bulks = new PostgresBulks(this.#pool, this.#hinter);
  }

  async migrate(): Promise<void> {
    await migrateUp(this.#pool);
  }

  checkSchema(): Promise<void> {
    return refuseUnmigrated(this.#pool);
  }

  async close(): Promise<void> {
    this.#hinter.close();
    await Promise.all([...this.#listeners].map((listener) => listener.stop()));
    await this.#pool.close();
  }

  register(birth: PodBirth): Promise<JournalSeen> {
    return this.#pods.register(birth);
  }
  beat(beat: Beat): Promise<BeatAnswer> {
    return this.#pods.beat(beat);
  }
  markDraining(pod: PodId): Promise<boolean> {
    return this.#pods.markDraining(pod);
  }
  beginTerm(pod: PodId, term: number): Promise<void> {
    return this.#pods.beginTerm(pod, term);
  }
  requestDrain(pod: PodId): Promise<boolean> {
    return this.#pods.requestDrain(pod);
  }
  pods(): Promise<PodRow[]> {
    return this.#pods.pods();
  }
  announce(given: readonly tasks.Announcement[]): Promise<tasks.Announcement[]> {
    return this.#pods.announce(given);
  }
  abandoned(machines: readonly string[]): Promise<string[]> {
    return this.#pods.abandoned(machines);
  }
  known(): Promise<tasks.KnownRoute[]> {
    return this.#pods.known();
  }
  inFlight(routes?: readonly string[]): Promise<tasks.RouteTally[]> {
    return this.#people.inFlight(routes);
  }

  census(countMax: number, silentMs: number): Promise<Census> {
    return this.#people.census(countMax, silentMs);
  }

  enqueue(
    given: readonly tasks.NewTask[],
    check?: CheckAnswers,
    note?: StartNote,
  ): Promise<tasks.EnqueueAnswer[]> {
    return this.#intake.enqueue(given, check, note);
  }
  claim(request: tasks.ClaimRequest): Promise<tasks.ClaimedTask[]> {
    return this.#intake.claim(request);
  }
  held(
    pod: PodId,
    after: string,
    countMax: number,
    payloadBytesMax?: number,
  ): Promise<tasks.ClaimedTask[]> {
    return this.#intake.held(pod, after, countMax, payloadBytesMax);
  }
  hasSuspects(routes: readonly string[]): Promise<boolean> {
    return this.#intake.hasSuspects(routes);
  }
  mirror(pod: PodId, runs: readonly tasks.MirroredRun[]): Promise<MirrorAnswer[]> {
    return this.#intake.mirror(pod, runs);
  }

  settle(pod: PodId, settlements: readonly tasks.Settlement[]): Promise<tasks.SettleAnswer[]> {
    return this.#settler.settle(pod, settlements);
  }
  archive(segments: readonly tasks.Flush[]): Promise<tasks.ArchiveAnswer[]> {
    return this.#settler.archive(segments);
  }
  histories(runs: readonly RunName[]): Promise<tasks.Segment[]> {
    return this.#settler.histories(runs);
  }
  mayChange(): Promise<boolean> {
    return this.#people.mayChange();
  }
  outlines(runs: readonly RunName[]): Promise<Outline[]> {
    return this.#settler.outlines(runs);
  }
  recordsIn(part: PartQuery): Promise<string[]> {
    return this.#settler.recordsIn(part);
  }
  heads(runs: readonly RunName[]): Promise<Head[]> {
    return this.#settler.heads(runs);
  }

  worklist(silentMs: number): Promise<Worklist> {
    return this.#pods.worklist(silentMs);
  }
  fence(
    pod: PodId,
    by: PodId,
    because: { readonly silentMs: number } | 'proved',
  ): Promise<boolean> {
    return this.#pods.fence(pod, by, because);
  }
  take(taking: tasks.Taking): Promise<tasks.TakenTask[]> {
    return this.#recovery.take(taking);
  }
  retire(pod: PodId): Promise<boolean> {
    return this.#pods.retire(pod);
  }
  failHopeless(graceMs: number, countMax: number): Promise<tasks.TaskRow[]> {
    return this.#recovery.failHopeless(graceMs, countMax);
  }
  leftovers(...given: Parameters<Store['leftovers']>): Promise<Leftovers> {
    return this.#recovery.leftovers(...given);
  }
  prune(...given: Parameters<Store['prune']>): Promise<number> {
    return this.#recovery.prune(...given);
  }

  find(ids: readonly RunId[]): Promise<tasks.TaskRow[]> {
    return this.#people.find(ids);
  }
  list(filter: tasks.TaskFilter): Promise<tasks.TaskRow[]> {
    return this.#people.list(filter);
  }
  note(note: Note): Promise<boolean> {
    return this.#actor.note(note);
  }

  watch(query: WatchQuery): Promise<Watch> {
    return this.#people.watch(query);
  }

  act(act: Act): Promise<ActAnswer> {
    return this.#actor.act(act);
  }
  beginBulk(given: bulk.NewBulk): Promise<bulk.BulkBegun> {
    return this.#bulks.begin(given);
  }
  takeBulk(given: bulk.BulkTaking): Promise<bulk.BulkRow | undefined> {
    return this.#bulks.take(given);
  }
  saveBulk(given: bulk.BulkSave): Promise<bulk.BulkRow | undefined> {
    return this.#bulks.save(given);
  }
  orderBulk(given: bulk.BulkOrder): Promise<bulk.BulkAnswer> {
    return this.#bulks.order(given);
  }
  queues = () => this.#limits.queues();
  pausedMachines = () => this.#limits.pausedMachines();
  changeFlow = (change: FlowChange) => this.#limits.change(change);
  violations(): Promise<tasks.Violation[]> {
    return findViolations(this.#pool);
  }

  async openReader(given: ReaderOptions = {}): Promise<StoreReader> {
    return openPostgresReader(this.#address, this.#options, given);
  }

  /** Behind a pooler there is nothing to listen on, unless there is a way around it. */
  async listen(onHint: (hint: Hint) => void): Promise<(() => Promise<void>) | undefined> {
    const { isPooled, listenUrl } = this.#pool.way;
    if (isPooled && listenUrl === undefined) return undefined;
    const listener = new Listener(this.#pool.way, {
      ...this.#options,
      onHint,
      notify: (word) => this.#pool.query(notify, [word]),
    });
    if (!(await listener.start())) return undefined;
    this.#listeners.add(listener);
    return async () => {
      this.#listeners.delete(listener);
      await listener.stop();
    };
  }
}

/**
 * The shared tables in Postgres. Almost every call is one statement that commits by itself, so that
 * it holds behind a pooler and on servers that only speak like Postgres; nothing rests on advisory
 * locks, session state, triggers, or the clock of a pod. The parts lie beside this file.
 */
import type { RunId } from '../../ground/index.ts';
import type { Act, Note } from '../acts.ts';
import type * as bulk from '../bulk/bulks.ts';
import { StoreUnreachableError } from '../errors.ts';
import type { FilledStoreOptions } from '../options.ts';
import type { PartQuery } from '../outlines.ts';
import type { Beat, PodBirth } from '../pods.ts';
import type { FlowChange } from '../queues.ts';
import type { ReaderOptions, StoreReader } from '../reader.ts';
import type * as schedule from '../schedule/schedules.ts';
import type { Capabilities, OnHint, Store } from '../store.ts';
import type * as tasks from '../tasks.ts';
import type { ThrottleChange, ThrottleWord } from '../throttles.ts';
import type { WatchQuery } from '../watch.ts';
import type { Claim, PodId } from '../words.ts';
import { PostgresActor } from './act.ts';
import { PostgresBulks } from './bulk.ts';
import { PostgresClaims } from './claims.ts';
import { findViolations } from './doctor.ts';
import { Hinter, notify } from './hinter.ts';
import { PostgresIntake } from './intake.ts';
import { PostgresLimits } from './limits.ts';
import { Listener } from './listener.ts';
import { migrateUp, refuseUnmigrated } from './migrate.ts';
import { readPostgresWay } from './options.ts';
import { PostgresPeople } from './people.ts';
import { PostgresPersisting } from './persisting.ts';
import { PostgresPods } from './pods.ts';
import { Pool, type Row } from './pool.ts';
import { openPostgresReader } from './reader.ts';
import { PostgresRecovery } from './recovery.ts';
import { PostgresSchedules } from './schedules.ts';
import { PostgresSettler } from './settler.ts';
import { PostgresThrottles } from './throttles.ts';
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
  readonly #turns: PostgresTurns;
  readonly #throttles: PostgresThrottles;
  readonly #intake: PostgresIntake;
  readonly #claims: PostgresClaims;
  readonly #settler: PostgresSettler;
  readonly #persisting: PostgresPersisting;
  readonly #recovery: PostgresRecovery;
  readonly #people: PostgresPeople;
  readonly #actor: PostgresActor;
  readonly #bulks: PostgresBulks;
  readonly #limits: PostgresLimits;
  readonly #schedules: PostgresSchedules;
  readonly #listeners = new Set<Listener>();

  constructor(address: string, options: FilledStoreOptions) {
    const { clock, random } = options;
    this.#address = address;
    this.#options = options;
    this.#pool = new Pool(readPostgresWay(address, options), clock, random);
    this.#hinter = new Hinter(this.#pool, clock, random);
    this.#limits = new PostgresLimits(this.#pool, this.#hinter, clock);
    this.#turns = new PostgresTurns(this.#pool, this.#hinter, clock);
    this.#pods = new PostgresPods(this.#pool);
    this.#throttles = new PostgresThrottles(this.#pool);
    this.#intake = new PostgresIntake(this.#pool, this.#hinter, this.#turns);
    this.#claims = new PostgresClaims(this.#pool, this.#turns, this.#limits, clock);
    this.#settler = new PostgresSettler(this.#pool, this.#hinter, this.#turns, this.#limits);
    const tell = (rows: readonly Row[]) => this.#settler.tell(rows);
    this.#persisting = new PostgresPersisting(this.#pool, clock, tell);
    this.#recovery = new PostgresRecovery(this.#pool, this.#hinter, this.#turns);
    this.#people = new PostgresPeople(this.#pool);
    this.#actor = new PostgresActor(this.#pool, this.#hinter, this.#turns);
    this.#bulks = new PostgresBulks(this.#pool, this.#hinter);
    this.#schedules = new PostgresSchedules(this.#pool, this.#hinter);
  }

  async migrate(): Promise<void> {
    await migrateUp(this.#pool);
  }

  checkSchema = () => refuseUnmigrated(this.#pool);

  async close(): Promise<void> {
    this.#hinter.close();
    await Promise.all([...this.#listeners].map((listener) => listener.stop()));
    await this.#pool.close();
  }

  register(birth: PodBirth) {
    return this.#pods.register(birth);
  }
  async beat(beat: Beat) {
    const answer = await this.#pods.beat(beat);
    if (answer.kind !== 'taken') return answer;
    for (const each of [this.#turns, this.#claims]) each.sharedBy(answer.headcount.up);
    return answer;
  }
  markDraining(pod: PodId) {
    return this.#pods.markDraining(pod);
  }
  beginTerm(pod: PodId, term: number) {
    return this.#pods.beginTerm(pod, term);
  }
  requestDrain(pod: PodId) {
    return this.#pods.requestDrain(pod);
  }
  pods() {
    return this.#pods.pods();
  }
  publishThrottles = (words: readonly ThrottleWord[]) => this.#throttles.publish(words);
  throttles = () => this.#throttles.rows();
  changeThrottle = (change: ThrottleChange) => this.#throttles.change(change);
  announce(given: readonly tasks.Announcement[]) {
    return this.#pods.announce(given);
  }
  abandoned(machines: readonly string[]) {
    return this.#pods.abandoned(machines);
  }
  known() {
    return this.#pods.known();
  }
  inFlight(routes?: readonly string[]) {
    return this.#people.inFlight(routes);
  }

  census(countMax: number, silentMs: number) {
    return this.#people.census(countMax, silentMs);
  }

  enqueue(...of: Parameters<Store['enqueue']>) {
    return this.#intake.enqueue(...of);
  }
  claim(request: tasks.ClaimRequest) {
    return this.#claims.claim(request);
  }
  async held(
    pod: PodId,
    after: string,
    countMax: number,
    payloadBytesMax?: number,
    timeline?: string,
  ): Promise<tasks.ClaimedTask[]> {
    const found = await this.#claims.held(pod, after, countMax, payloadBytesMax);
    await this.#settler.checkTimeline(timeline);
    return found;
  }
  hasSuspects(routes: readonly string[]) {
    return this.#claims.hasSuspects(routes);
  }
  mirror(pod: PodId, runs: readonly tasks.MirroredRun[]) {
    return this.#claims.mirror(pod, runs);
  }

  settle(...given: Parameters<Store['settle']>): Promise<tasks.SettleAnswer[]> {
    return this.#settler.settle(...given);
  }
  begin = () => this.#persisting.begin();
  settled = (...given: Parameters<Store['settled']>) => this.#persisting.settled(...given);
  archive(...given: Parameters<Store['archive']>) {
    return this.#settler.archive(...given);
  }
  histories(runs: readonly RunName[]) {
    return this.#settler.histories(runs);
  }
  mayChange() {
    return this.#people.mayChange();
  }
  outlines(runs: readonly RunName[]) {
    return this.#settler.outlines(runs);
  }
  recordsIn(part: PartQuery) {
    return this.#settler.recordsIn(part);
  }
  heads(runs: readonly RunName[]) {
    return this.#settler.heads(runs);
  }

  worklist(silentMs: number) {
    return this.#pods.worklist(silentMs);
  }
  fence(
    pod: PodId,
    by: PodId,
    because: { readonly silentMs: number } | 'proved',
  ): Promise<boolean> {
    return this.#pods.fence(pod, by, because);
  }
  take(taking: tasks.Taking) {
    return this.#recovery.take(taking);
  }
  restore = (pod: PodId, claims: readonly Claim[]) => this.#recovery.restore(pod, claims);
  follow = (timeline: string) => this.#pool.follow(timeline);
  retire(pod: PodId) {
    return this.#pods.retire(pod);
  }
  failHopeless(graceMs: number, countMax: number): Promise<tasks.TaskRow[]> {
    return this.#recovery.failHopeless(graceMs, countMax);
  }
  hasHopeless(graceMs: number) {
    return this.#recovery.hasHopeless(graceMs);
  }
  hasOld(...given: Parameters<Store['hasOld']>) {
    return this.#recovery.hasOld(...given);
  }
  prune(...given: Parameters<Store['prune']>) {
    return this.#recovery.prune(...given);
  }

  find(ids: readonly RunId[]) {
    return this.#people.find(ids);
  }
  list(filter: tasks.TaskFilter) {
    return this.#people.list(filter);
  }
  note(note: Note) {
    return this.#actor.note(note);
  }

  watch(query: WatchQuery) {
    return this.#people.watch(query);
  }

  act(act: Act) {
    return this.#actor.act(act);
  }
  beginBulk(given: bulk.NewBulk) {
    return this.#bulks.begin(given);
  }
  takeBulk(given: bulk.BulkTaking) {
    return this.#bulks.take(given);
  }
  saveBulk(given: bulk.BulkSave) {
    return this.#bulks.save(given);
  }
  orderBulk(given: bulk.BulkOrder) {
    return this.#bulks.order(given);
  }
  queues = () => this.#limits.queues();
  pausedMachines = () => this.#limits.pausedMachines();
  changeFlow = (change: FlowChange) => this.#limits.change(change);
  changeSchedule = (given: schedule.ScheduleChange) => this.#schedules.change(given);
  dueSchedules = (machines: readonly string[], countMax: number) =>
    this.#schedules.due(machines, countMax);
  tickSchedule = (given: schedule.Ticking) => this.#schedules.tick(given);
  violations = () => findViolations(this.#pool);

  async openReader(given: ReaderOptions = {}): Promise<StoreReader> {
    return openPostgresReader(this.#address, this.#options, given);
  }

  /** Behind a pooler there is nothing to listen on, unless there is a way around it. */
  async listen(onHint: OnHint): Promise<(() => Promise<void>) | undefined> {
    const { isPooled, listenUrl } = this.#pool.way;
    if (isPooled && listenUrl === undefined) return undefined;
    const listener = new Listener(this.#pool.way, {
      ...this.#options,
      hosts: this.#pool.hosts,
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

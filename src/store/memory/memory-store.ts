/**
 * A handle on tables in memory. Every call is one synchronous step, so it is atomic and its answer
 * depends on nothing but what came before: this is the store of the deterministic simulation.
 * `way` is what lies between a pod and a server: it may hold a call back, lose it, or lose its answer.
 */

import type { RunId } from '../../ground/index.ts';
import type { Act, Note, StartNote } from '../acts.ts';
import type { BulkOrder, BulkSave, BulkTaking, NewBulk } from '../bulk/bulks.ts';
import { type CallerTx, noTransactions } from '../caller-tx.ts';
import { StoreUnreachableError } from '../errors.ts';
import type { PartQuery } from '../outlines.ts';
import type { Beat, PodBirth } from '../pods.ts';
import type { FlowChange } from '../queues.ts';
import type { ReaderOptions } from '../reader.ts';
import type { ScheduleChange, Ticking } from '../schedule/schedules.ts';
import type { Capabilities, CheckAnswers, OnHint, Store } from '../store.ts';
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
import type { Claim, PodId } from '../words.ts';
import { act, note } from './act.ts';
import { archive, heads, histories, outlines, recordsIn } from './archive.ts';
import * as bulk from './bulk.ts';
import { census } from './census.ts';
import { find, list } from './changes.ts';
import { claim, enqueue, hasSuspects, held, mirror } from './claims.ts';
import { changeFlow, pausedMachines, queues } from './flow.ts';
import {
  abandoned,
  announce,
  beat,
  beginTerm,
  fence,
  known,
  markDraining,
  pods,
  register,
  requestDrain,
  retire,
  worklist,
} from './pods.ts';
import { openMemoryReader } from './reader.ts';
import { restore } from './restore.ts';
import { failHopeless, hasHopeless, hasOld, prune } from './retention.ts';
import { violations } from './rules.ts';
import * as schedules from './schedules.ts';
import { settle } from './settle.ts';
import type { MemoryTables } from './tables.ts';
import { take } from './take.ts';
import { inFlight } from './tallies.ts';
import { changeThrottle, publishThrottles, throttles } from './throttles.ts';
import { giveTurns, withTurns } from './turns.ts';
import { watch } from './watch.ts';

/** Carries out `act`, the call of this name, once, more than once or never; answers or throws. */
export type Way = <Answer>(verb: keyof Store, act: () => Answer) => Promise<Answer>;

const straight: Way = async (_verb, act) => act();

export class MemoryStore implements Store {
  readonly capabilities: Capabilities = {
    kind: 'memory',
    heartbeatMs: 3_000,
    silentMs: 15_000,
    idlePollMs: 1_000,
  };
  readonly #tables: MemoryTables;
  readonly #way: Way;
  #isClosed = false;

  constructor(tables: MemoryTables, options: { readonly way?: Way | undefined } = {}) {
    this.#tables = tables;
    this.#way = options.way ?? straight;
  }

  async #ask<Answer>(verb: keyof Store, call: (tables: MemoryTables) => Answer): Promise<Answer> {
    if (this.#isClosed) throw new StoreUnreachableError('the store has been closed');
    return this.#way(verb, () => call(this.#tables));
  }

  checkSchema = () => this.#ask('checkSchema', () => undefined);

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  register = (birth: PodBirth) => this.#ask('register', (tables) => register(tables, birth));
  beat = (given: Beat) => this.#ask('beat', (tables) => beat(tables, given));
  markDraining = (pod: PodId) => this.#ask('markDraining', (tables) => markDraining(tables, pod));
  beginTerm = (pod: PodId, term: number) =>
    this.#ask('beginTerm', (tables) => beginTerm(tables, pod, term));
  requestDrain = (pod: PodId) => this.#ask('requestDrain', (tables) => requestDrain(tables, pod));
  pods = () => this.#ask('pods', (tables) => pods(tables));
  publishThrottles = (words: readonly ThrottleWord[]) =>
    this.#ask('publishThrottles', (tables) => publishThrottles(tables, words));
  throttles = () => this.#ask('throttles', (tables) => throttles(tables));
  changeThrottle = (change: ThrottleChange) =>
    this.#ask('changeThrottle', (tables) => changeThrottle(tables, change));
  announce = (routes: readonly Announcement[]) =>
    this.#ask('announce', (tables) => announce(tables, routes));
  abandoned = (machines: readonly string[]) =>
    this.#ask('abandoned', (tables) => abandoned(tables, machines));
  known = () => this.#ask('known', (tables) => known(tables));
  inFlight = (routes?: readonly string[]) =>
    this.#ask('inFlight', (tables) => inFlight(tables, routes));
  census = (countMax: number, silentMs: number) =>
    this.#ask('census', (tables) => census(tables, countMax, silentMs));

  enqueue = (tasks: readonly NewTask[], check?: CheckAnswers, note?: StartNote, tx?: CallerTx) =>
    this.#ask('enqueue', (tables) => {
      if (tx) throw noTransactions();
      return withTurns(tables, () => enqueue(tables, tasks, check, note));
    });
  claim = (request: ClaimRequest) =>
    this.#ask('claim', (tables) => {
      giveTurns(tables);
      return claim(tables, request);
    });
  held = (pod: PodId, after: string, countMax: number, bytesMax?: number, timeline?: string) =>
    this.#ask('held', (tables) => {
      tables.checkTimeline(timeline);
      return held(tables, pod, after, countMax, bytesMax);
    });
  hasSuspects = (routes: readonly string[]) =>
    this.#ask('hasSuspects', (tables) => hasSuspects(tables, routes));

  begin = () => Promise.reject(noTransactions());
  settled = () => Promise.reject(noTransactions());
  settle = (pod: PodId, settlements: readonly Settlement[], timeline?: string) =>
    this.#ask('settle', (tables) => {
      tables.checkTimeline(timeline);
      return withTurns(tables, () => settle(tables, pod, settlements));
    });
  archive = (segments: readonly Flush[], timeline?: string) =>
    this.#ask('archive', (tables) => {
      tables.checkTimeline(timeline);
      return archive(tables, segments);
    });
  histories = (runs: readonly { readonly task: RunId; readonly generation: number }[]) =>
    this.#ask('histories', (tables) => histories(tables, runs));
  mayChange = async () => true;
  outlines = (runs: readonly { readonly task: RunId; readonly generation: number }[]) =>
    this.#ask('outlines', (tables) => outlines(tables, runs));
  recordsIn = (part: PartQuery) => this.#ask('recordsIn', (tables) => recordsIn(tables, part));
  heads = (runs: readonly { readonly task: RunId; readonly generation: number }[]) =>
    this.#ask('heads', (tables) => heads(tables, runs));
  restore = (pod: PodId, claims: readonly Claim[]) =>
    this.#ask('restore', (tables) => restore(tables, pod, claims));
  follow = async () => undefined;
  mirror = (pod: PodId, runs: readonly MirroredRun[]) =>
    this.#ask('mirror', (tables) => mirror(tables, pod, runs));

  worklist = (silentMs: number) => this.#ask('worklist', (tables) => worklist(tables, silentMs));
  fence = (pod: PodId, by: PodId, because: { readonly silentMs: number } | 'proved') =>
    this.#ask('fence', (tables) => fence(tables, pod, by, because));
  take = (taking: Taking) =>
    this.#ask('take', (tables) => withTurns(tables, () => take(tables, taking)));
  retire = (pod: PodId) => this.#ask('retire', (tables) => retire(tables, pod));
  failHopeless = (graceMs: number, countMax: number) =>
    this.#ask('failHopeless', (tables) =>
      withTurns(tables, () => failHopeless(tables, graceMs, countMax)),
    );
  hasHopeless = (graceMs: number) =>
    this.#ask('hasHopeless', (tables) => hasHopeless(tables, graceMs));
  hasOld = (...given: Parameters<Store['hasOld']>) =>
    this.#ask('hasOld', (tables) => hasOld(tables, ...given));
  prune = (...given: Parameters<Store['prune']>) =>
    this.#ask('prune', (tables) => prune(tables, ...given));

  find = (ids: readonly RunId[]) => this.#ask('find', (tables) => find(tables, ids));
  list = (filter: TaskFilter) => this.#ask('list', (tables) => list(tables, filter));
  note = (given: Note) => this.#ask('note', (tables) => note(tables, given));
  act = (given: Act) => this.#ask('act', (tables) => withTurns(tables, () => act(tables, given)));
  beginBulk = (given: NewBulk) => this.#ask('beginBulk', (tables) => bulk.beginBulk(tables, given));
  takeBulk = (given: BulkTaking) => this.#ask('takeBulk', (tables) => bulk.takeBulk(tables, given));
  saveBulk = (given: BulkSave) => this.#ask('saveBulk', (tables) => bulk.saveBulk(tables, given));
  orderBulk = (given: BulkOrder) =>
    this.#ask('orderBulk', (tables) => bulk.orderBulk(tables, given));
  queues = () => this.#ask('queues', queues);
  pausedMachines = () => this.#ask('pausedMachines', pausedMachines);
  changeFlow = (change: FlowChange) =>
    this.#ask('changeFlow', (tables) => changeFlow(tables, change));
  changeSchedule = (given: ScheduleChange) =>
    this.#ask('changeSchedule', (tables) => schedules.changeSchedule(tables, given));
  dueSchedules = (machines: readonly string[], countMax: number) =>
    this.#ask('dueSchedules', (tables) => schedules.dueSchedules(tables, machines, countMax));
  tickSchedule = (given: Ticking) =>
    this.#ask('tickSchedule', (tables) => schedules.tickSchedule(tables, given));
  watch = (query: WatchQuery) => this.#ask('watch', (tables) => watch(tables, query));
  violations = () => this.#ask('violations', (tables) => violations(tables));

  openReader = (options: ReaderOptions = {}) =>
    this.#ask('openReader', (tables) => openMemoryReader(tables, options));

  listen = (onHint: OnHint) =>
    this.#ask('listen', (tables) => {
      const stop = tables.listen(onHint);
      return async () => stop();
    });
}

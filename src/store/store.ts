/**
 * The shared tables as one pod sees them. Every adapter passes test/store/conformance.ts.
 *
 * Everything is a compare-and-set: a call that lost its answer may be sent again, and one that comes
 * too late changes nothing. What a pod writes about a task stands only while its claim does
 * (task, generation, epoch, owner, status 'claimed'); claims are given only to pods that are `up`,
 * and kept only by pods that are `up` or `draining`. Time is the store's own.
 */
import type { RunId } from '../ground/index.ts';
import type { Act, ActAnswer, Note, StartNote } from './acts.ts';
import type {
  BulkAnswer,
  BulkBegun,
  BulkOrder,
  BulkRow,
  BulkSave,
  BulkTaking,
  NewBulk,
} from './bulk/bulks.ts';
import type { CallerTx } from './caller-tx.ts';
import type { Capabilities } from './capabilities.ts';
import type { Census } from './census.ts';
import type { Notice } from './notice.ts';
import type { HistoryParts } from './outlines.ts';
import type { DoubtAnswer, Persisted, StoreTransaction } from './persisting.ts';
import type { Beat, BeatAnswer, JournalSeen, PodBirth, PodRow, Pruned, Worklist } from './pods.ts';
import type { FlowAnswer, FlowChange, PausedMachine, QueueRow } from './queues.ts';
import type { ReaderOptions, StoreReader } from './reader.ts';
import type { Resting } from './rest.ts';
import type {
  DueSchedules,
  ScheduleAnswer,
  ScheduleChange,
  Ticked,
  Ticking,
} from './schedule/schedules.ts';
import type {
  Announcement,
  ArchiveAnswer,
  ClaimedTask,
  ClaimRequest,
  EnqueueAnswer,
  Flush,
  KnownRoute,
  MirroredRun,
  NewTask,
  RouteTally,
  Segment,
  SettleAnswer,
  Settlement,
  TakenTask,
  Taking,
  TaskFilter,
  TaskRow,
  Violation,
} from './tasks.ts';
import type { ThrottleAnswer, ThrottleChange, ThrottleRow, ThrottleWord } from './throttles.ts';
import type { Watch, WatchQuery } from './watch.ts';
import type { Claim, PodId } from './words.ts';

export type { Capabilities, Lack } from './capabilities.ts';

/** Something may be ready to claim, or has ended: a hint to look now, never the only way to know. */
export type Hint = 'ready' | 'ended';
/** `notice`: which pods look, and when; every one of them at once where it is left out. */
export type OnHint = (hint: Hint, notice?: Notice) => void;

export interface Store extends HistoryParts, Partial<Resting> {
  readonly capabilities: Capabilities;

  /** Refuses a schema that is missing, too old or too new, saying what to do. */
  checkSchema(): Promise<void>;
  close(): Promise<void>;
  /** Whether whoever this store was opened as may change tasks, and not only look at them. */
  mayChange(): Promise<boolean>;

  // Pods

  /**
   * Makes the pod known, `up`. Answers what was known of its journal before. Tasks that wait for one of
   * its routes are due at once.
   */
  register(birth: PodBirth): Promise<JournalSeen>;
  /** One statement. Taken only if `seq` is the last one and the pod is up or draining. */
  beat(beat: Beat): Promise<BeatAnswer>;
  /** up → draining: no claim commits any more. False where it was not up. */
  markDraining(pod: PodId): Promise<boolean>;
  /** Remembers that the pod begins to lead, for people. Told again, `term` is the same one. */
  beginTerm(pod: PodId, term: number): Promise<void>;
  /** Asks a pod to drain; its next heartbeat tells it. False where it is not up. */
  requestDrain(pod: PodId): Promise<boolean>;
  pods(): Promise<PodRow[]>;
  /** Writes what a leader has found out about APIs: each only where its row has the epoch that was seen. */
  publishThrottles(words: readonly ThrottleWord[]): Promise<void>;
  /** What is known of APIs, in the order of their names. */
  throttles(): Promise<ThrottleRow[]>;
  /** What a person decides of one, with its row in the audit log. */
  changeThrottle(change: ThrottleChange): Promise<ThrottleAnswer>;
  /**
   * Remembers which routes the fleet has ever had, as they were announced first. Answers those that
   * were announced with another fingerprint then.
   */
  announce(routes: readonly Announcement[]): Promise<Announcement[]>;

  /** Routes of these machines that the fleet has had, and that no pod which is up has now. */
  abandoned(machines: readonly string[]): Promise<string[]>;
  /** Every route the fleet has ever had, as it was announced first, in the order of routes. */
  known(): Promise<KnownRoute[]>;
  /**
   * What has not ended, by route, in the order of routes; none where there is nothing. With `routes`
   * only what pods that have them could claim now or later, and at the cost of that.
   */
  inFlight(routes?: readonly string[]): Promise<RouteTally[]>;
  /**
   * How much there is of everything, each figure up to `countMax` and at no more than its cost: for
   * metrics. A pod that gave no silence is orphaning its tasks after `silentMs`.
   */
  census(countMax: number, silentMs: number): Promise<Census>;

  // Tasks in

  /**
   * All or nothing. A key, or an id, that is there already gives the task that has it: `check` sees
   * such answers before anything is committed, and what it throws takes all of them back. `note` is
   * put into the audit log with the first of them. With `tx` they are part of the caller's
   * transaction: there once it commits.
   */
  enqueue(
    tasks: readonly NewTask[],
    check?: CheckAnswers,
    note?: StartNote,
    tx?: CallerTx,
  ): Promise<EnqueueAnswer[]>;
  /** Takes due tasks for the pod, the most urgent first; nothing if the pod is not up. */
  claim(request: ClaimRequest): Promise<ClaimedTask[]>;
  /**
   * What the pod holds, in the order of ids: for finding claims whose answer was lost. A server of another
   * timeline than the one named knows nothing of them, nor that they have ended, and says so.
   */
  held(
    ...asked: [pod: PodId, after: string, countMax: number, bytesMax?: number, timeline?: string]
  ): Promise<ClaimedTask[]>;

  /** Whether a task of these routes that has outlived two owners is due. */
  hasSuspects(routes: readonly string[]): Promise<boolean>;

  // Tasks out

  /**
   * Ends, parks and releases in one statement, each with the rest of its history. `timeline`: of the
   * server that it is meant for, as its heartbeats were answered; another one is busy. So for the next.
   */
  settle(
    pod: PodId,
    settlements: readonly Settlement[],
    timeline?: string,
  ): Promise<SettleAnswer[]>;
  /** A transaction in which a step persists; its author's statements, then what becomes of the task. */
  begin(): Promise<StoreTransaction>;
  /** What became of a commit whose answer was lost. Waits until it cannot happen any more. */
  settled(pod: PodId, persisted: Persisted, timeline?: string): Promise<DoubtAnswer>;
  /**
   * Writes history, idempotently; a longer segment of the same beginning replaces the shorter. A task
   * comes under the version of its flush with it, unless somebody has its row locked just then.
   */
  archive(segments: readonly Flush[], timeline?: string): Promise<ArchiveAnswer[]>;
  /** Every segment of these runs, by (task, epoch, firstSeq). */
  histories(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]>;
  /** The furthest record the store has of each of these runs; nothing for those it has none of. */
  heads(runs: readonly { readonly task: RunId; readonly generation: number }[]): Promise<Head[]>;
  /** Shows runs of this host to the fleet, claimed by the pod and pinned to its journal. */
  mirror(pod: PodId, runs: readonly MirroredRun[]): Promise<MirrorAnswer[]>;

  // Failover, where another server may take over and have lost what the one before had said

  /**
   * Gives a pod claims back that it was given, where nobody has had the tasks since; under the same
   * epochs. Answers the tasks that are its own now.
   */
  restore?(pod: PodId, claims: readonly Claim[]): Promise<RunId[]>;
  /** A server of this timeline has answered: one of an earlier timeline is asked no more. */
  follow?(timeline: string): Promise<void>;

  // Recovery

  /** Every pod is judged by the silence it registered with; by `silentMs` where it gave none. */
  worklist(silentMs: number): Promise<Worklist>;
  /**
   * up or draining → dead. `silentMs`: only if it has been silent for too long, by its own silence or,
   * where it gave none, for so long; looked at under the row's lock. 'proved': its journal is ours, or
   * it is ourselves. Never waits for a lock: a row that is locked is left to the next sweep where it
   * is silent, and is busy where its death is proved.
   */
  fence(pod: PodId, by: PodId, because: { readonly silentMs: number } | 'proved'): Promise<boolean>;
  /** Moves a batch of a dead pod's tasks. Empty where none is left, or where the pod is not dead. */
  take(taking: Taking): Promise<TakenTask[]>;
  /** dead → down, if nothing is claimed by it any more. True where it is down. */
  retire(pod: PodId): Promise<boolean>;
  /**
   * Fails tasks of machines no pod has ever had, with ids of no known form, or past their deadline:
   * at once where no live pod could end them, and by `graceMs` later whoever could.
   */
  failHopeless(graceMs: number, countMax: number): Promise<TaskRow[]>;
  /** Whether `failHopeless` would fail anything. */
  hasHopeless(graceMs: number): Promise<boolean>;
  /** Whether `prune` would remove anything. It may be wrong where a thousand older rows have to stay. */
  hasOld(finishedBeforeMs: number, auditedBeforeMs?: number): Promise<boolean>;
  /**
   * Removes ended tasks older than this, their events first, and pods long down; frees keys that have
   * expired; and removes rows of the audit log, where it is given how old. Up to `countMax` of each.
   */
  prune(finishedBeforeMs: number, countMax: number, auditedBeforeMs?: number): Promise<Pruned>;

  // People

  find(ids: readonly RunId[]): Promise<TaskRow[]>;
  list(filter: TaskFilter): Promise<TaskRow[]>;
  /** What has changed, and the tasks that somebody follows: one question for all who look on. */
  watch(query: WatchQuery): Promise<Watch>;
  /**
   * What a person changes, in one transaction with its row in the audit log: once for each request id,
   * and only to the task as it was seen. Whoever lost the answer sends it again.
   */
  act(act: Act): Promise<ActAnswer>;
  /**
   * A row of the audit log for what is no change of a task; once for each request id. Answers whether it
   * was there already; refused where the id stands for something else.
   */
  note(note: Note): Promise<boolean>;
  /**
   * Begins a bulk operation, in one transaction with its first shift and its row in the audit log: once
   * for each request id.
   */
  beginBulk(bulk: NewBulk): Promise<BulkBegun>;
  /**
   * A shift begins, or goes on with it: what it saves names the epoch that the row has from now on.
   * Undefined where nothing is left to do for this run: the operation is over or paused, or another run,
   * or a later owner of this one, is at it.
   */
  takeBulk(taking: BulkTaking): Promise<BulkRow | undefined>;
  /** Undefined where another is at it by now; then nothing was written. */
  saveBulk(save: BulkSave): Promise<BulkRow | undefined>;
  /** What people want to become of it, with its row in the audit log: once for each request id. */
  orderBulk(order: BulkOrder): Promise<BulkAnswer>;
  /** Every queue that has open tasks, a limit, or is paused: at the cost of what is open. */
  queues(): Promise<QueueRow[]>;
  pausedMachines(): Promise<PausedMachine[]>;
  /**
   * A limit of a queue, or that a queue or a machine stands still, with its row in the audit log: once
   * for each request id. Whatever is claimed stays so; claims that begin after this see it.
   */
  changeFlow(change: FlowChange): Promise<FlowAnswer>;
  // Schedules

  /**
   * What people or code want of a schedule, in one transaction with its row in the audit log: once for
   * each request id.
   */
  changeSchedule(change: ScheduleChange): Promise<ScheduleAnswer>;
  /** Schedules of these machines that are due by the store's clock. */
  dueSchedules(machines: readonly string[], countMax: number): Promise<DueSchedules>;
  /**
   * Puts the tasks of a schedule's ticks in and moves it on to the next, all or nothing; nothing where it
   * is not as it was seen.
   */
  tickSchedule(ticking: Ticking): Promise<Ticked>;
  /** The rules of the tables, as queries; empty where all of them hold. */
  violations(): Promise<Violation[]>;

  /** Connections of their own, few, for what people ask; whoever opens it closes it. */
  openReader(options?: ReaderOptions): Promise<StoreReader>;
  /** Listens for hints; undefined where this store, or the way to it, cannot give them. */
  listen(onHint: OnHint): Promise<(() => Promise<void>) | undefined>;
}

/** May be called again, where the store has to begin again. */
export type CheckAnswers = (answers: readonly EnqueueAnswer[]) => void;

/** How far the store has a run: what its last epoch reaches, in whichever segment. */
export interface Head extends Claim {
  readonly lastSeq: number;
  readonly lastHash: string;
}

/** `foreign`: another owner has a task of that id; it is not touched. */
export type MirrorAnswer =
  | (Claim & { readonly kind: 'held' })
  | { readonly task: RunId; readonly kind: 'foreign' };

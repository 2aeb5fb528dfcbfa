/** What happens between a pod, its fleet and the store. */
import type { ErrorInfo, RunId } from '../ground/index.ts';
import type { OfRun, RescuedTask, StoreFailure, TouchedTask } from './event-parts.ts';

export interface FleetEvents {
  /** That pod had this journal, and was not heard since: this process waits until it was swept. */
  'pod.awaited': { readonly journal: string; readonly pod: string; readonly name: string };
  /** By this process. */
  'task.enqueued': { readonly machine: string; readonly version: number; readonly count: number };
  'task.claimed': OfRun & {
    readonly epoch: number;
    readonly records: number;
    /** How long it had been due, by the store's clock. */
    readonly waitedMs: number | undefined;
  };
  /** A row that made no sense: it is a dead letter now. */
  /** This pod failed to go on with a run, for a reason that is not the run's. */
  'run.faulted': { readonly run: RunId; readonly machine: string; readonly reason: string };
  'task.refused': { readonly run: RunId; readonly machine: string; readonly reason: string };
  /** Somebody has paused it: nobody goes on with it until it is resumed. */
  'task.paused': {
    readonly run: RunId;
    /** Its owner was asked to, and has given it back; else it was nobody's. */
    readonly isAsked: boolean;
    readonly who?: string | undefined;
  };
  'task.resumed': { readonly run: RunId; readonly who: string };
  /** No version that is here goes on with the task: it is left to pods that have one which does. */
  'task.blocked': { readonly run: RunId; readonly reason: string };
  /** It has failed without a run: its owners died too often, or nobody could ever run it. */
  'task.failed': { readonly run: RunId; readonly machine: string; readonly outcome: string };
  'task.settled': {
    readonly run: RunId;
    readonly generation: number;
    readonly epoch: number;
    readonly to: string;
  };
  /** Somebody else has the task: what this process did with it since counts for nothing. */
  'claim.lost': {
    readonly run: RunId;
    readonly generation: number;
    readonly epoch: number;
    readonly what: string;
  };
  /** Ticks of a schedule were put in, as so many tasks. */
  'schedule.ticked': {
    readonly schedule: string;
    readonly machine: string;
    readonly count: number;
  };
  /** Ticks of a schedule were left out, since the run before has not ended. */
  'schedule.skipped': {
    readonly schedule: string;
    readonly machine: string;
    readonly count: number;
    readonly run: string | undefined;
  };
  /** A schedule could not do what it says: its ticks were left out, or its declaration is. */
  'schedule.troubled': { readonly schedule: string; readonly reason: string };
  'claim.answered': { readonly asked: number; readonly got: number; readonly elapsedMs: number };
  /** Nothing was there, or the store failed: the next look waits. */
  'claim.backedOff': { readonly waitMs: number };
  /** One statement, whatever came of each of its settlements. */
  'settle.answered': { readonly tasks: number; readonly elapsedMs: number };
  'archive.flushed': {
    readonly runs: number;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** Any call of the store by this process but its heartbeats; `failure` where it threw. */
  'store.answered': {
    readonly call: string;
    readonly elapsedMs: number;
    readonly failure: StoreFailure | undefined;
  };
  'store.failed': { readonly what: string; readonly error: ErrorInfo };
  /** It went on without the store, and another pod had it by then: what came of it counts for nothing. */
  'run.superseded': { readonly run: RunId; readonly generation: number; readonly epoch: number };
  /** Another server of the database has taken over. */
  'store.failedOver': { readonly from: string; readonly to: string };
  /** Another server of it has not all that the one before had said: what this pod found, in tasks. */
  'store.rewound': {
    readonly pod: string;
    /** Acknowledged, and not there. */
    readonly enqueuesLost: number;
    /** Acknowledged, and not there, nor could they be written again: the task is gone, or runs again. */
    readonly outcomesLost: number;
    /** Another pod has had the task since. */
    readonly outcomesOvertaken: number;
    readonly outcomesWritten: number;
    readonly claimsRestored: number;
    readonly recordsWritten: number;
    /** The first of them. */
    readonly tasks: readonly RunId[];
  };
  'pod.registered': {
    readonly pod: string;
    readonly name: string;
    readonly journal: string;
    readonly boot: number;
  };
  /** Times are by the monotonic clock of this process. */
  'pod.beat': {
    readonly pod: string;
    readonly result: 'taken' | 'refused' | 'failed';
    readonly sentMs: number;
    readonly heardMs: number;
    /** Until when phases of claimed runs may begin by this answer; undefined where it gives no time. */
    readonly deadlineMs: number | undefined;
    readonly failure: StoreFailure | undefined;
  };
  'pod.adopted': {
    readonly pod: string;
    readonly pods: number;
    readonly runs: number;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** A recovery has given these tasks another status: back to the fleet, or a dead letter. */
  'tasks.rescued': { readonly tasks: readonly RescuedTask[] };
  /** The pod has told the store all it will tell; `tasks` are those it had in hand when it began to. */
  'pod.drained': {
    readonly pod: string;
    readonly elapsedMs: number;
    readonly tasks: readonly TouchedTask[];
  };
  /** The deadline has passed without an answer: no phase of a claimed run begins. */
  'pod.alone': { readonly pod: string; readonly run: RunId };
  /** It has nothing to do and beats no more, until there is work, or something is due. */
  'pod.rested': { readonly pod: string; readonly wakeInMs: number | undefined };
  'pod.woke': { readonly pod: string };
  'pod.died': { readonly pod: string; readonly why: string };
  /** This pod has declared another one dead, which was last heard of so long ago by the store's clock. */
  'pod.fenced': { readonly pod: string; readonly by: string; readonly silentMs: number };
  /** This pod has taken tasks of a pod that is no more, and given them back to the fleet. */
  'sweep.took': {
    readonly pod: string;
    readonly by: string;
    readonly why: 'silent' | 'dead' | 'gone' | 'left';
    readonly runs: readonly RunId[];
  };
  /** A defect of FleetQ itself: what it did for one run, or one answer, came to nothing. */
  'pod.faulted': { readonly pod: string; readonly what: string; readonly error: ErrorInfo };
  /** A process of its own was started for tasks that have outlived two owners. */
  'suspects.started': Record<string, never>;
  /** That process could not be started; another is tried. */
  'suspects.failed': { readonly error: ErrorInfo };
  /** Such tasks are due, and this program cannot start a process that has its machines. */
  'suspects.unattended': Record<string, never>;
  'leader.changed': {
    readonly pod: string;
    readonly isLeader: boolean;
    readonly leader: string | undefined;
  };
  /** More than half of the fleet is missing: that is an outage, and counts as nobody's crash. */
  'fleet.outage': { readonly missing: number; readonly pods: number };
  'recovery.failed': { readonly chore: string; readonly error: ErrorInfo };
  /** Nobody takes the spans of this process; said once, until somebody does again. */
  'traces.failed': { readonly error: ErrorInfo };
  'pod.draining': { readonly pod: string; readonly budgetMs: number };
}

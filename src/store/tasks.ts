/** Tasks on their way in, in hand, and on their way out. Payloads are JSON text, as they are stored. */

import type { FleetqError, RunId } from '../ground/index.ts';
import type { Follows } from './follow.ts';
import type { Behind } from './shares.ts';
import type { Claim, EndStatus, Interruption, PodId, TaskStatus, WaitFor } from './words.ts';

export type { TakenTask, Taking } from './taking.ts';

/** When something is due: after a time by the store's clock, or at an instant a person named. */
export type Due = { readonly afterMs: number } | { readonly at: number };

export interface NewTask {
  readonly id: RunId;
  readonly machine: string;
  readonly version: number;
  readonly queue: string;
  /** Higher goes first. */
  readonly priority: number;
  readonly due: Due | undefined;
  readonly payload: string;
  /** Two tasks of one machine with one key are one task, while the key lives. */
  readonly key: string | undefined;
  /** How long the key goes on to stand for the task once it has ended. */
  readonly keyMs: number;
  /** An extra cap on settled failures by whoever enqueued it. */
  readonly retriesMax: number | undefined;
  /** The whole run must have ended this long after it was enqueued, or is due. */
  readonly deadlineMs: number | undefined;
  readonly traceParent: string | undefined;
  /** Tasks of one queue with one serial key run one after the other, in the order they are due. */
  readonly serialKey?: string | undefined;
  /** It waits until that run has ended; it has no serial key then, and no due time. */
  readonly follows?: Follows | undefined;
}

export interface EnqueueAnswer {
  /** The task that stands for it: its own id, or that of the one that had the key before. */
  readonly id: RunId;
  readonly isNew: boolean;
  readonly status: TaskStatus;
  /** What the task that stands for it was given; the caller compares. */
  readonly payload: string;
}

export interface ClaimRequest {
  readonly pod: PodId;
  /** A pod does not claim what it cannot run. */
  readonly routes: readonly string[];
  readonly countMax: number;
  /** Names this attempt, so that one whose answer was lost can be found again. */
  readonly token: string;
  /** Tasks pinned to a journal go to that journal only. */
  readonly journal: string;
  /** Suspects are claimed by processes of their own, and by nobody else. */
  readonly head: 'ready' | 'suspect';
  /** A larger one is not handed over; its size is told instead. */
  readonly payloadBytesMax?: number | undefined;
  /** Of the server that it is meant for; another one gives nothing. */
  readonly timeline?: string | undefined;
  /** Where the last claims ended: see `shares.ts`. */
  readonly behind?: Behind;
  /** Another pod was called for it first: mostly there is nothing, which costs as little as it can. */
  readonly isReserve?: boolean | undefined;
}

/** A task as its owner gets it. */
export interface ClaimedTask extends Claim {
  readonly machine: string;
  readonly version: number;
  readonly queue: string;
  readonly priority: number;
  /** It was claimed for the room in its queue; the round of the other queues goes on without it. */
  readonly isLimited?: true | undefined;
  /** May be any text, or missing, where the row came by a plain INSERT. */
  readonly payload: string | undefined;
  /** What the payload would have had, where it was too large to be handed over. */
  readonly oversizeBytes?: number | undefined;
  /** Why the payload could not be opened here; it is missing then. */
  readonly unopened?: FleetqError | undefined;
  readonly key: string | undefined;
  /** Rises when a redrive asks to start afresh; part of idempotency keys. */
  readonly keyGeneration: number;
  /** A redrive goes on from what this earlier generation had finished. */
  readonly carriesFrom: number | undefined;
  readonly retryCount: number;
  readonly retriesMax: number | undefined;
  readonly crashes: number;
  /** Its last owner did not give it back, so it may have been inside a phase. */
  readonly interruption: Interruption | undefined;
  /**
   * The epoch under which an owner was last cut off; counts only where `interruption` says that one
   * was. Records of a later epoch have told of it, however late they came.
   */
  readonly cutEpoch?: number | undefined;
  /** Of the last orderly settle; -1 where there was none. The archive may be further. */
  readonly lastSeq: number;
  /** The record it was left at then: its history is whatever leads through that one. */
  readonly lastHash: string | undefined;
  readonly control: 'cancel' | 'pause' | undefined;
  /** What is left until its deadline; may be negative. */
  readonly deadlineMs: number | undefined;
  /**
   * Told where it has no deadline: how long ago this generation was first recorded or, where nothing
   * is on record, how long ago it was due. By the store's clock; so nobody's run lasts for ever.
   */
  readonly ageMs?: number | undefined;
  /** How long it had been due when it was claimed, by the store's clock; told while it is. */
  readonly waitedMs?: number | undefined;
  readonly traceParent: string | undefined;
  readonly pinnedTo: string | undefined;
  readonly token: string | undefined;
}

/** Part of a run's history: consecutive records of one epoch. */
export interface Segment extends Claim {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly prevHash: string;
  readonly lastHash: string;
  /** Where the run is after the last of them; for people. */
  readonly state: string;
  /** A JSON array. */
  readonly events: string;
}

/** What an owner says of a task besides its records. */
interface Moving {
  /**
   * The version its run stands under since its owner took it, where that is another one: from then on
   * the task goes to whoever has that. Undefined: as before.
   */
  readonly version?: number | undefined;
}

/** A part of a run's history on its way to the store; its version counts only while the claim stands. */
export type Flush = Segment & Moving;

interface Leaving extends Claim, Moving {
  /** What the store does not have yet; undefined where nothing is new. */
  readonly tail: Segment | undefined;
  /** Where the run stands, tail included. */
  readonly lastSeq: number;
  readonly lastHash: string;
  /** Thrown failures since it was claimed: for people, and for `retriesMax`. */
  readonly retriesAdd: number;
  /** A step was completed since it was claimed: what killed processes before was another one. */
  readonly hasCompletedStep: boolean;
}

export type Settlement = Leaving &
  (
    | {
        readonly to: EndStatus;
        readonly outcome: string;
        /** JSON text. */
        readonly result: string | undefined;
        /** JSON text; every failed task has one. */
        readonly error: string | undefined;
      }
    /** Back to the fleet, between two phases; paused, where that was asked for, and so is a park. */
    | {
        readonly to: 'pending';
        /** Its owner has recorded nothing: what interrupted it before is the next one's to look after. */
        readonly isUntouched?: boolean | undefined;
      }
    /** Parked: nobody's, until it is due. */
    | {
        readonly to: 'waiting';
        readonly waitFor: WaitFor;
        readonly afterMs: number;
        /** As where it is given back. */
        readonly isUntouched?: boolean | undefined;
      }
  );

/**
 * What became of a settlement. `done`: it had been settled like this before, and the answer was lost.
 * `lost`: the claim no longer stands and nothing was written. `refused`: the store cannot hold the
 * values; nothing was written, and sending it again will not help. `locked`: the claim stands, but
 * somebody else has the row just now; nothing was written, and it is to be sent again.
 */
export type SettleAnswer =
  | { readonly task: RunId; readonly kind: 'stood' | 'done' | 'lost' | 'locked' }
  | { readonly task: RunId; readonly kind: 'refused'; readonly reason: string };

/** `forked`: the store holds other records under the same numbers; never overwritten. */
export type ArchiveAnswer =
  | { readonly task: RunId; readonly kind: 'held' }
  | { readonly task: RunId; readonly kind: 'forked' | 'refused'; readonly reason: string };

/** A machine in one version, as a pod has it. */
export interface Announcement {
  readonly route: string;
  readonly fingerprint: string;
  /** What the fingerprint is over; for people who want to know what has changed. */
  readonly shape: string;
}

/** A machine in one version, as the fleet has first heard of it. */
export interface KnownRoute extends Announcement {
  readonly firstSeenAt: number;
}

/** How many tasks of a machine in one version have not ended. */
export interface RouteTally {
  readonly route: string;
  readonly machine: string;
  readonly version: number;
  readonly pending: number;
  readonly waiting: number;
  readonly claimed: number;
  /** Of those that nobody holds: only one journal may take them. */
  readonly pinned: number;
  /** Of the rest that nobody holds: they wait for their version. */
  readonly shelved: number;
  /** Of what is left of those: they have outlived two owners. */
  readonly suspect: number;
}

/** A run that was started on a host, shown to the fleet: nobody else may take it. */
export interface MirroredRun {
  readonly id: RunId;
  readonly machine: string;
  readonly version: number;
  readonly payload: string;
  readonly journal: string;
  readonly deadlineMs: number | undefined;
  readonly startedAgoMs: number;
}

/** A task as people and programs see it. Times are milliseconds since the epoch. */
export interface TaskRow {
  readonly id: RunId;
  readonly generation: number;
  readonly machine: string;
  readonly version: number;
  readonly queue: string;
  readonly priority: number;
  readonly runAt: number;
  readonly status: TaskStatus;
  readonly waitFor: WaitFor | undefined;
  readonly epoch: number;
  /** How often people have changed it. */
  readonly acts: number;
  readonly claimedBy: PodId | undefined;
  readonly retryCount: number;
  readonly retriesMax: number | undefined;
  readonly crashes: number;
  readonly claims: number;
  readonly control: 'cancel' | 'pause' | undefined;
  readonly isPaused: boolean;
  readonly key: string | undefined;
  /** It takes turns with the others of its queue that have this key. */
  readonly serialKey?: string | undefined;
  /** It is the one of its serial key whose turn it is, until it ends. */
  readonly hasTurn?: true | undefined;
  /** It was to wait until that run has ended. */
  readonly follows?: Follows | undefined;
  readonly pinnedTo: string | undefined;
  readonly deadlineAt: number | undefined;
  readonly payload: string | undefined;
  readonly outcome: string | undefined;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly lastSeq: number;
  /** Of the record it was left at by the last orderly settle; its history leads through that one. */
  readonly lastHash: string | undefined;
  /** A redrive goes on from what this earlier generation had finished. */
  readonly carriesFrom: number | undefined;
  /** Its last owner did not give it back, so it may have been inside a phase. */
  readonly interruption: Interruption | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly finishedAt: number | undefined;
  readonly discardedAt: number | undefined;
}

export interface TaskFilter {
  readonly status?: TaskStatus | undefined;
  readonly machine?: string | undefined;
  readonly claimedBy?: PodId | undefined;
  /** Only failed tasks that nobody has discarded. */
  readonly isDeadLetter?: boolean | undefined;
  /** Only tasks that have not ended. */
  readonly isInFlight?: boolean | undefined;
  /** Older than this task, for the next page. */
  readonly before?: string | undefined;
  readonly countMax: number;
}

/** A rule of the tables that does not hold, with some of the rows that break it. */
export interface Violation {
  readonly rule: string;
  readonly count: number;
  readonly examples: readonly string[];
}

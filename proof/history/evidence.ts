/**
 * What a run of a fleet leaves behind for those who judge it from outside: the rows and the records of
 * the store, every change that a witness beside the store has seen, what handlers wrote into their
 * ledgers, what clients were told, and looks at the whole while it was going on.
 *
 * All times are milliseconds by one clock, that of the database, unless something else is said.
 */
import type { RunId } from '../../src/ground/index.ts';
import type { Segment } from '../../src/store/index.ts';

/** A change of one row, in the order in which they were made. */
export interface Change {
  readonly at: number;
  readonly wasStatus: string | undefined;
  readonly status: string;
  readonly wasEpoch: number;
  readonly epoch: number;
  readonly wasOwner: string | undefined;
  readonly owner: string | undefined;
  readonly wasGeneration: number;
  readonly generation: number;
  readonly wasHash: string | undefined;
  readonly hash: string | undefined;
  readonly wasOutcome: string | undefined;
  readonly outcome: string | undefined;
  readonly wasRetries: number;
  readonly retries: number;
  readonly wasCrashes: number;
  readonly crashes: number;
  /** Somebody asked its owner to cancel it, or to pause it. */
  readonly wasControl: string | undefined;
  readonly control: string | undefined;
  /** Nobody was to get it, before and after; where that was looked at. */
  readonly wasPaused?: boolean | undefined;
  readonly isPaused?: boolean | undefined;
  /** The name of the process whose connection wrote it, where that is known. */
  readonly by?: string | undefined;
}

/** A task as it is at the end. */
export interface EndRow {
  readonly task: RunId;
  readonly generation: number;
  readonly key: string | undefined;
  readonly machine: string;
  readonly status: string;
  readonly outcome: string | undefined;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly epoch: number;
  readonly lastSeq: number;
  readonly lastHash: string | undefined;
  readonly retries: number;
  readonly crashes: number;
}

/** With since when others could see it at its present length, and at the lengths before that. */
export type TimedSegment = Segment & {
  readonly at: number;
  readonly grew?: readonly { readonly lastSeq: number; readonly at: number }[] | undefined;
};

/** The last record of it that was there before that time; -1 where there was none. */
export function lastSeqBy({ at, lastSeq, grew = [] }: TimedSegment, time: number): number {
  return at < time ? lastSeq : (grew.findLast((length) => length.at < time)?.lastSeq ?? -1);
}

/** All that the store knows of one task. */
export interface TaskFile {
  readonly row: EndRow;
  readonly segments: readonly TimedSegment[];
  readonly changes: readonly Change[];
}

/** What one phase did, as its own process wrote it down before it answered. */
export interface Effect {
  readonly task: string;
  readonly subject: string;
  readonly step: string;
  /** `probe` where `check` was asked again after an interruption or a failure. */
  readonly phase: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly fencingToken: number;
  readonly outcome: string;
  /** The name of the pod, which its next process has too. */
  readonly pod: string;
  readonly at: number;
  /** By the clock of the pod, where that was set to something else. */
  readonly ownAt?: number | undefined;
}

/** An enqueue that was acknowledged: under which key, and which task was said to stand for it. */
export interface Acknowledgement {
  readonly subject: string;
  readonly shape: string;
  readonly task: string;
  /** How often it was sent before the answer came. */
  readonly sent?: number | undefined;
}

/** A cancel that somebody sent. */
export interface CancelCall {
  readonly task: string;
  /** Undefined where no answer came: it may have been carried out or not. */
  readonly answer: 'done' | 'requested' | 'tooLate' | 'unknown' | undefined;
}

/** A process of a pod, as its row says at the end. */
export interface PodLife {
  readonly pod: string;
  readonly name: string;
  readonly lastBeatAt: number;
  readonly deadAt: number | undefined;
  /** Itself, where it left in order. */
  readonly deadBy: string | undefined;
}

/** A look at the whole while it goes on; without `counts` where the store did not answer. */
export interface Snapshot {
  readonly at: number;
  /** Acknowledged before the look began, and sent before it was over. */
  readonly acknowledged: number;
  readonly sent: number;
  readonly counts?: SnapshotCounts | undefined;
}

export interface SnapshotCounts {
  readonly all: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Rows that are in no state, or in two: an owner without a claim, an end without a time. */
  readonly torn: number;
  /** Pods whose heartbeat is fresh. */
  readonly fresh: number;
}

/** What a pod asked of the store, and when it was answered. */
export interface StoreCall {
  readonly call: 'claim' | 'settle' | 'take';
  readonly pod: string;
  readonly fromMs: number;
  /** Undefined where no answer came. */
  readonly toMs: number | undefined;
  readonly tasks: readonly CalledTask[];
}

export interface CalledTask {
  readonly task: string;
  readonly epoch: number;
  /** Of a settlement: where the task was to go, and what the store said. Of a take: where it went. */
  readonly to?: string | undefined;
  readonly answer?: string | undefined;
  readonly wasEpoch?: number | undefined;
}

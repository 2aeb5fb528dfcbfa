/** What a decision about a task rests on, and what may come of it. */
import type { Refusal } from './acts.ts';
import type { TaskRow } from './tasks.ts';

/** A task under its lock, with whatever else a decision rests on. */
export interface Subject extends TaskRow {
  readonly keyMs: number;
  readonly keyGeneration: number;
  /** It shares a key with others that run one after the other. */
  readonly isSerial: boolean;
  /** Its records tell its end, and whoever gets it next says so. */
  readonly hasToldItsEnd: boolean;
  /** Somebody has recorded something of this generation. */
  readonly hasRecords: boolean;
  /** When this generation began: deadlines are counted from here. */
  readonly begunAt: number;
  /** By how much its deadline is later than at first, for it was due later. */
  readonly putOffMs: number;
}

/** Columns of the row that change. One that is there and undefined is emptied. */
export type Patch = Partial<{
  readonly [Column in PatchColumn]: Subject[Column];
}> & { readonly keyUntil?: number | undefined; readonly controlReason?: string | undefined } & {
  readonly isSerialHeld?: false | undefined;
  readonly cutEpoch?: undefined;
};

type PatchColumn =
  | 'status'
  | 'waitFor'
  | 'runAt'
  | 'deadlineAt'
  | 'epoch'
  | 'acts'
  | 'putOffMs'
  | 'generation'
  | 'retryCount'
  | 'crashes'
  | 'interruption'
  | 'control'
  | 'isPaused'
  | 'payload'
  | 'outcome'
  | 'result'
  | 'error'
  | 'finishedAt'
  | 'discardedAt'
  | 'lastSeq'
  | 'lastHash'
  | 'carriesFrom'
  | 'keyGeneration';

export interface Change {
  readonly kind: 'done' | 'requested' | 'already';
  readonly patch: Patch;
  /** How this generation has ended goes into the history, for the row forgets it. */
  readonly keepsOutcome?: boolean | undefined;
  /** How long the new task of a fork may take; undefined where nobody said. */
  readonly forkDeadlineMs?: number | undefined;
}

export interface Refused {
  readonly kind: 'refused';
  readonly why: Refusal;
  readonly detail: string;
}

export type Decision = Change | Refused;

export const already: Change = { kind: 'already', patch: {} };

export function hasEnded({ finishedAt }: Subject): boolean {
  return finishedAt !== undefined;
}

export function refused(why: Refusal, detail: string): Refused {
  return { kind: 'refused', why, detail };
}

/**
 * A turn that was given and not begun goes back: whatever is put off or paused before its first record
 * is in nobody's way. One that has begun keeps its turn until it ends.
 */
export function givenBack(task: Subject): Patch {
  const hasBegun = task.hasRecords || task.lastSeq >= 0 || task.interruption !== undefined;
  if (task.hasTurn !== true || hasBegun) return {};
  return { status: 'waiting', waitFor: 'turn', isSerialHeld: false };
}

/**
 * What an act makes of a task, or why it makes nothing of it: decided here, from the row as it is under
 * its lock, for every store alike. A store reads the row, asks, and writes what it is told.
 *
 *              pending/waiting   claimed           ended
 *   cancel     ended at once     its owner, asked  already where cancelled
 *   pause      at once           its owner, asked  –
 *   resume     at once           asked no longer   –
 *   retry      due now           –                 –
 *   reschedule due then          –                 –
 *   redrive    –                 –                 a new generation
 *   discard    –                 –                 where it failed
 *   fork       a new task beside it, whatever it is itself
 */
import { assertNever } from '../ground/index.ts';
import type { Deed, Glimpse, Refusal, Revision } from './acts.ts';
import { revisionOf } from './acts.ts';
import { boundedSpan, boundedTime, COUNT_MAX, raised } from './bounds.ts';
import { cancelledBecause } from './reasons.ts';
import { BARED, isBared } from './sealed-texts.ts';
import type { Due, TaskRow } from './tasks.ts';
import type { WaitFor } from './words.ts';

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

export function decide(
  task: Subject,
  deed: Deed,
  ifRevision: Revision | undefined,
  now: number,
): Decision {
  if (!isAsSeen(task, ifRevision)) {
    const now = revisionOf(task);
    const detail = `it is at ${now} by now, and not at ${ifRevision}: somebody was here before`;
    return refused('revision', detail);
  }
  const decision = decided(task, deed, now);
  if (decision.kind === 'refused' || Object.keys(decision.patch).length === 0) return decision;
  return { ...decision, patch: { ...decision.patch, acts: counted(task.acts) } };
}

/** Whoever saw it before this sees by the number that it is another now. */
function counted(acts: number): number {
  return acts < COUNT_MAX ? acts + 1 : 1;
}

function decided(task: Subject, deed: Deed, now: number): Decision {
  switch (deed.what) {
    case 'cancel':
      return cancel(task, deed.reason, now);
    case 'pause':
      return pause(task);
    case 'resume':
      return resume(task);
    case 'retry':
      return retry(task, now);
    case 'reschedule':
      return reschedule(task, deed.due, now);
    case 'redrive':
      return redrive(task, deed, now);
    case 'discard':
      return discard(task, now);
    case 'fork':
      return fork(task);
    default:
      return assertNever(deed);
  }
}

function isAsSeen(task: Subject, seen: Revision | undefined): boolean {
  return seen === undefined || seen === revisionOf(task) || revisionOf(task).startsWith(`${seen}.`);
}

export function glimpseOf(task: TaskRow, patch: Patch = {}): Glimpse {
  const { status, isPaused, runAt, ...counts } = { ...task, ...patch };
  return { status, revision: revisionOf(counts), isPaused, runAt };
}

function cancel(task: Subject, reason: string, now: number): Decision {
  if (task.status === 'cancelled') return already;
  if (hasEnded(task)) return refused('ended', `it is ${task.status}`);
  if (task.status === 'claimed') {
    // The first who asks is remembered.
    if (task.control === 'cancel') return { kind: 'requested', patch: {} };
    return { kind: 'requested', patch: { control: 'cancel', controlReason: reason } };
  }
  if (task.hasToldItsEnd) return refused('ended', TOLD);
  return {
    kind: 'done',
    patch: {
      status: 'cancelled',
      outcome: 'cancelled',
      error: cancelledBecause(reason),
      finishedAt: now,
      waitFor: undefined,
      isPaused: false,
      control: undefined,
      controlReason: undefined,
      epoch: raised(task.epoch),
      isSerialHeld: false,
      keyUntil:
        task.key === undefined ? undefined : boundedTime(Math.ceil(now + boundedSpan(task.keyMs))),
    },
  };
}

function pause(task: Subject): Decision {
  if (hasEnded(task)) return refused('ended', `it is ${task.status}`);
  if (task.pinnedTo !== undefined) return refused('unfit', `${LOCAL}, which does not pause it`);
  if (task.status === 'claimed') {
    if (task.control === 'cancel') return refused('unfit', 'it has been asked to end');
    return { kind: 'requested', patch: task.control === 'pause' ? {} : { control: 'pause' } };
  }
  if (task.isPaused) return already;
  if (task.hasToldItsEnd) return refused('ended', TOLD);
  return { kind: 'done', patch: { isPaused: true } };
}

function resume(task: Subject): Decision {
  if (hasEnded(task)) return refused('ended', `it is ${task.status}`);
  if (task.status === 'claimed') {
    // Its owner may have heard of the pause by now: what it gives back is not paused any more.
    return task.control === 'pause'
      ? { kind: 'done', patch: { control: undefined, controlReason: undefined } }
      : already;
  }
  return task.isPaused ? { kind: 'done', patch: { isPaused: false } } : already;
}

/** A sleep is part of what the machine does, and the rest wait for something else than time. */
const RETRIED: readonly (WaitFor | undefined)[] = [undefined, 'time', 'retry', 'version', 'key'];

function retry(task: Subject, now: number): Decision {
  const refusal = refusalOfTime(task, RETRIED);
  if (refusal) return refusal;
  if (task.isPaused) return refused('unfit', 'it is paused; resume it');
  return task.runAt <= now ? already : { kind: 'done', patch: { runAt: now } };
}

/** The others are woken by something else than time. */
const TIMED: readonly (WaitFor | undefined)[] = [undefined, 'time', 'retry', 'sleep'];

function reschedule(task: Subject, due: Due, now: number): Decision {
  const refusal = refusalOfTime(task, TIMED);
  if (refusal) return refusal;
  const runAt = boundedTime(Math.ceil('at' in due ? due.at : now + boundedSpan(due.afterMs)));
  const isLater = runAt > now;
  // What is put off has as long as before once it is due, and no longer once it is brought forward
  // again; what the machine itself waits for takes nothing from it.
  const laterMs = Math.max(runAt, now) - Math.max(task.runAt, now);
  const putOffMs = Math.max(0, task.putOffMs + laterMs);
  return {
    kind: 'done',
    patch: {
      runAt,
      status: isLater ? 'waiting' : 'pending',
      waitFor: isLater ? (task.waitFor ?? 'time') : undefined,
      ...(task.deadlineAt === undefined
        ? {}
        : {
            deadlineAt: boundedTime(Math.ceil(task.deadlineAt + putOffMs - task.putOffMs)),
            putOffMs,
          }),
    },
  };
}

function refusalOfTime(
  task: Subject,
  waits: readonly (WaitFor | undefined)[],
): Refused | undefined {
  if (hasEnded(task)) return refused('ended', `it is ${task.status}`);
  if (task.status === 'claimed') return refused('held', `${task.claimedBy} is at it`);
  if (waits.includes(task.waitFor)) return undefined;
  return refused('unfit', `it waits for ${task.waitFor}`);
}

function redrive(
  task: Subject,
  deed: Extract<Deed, { readonly what: 'redrive' }>,
  now: number,
): Decision {
  const isFresh = deed.isFresh || deed.payload !== undefined;
  if (!hasEnded(task)) return refused('unfinished', `it is ${task.status}`);
  if (task.pinnedTo !== undefined) return refused('unfit', `${LOCAL}, and has ended there`);
  if (task.status === 'completed' && !isFresh) {
    return refused(
      'unfit',
      'it is completed: there is nothing to go on from, only to begin afresh',
    );
  }
  if (isBared(task.payload, deed.payload)) return refused('unfit', BARED);
  // One that nobody had begun has nothing to go on from but what it was to go on from.
  const hasBegun = task.lastSeq >= 0 || task.hasRecords;
  const carriesFrom = hasBegun ? task.generation : task.carriesFrom;
  const spanMs = spanOf(task);
  return {
    kind: 'done',
    keepsOutcome: true,
    patch: {
      generation: task.generation + 1,
      epoch: raised(task.epoch),
      status: task.isSerial ? 'waiting' : 'pending',
      waitFor: task.isSerial ? 'turn' : undefined,
      runAt: now,
      retryCount: 0,
      crashes: 0,
      interruption: undefined,
      cutEpoch: undefined,
      isPaused: false,
      control: undefined,
      controlReason: undefined,
      outcome: undefined,
      result: undefined,
      error: undefined,
      finishedAt: undefined,
      discardedAt: undefined,
      keyUntil: undefined,
      lastSeq: -1,
      lastHash: undefined,
      carriesFrom: isFresh ? undefined : carriesFrom,
      keyGeneration: task.keyGeneration + (isFresh ? 1 : 0),
      deadlineAt:
        spanMs === undefined ? undefined : boundedTime(Math.ceil(now + boundedSpan(spanMs))),
      putOffMs: 0,
      ...(deed.payload === undefined ? {} : { payload: deed.payload }),
    },
  };
}

function discard(task: Subject, now: number): Decision {
  if (!hasEnded(task)) return refused('unfinished', `it is ${task.status}`);
  if (task.status !== 'failed') return refused('unfit', `it is ${task.status}, not failed`);
  return task.discardedAt === undefined ? { kind: 'done', patch: { discardedAt: now } } : already;
}

function fork(task: Subject): Decision {
  if (task.pinnedTo !== undefined)
    return refused('unfit', `${LOCAL}, and nobody else could run it`);
  const spanMs = spanOf(task);
  const forkDeadlineMs = spanMs === undefined ? undefined : boundedSpan(spanMs);
  return { kind: 'done', patch: {}, forkDeadlineMs };
}

/** How long it may take from when it is due, as whoever enqueued it has said. */
function spanOf({ deadlineAt, begunAt, putOffMs }: Subject): number | undefined {
  return deadlineAt === undefined ? undefined : deadlineAt - begunAt - putOffMs;
}

const LOCAL = 'it was started on a host and is in the journal of that host';
const TOLD = 'its records tell its end already; whoever gets it next says so';
const already: Change = { kind: 'already', patch: {} };

function hasEnded({ finishedAt }: Subject): boolean {
  return finishedAt !== undefined;
}

export function refused(why: Refusal, detail: string): Refused {
  return { kind: 'refused', why, detail };
}

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
import type { Deed, Glimpse, Revision } from './acts.ts';
import { revisionOf } from './acts.ts';
import { boundedSpan, boundedTime, COUNT_MAX, raised } from './bounds.ts';
import { reschedule, retry, spanOf } from './decide-due.ts';
import {
  already,
  type Decision,
  givenBack,
  hasEnded,
  type Patch,
  refused,
  type Subject,
} from './decision.ts';
import { cancelledBecause } from './reasons.ts';
import { BARED, isBared } from './sealed-texts.ts';
import type { TaskRow } from './tasks.ts';
import { BULK_MACHINE } from './words.ts';

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
  if (isShift(task) && STANDSTILLS.includes(deed.what)) return refused('unfit', SHIFT);
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
  return { kind: 'done', patch: { isPaused: true, ...givenBack(task) } };
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

/** What would let a shift stand still, and its bulk operation with it: nobody would see why. */
const STANDSTILLS: readonly Deed['what'][] = ['pause', 'reschedule', 'fork'];
const SHIFT = 'it works off a bulk operation; pause or cancel that one';
const LOCAL = 'it was started on a host and is in the journal of that host';
const TOLD = 'its records tell its end already; whoever gets it next says so';

function isShift({ machine }: Subject): boolean {
  return machine === BULK_MACHINE;
}

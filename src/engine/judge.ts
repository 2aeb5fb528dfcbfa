/**
 * From what a handler did to the event that is journaled. Pure: the time and the jitter are given.
 */
import {
  assertNever,
  describeError,
  FleetqError,
  hush,
  jittered,
  parseDuration,
  settleJson,
  show,
} from '../ground/index.ts';
import {
  isAborted,
  isHandoff,
  isPostponed,
  type Phase,
  type PhasePolicy,
  type RunEvent,
  type RunState,
} from '../machine/index.ts';
import { type Postponement, postponementOf } from '../throttle/index.ts';
import { PhaseAnswerError, PhaseTimeoutError } from './errors.ts';

const BACKOFF_MS_MAX = 365 * 86_400_000;
/** A reason is for people; whatever is longer belongs into a result. */
const REASON_LENGTH_MAX = 4_096;

export interface Moment {
  readonly now: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

/** The event for a value that a handler returned. Throws what makes the answer unfit. */
export function judgeAnswer(
  phase: Phase | 'probe',
  state: string,
  value: unknown,
  bytesMax: number,
): RunEvent {
  switch (phase) {
    case 'check':
    case 'probe':
      if (value === undefined || value === null)
        return phase === 'probe' ? { type: 'PROBED' } : { type: 'DONE' };
      if (!isHandoff(value)) {
        throw new PhaseAnswerError(
          `${state} returned ${show(value)}; check returns handoff(…) or nothing`,
        );
      }
      return {
        type: 'HANDED_OFF',
        output: settleJson(value.output, `the handoff of ${state}`, bytesMax),
        ...(value.reason === undefined ? {} : { reason: clipped(value.reason) }),
      };
    case 'validate':
      if (value === undefined) return { type: 'DONE' };
      throw new PhaseAnswerError(
        `${state} returned ${show(value)}; validate throws to reject, and returns nothing`,
      );
    case 'work':
    case 'persist':
      // It would be journaled as data, and the step would go on as if nothing had been said.
      if (isHandoff(value)) {
        throw new PhaseAnswerError(`${state} returned a handoff; only check hands off`);
      }
      return { type: 'DONE', output: settleJson(value, `the result of ${state}`, bytesMax) };
    default:
      return assertNever(phase);
  }
}

/** The event for whatever was thrown. */
export function judgeThrown(
  thrown: unknown,
  state: Pick<RunState, 'attempt' | 'deadlineAt' | 'waitsForApi' | 'wantedAt' | 'refusals'>,
  policy: PhasePolicy,
  { now, chance }: Moment,
): RunEvent {
  const { attempt, deadlineAt } = state;
  if (isAborted(thrown)) {
    const kind = read(thrown, 'kind') === 'user' ? 'user' : 'system';
    return { type: 'ABORTED', reason: clipped(read(thrown, 'reason')), kind };
  }
  if (isPostponed(thrown)) {
    // Anybody can throw what looks like our verdict: a delay that is none must not become a time.
    const delayMs = parseDuration(read(thrown, 'delayMs'));
    if (delayMs === undefined) return unusable('retryAfter');
    const dueAt = Math.min(now + delayMs, deadlineAt ?? Number.POSITIVE_INFINITY);
    const reason = clipped(read(thrown, 'reason'));
    return { type: 'POSTPONED', reason, dueAt: Math.ceil(dueAt) };
  }
  const noRoom = postponementOf(thrown);
  if (noRoom) {
    const dueAt = Math.min(now + noRoom.delayMs, deadlineAt ?? Number.POSITIVE_INFINITY);
    const reason = clipped(noRoom.why);
    return { type: 'POSTPONED', reason, dueAt: Math.ceil(dueAt), ...wantOf(noRoom, state, now) };
  }
  if (isHopeless(thrown)) {
    return { type: 'ABORTED', reason: clipped(read(thrown, 'message')), kind: 'system' };
  }
  const error = describeError(thrown);
  if (attempt >= policy.attemptMax) return { type: 'EXHAUSTED', error };
  const delayMs = backoffMs(policy, attempt);
  if (delayMs === undefined) return unusable('retry.backoff');
  const dueAt = Math.min(now + jittered(delayMs, chance), deadlineAt ?? Number.POSITIVE_INFINITY);
  return { type: 'FAILED', error, dueAt: Math.ceil(dueAt) };
}

/** What goes on record of a wait for an API, so that whoever goes on with the run knows its age. */
function wantOf(
  { api, waitedMs, isRefusal }: Postponement,
  { waitsForApi, wantedAt, refusals }: Pick<RunState, 'waitsForApi' | 'wantedAt' | 'refusals'>,
  now: number,
) {
  const isSame = waitsForApi === api;
  const count = (isSame ? (refusals ?? 0) : 0) + (isRefusal ? 1 : 0);
  return {
    api,
    wantedAt: (isSame ? wantedAt : undefined) ?? Math.floor(now - waitedMs),
    ...(count > 0 ? { refusals: count } : {}),
  };
}

/** One of our own errors that no further attempt would change. */
function isHopeless(thrown: unknown): thrown is FleetqError {
  try {
    return thrown instanceof FleetqError && thrown.verdict === 'abort';
  } catch {
    // Even to ask may throw: a revoked proxy can be thrown too.
    return false;
  }
}

function unusable(what: string): RunEvent {
  return { type: 'ABORTED', reason: `${what} gave no usable delay`, kind: 'system' };
}

function clipped(reason: unknown): string {
  return textOf(reason).slice(0, REASON_LENGTH_MAX);
}

/** Any value as text; not every one has words for itself. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return show(value);
  }
}

/** What was thrown is the author's, and so are its getters. */
function read(from: object, property: string): unknown {
  try {
    return (from as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}

/** Backoff is the author's code too: whatever it does, the run must not hang or spin. */
function backoffMs(policy: PhasePolicy, attempt: number): number | undefined {
  try {
    const ms: unknown = policy.backoff(attempt);
    hush(ms);
    return typeof ms === 'number' && ms >= 0 ? Math.min(ms, BACKOFF_MS_MAX) : undefined;
  } catch {
    return undefined;
  }
}

export function judgeDeadline(state: string, runTimeoutMs: number): RunEvent {
  return {
    type: 'TIMED_OUT',
    error: describeError(new PhaseTimeoutError(`the run, in ${state},`, runTimeoutMs)),
  };
}

/**
 * What a call of an external API came to, as a throttle sees it: was there no room for it, is the API
 * ill, or was the call itself wrong? Only the first says anything about how much the API can take.
 */
import { type RateHint, RETRY_AFTER_MS_MAX } from './rate-headers.ts';

export type OutcomeKind =
  /** It was answered. */
  | 'ok'
  /** Refused for want of room: 429, or 503 with a Retry-After. */
  | 'throttled'
  /** Nobody knows what became of it, and the API may still be at work on it. */
  | 'timeout'
  /** The API says that it is overloaded: 503, 529. */
  | 'overload'
  /** The API failed: 500, 502, a broken connection. */
  | 'failure'
  /** The call was wrong, and would be wrong again. */
  | 'client'
  /** Whoever called has given up. */
  | 'cancelled'
  /** It says nothing about the API. */
  | 'ignored';

export interface CallOutcome {
  readonly kind: OutcomeKind;
  /** How long the API wants to be left alone. */
  readonly retryAfterMs?: number | undefined;
  /** What the call cost in the end, in the units of the throttle's `cost`. */
  readonly cost?: number | undefined;
  /** What the answer's headers say of the room that is left. */
  readonly hint?: RateHint | undefined;
  /** The same in what calls cost, as in tokens: of use where calls say their `cost`. */
  readonly costHint?: RateHint | undefined;
}

/** How hard an outcome brakes: 1 for a refusal, nothing for what says nothing of room. */
export const BRAKE_WEIGHT: Readonly<Record<OutcomeKind, number>> = {
  ok: 0,
  throttled: 1,
  timeout: 1,
  overload: 0.3,
  failure: 0.3,
  client: 0,
  cancelled: 0,
  ignored: 0,
};

/** So many calls have ended in each way. */
export const NONE_ENDED: Readonly<Record<OutcomeKind, number>> = {
  ok: 0,
  throttled: 0,
  timeout: 0,
  overload: 0,
  failure: 0,
  client: 0,
  cancelled: 0,
  ignored: 0,
};

/** Nobody's fault: it costs the run no attempt. */
export function isCapacity(kind: OutcomeKind): boolean {
  return kind === 'throttled' || kind === 'timeout' || kind === 'overload';
}

/** What a breaker counts against the API. Refusals never open it: an API that refuses is well. */
export function isIllness(kind: OutcomeKind): boolean {
  return kind === 'timeout' || kind === 'overload' || kind === 'failure';
}

/** Whether the API was well enough to answer. */
export function isAnswer(kind: OutcomeKind): boolean {
  return kind === 'ok' || kind === 'throttled' || kind === 'client';
}

/** Not noticed to be ill: whoever says nothing of calls that go well says so of those that fail. */
export function isWell(kind: OutcomeKind): boolean {
  return isAnswer(kind) || kind === 'ignored';
}

/** Whether it tells nothing at all. */
export function isSilent(kind: OutcomeKind): boolean {
  return kind === 'cancelled' || kind === 'ignored';
}

const RESET_MS_MAX = 24 * 3_600_000;
/** What one call may be said to cost. */
export const COST_MAX = 1e15;

/**
 * What authors say of a call may be anything: a kind that there is not says nothing, and a figure that
 * cannot be is left out. Nothing of it may make a permit stay away, or a limit into what is no number.
 */
export function soundOutcome(said: unknown): CallOutcome | undefined {
  const { kind, retryAfterMs, cost, hint, costHint } = Object(said) as Partial<CallOutcome>;
  if (typeof kind !== 'string' || !Object.hasOwn(BRAKE_WEIGHT, kind)) return undefined;
  if ((retryAfterMs ?? cost ?? hint ?? costHint) === undefined) return { kind };
  return {
    kind,
    retryAfterMs: isWithin(retryAfterMs, Number.MAX_VALUE)
      ? Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)
      : undefined,
    cost: isWithin(cost, COST_MAX) ? cost : undefined,
    hint: isHint(hint) ? hint : undefined,
    costHint: isHint(costHint) ? costHint : undefined,
  };
}

function isHint(hint: RateHint | undefined): hint is RateHint {
  const { remaining, resetMs } = Object(hint) as Partial<RateHint>;
  return isWithin(remaining, COST_MAX) && isWithin(resetMs, RESET_MS_MAX) && resetMs >= 1;
}

export function isWithin(value: unknown, most: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= most;
}

/** What can be said to those who want a permit: why there is none now, and how many more may come. */
import type { Published } from '../fleet/words.ts';
import type { Priority } from '../policy.ts';
import type { Throttle } from '../throttle.ts';
import type { PermitPool } from './permit-pool.ts';

type Shut = Pick<Throttle, 'pool' | 'policy' | 'lease'>;

const PARK_MS_MIN = 1_000;
export const PARK_MS_MAX = 60_000;
/** More than this share of the permits is not for retries while others wait. */
const RETRY_SHARE_MAX = 0.2;

/** Whether this class has had enough while others wait. */
export function isHeldBack(pool: PermitPool, priority: Priority, nowMs: number): boolean {
  if (priority !== 'retry') return false;
  return pool.inFlightOf('retry') >= Math.max(1, RETRY_SHARE_MAX * pool.limit(nowMs));
}

/**
 * About as long as those who are ahead will take, spread so that not all come back at once. While no call has
 * ended they are taken to last as long as somebody has waited for one.
 */
export function parkMsOf(
  pool: PermitPool,
  ahead: number,
  nowMs: number,
  chance: number,
  waitedMs = PARK_MS_MIN,
): number {
  const latencyMs = pool.latencies.quantile(0.5) ?? waitedMs;
  const rounds = ahead / Math.max(1, pool.limit(nowMs));
  const wholeMs = Math.min(PARK_MS_MAX, Math.max(PARK_MS_MIN, rounds * latencyMs));
  return wholeMs * (0.75 + 0.5 * chance);
}

/** Why nothing begins now, for people. */
export function whyNone(pool: PermitPool, published: Published | undefined, nowMs: number): string {
  switch (pool.closed) {
    case 'paused':
      return 'the API asked to be left alone';
    case 'open':
      return 'the API fails, and is left alone';
    case 'paced':
      return 'calls go out one after the other';
    default:
      break;
  }
  const limit = pool.limit(nowMs);
  if (limit > 0) return `all ${limit} permits are out`;
  return published === undefined || published.breaker === 'closed'
    ? 'other pods have all permits just now'
    : 'the API fails, and the fleet leaves it alone';
}

/** A wait of up to so long is waited for in the queue, where any pod may take what waits. */
const HELD_MS_MAX = 60_000;
/** Else some are let through now and then: not every run of a machine need call this API. */
const TRIAL_MS = 5_000;
/** Where a rate is the bound, so far ahead: as long as a claimer may take to look again, and then some. */
const AHEAD_MS = 2_000;
/** Half open, one at a time calls: another one stands by. */
const PROBERS = 2;

/** For so long whoever comes is sent away: it asked for that, or it fails. */
function askedMs({ pool }: Shut, nowMs: number): number {
  const openMs = pool.breakerState(nowMs) === 'open' ? pool.breaker!.retryAtMs - nowMs : 0;
  return Math.max(0, pool.pausedUntilMs - nowMs, openMs);
}

/** Or it is called so seldom that nobody waits in line for the next call yet. */
function ratedMs({ pool, policy, lease }: Shut, nowMs: number): number {
  // What a pod has before it is counted says nothing of what it has in a moment.
  if (lease?.isInForce === false) return 0;
  const nextMs = Math.max(pool.declared.waitMs(0, nowMs), pacedMs(pool, nowMs));
  return Math.max(0, nextMs - policy.parkAfterMs);
}

/** The pace of a law is felt by whoever came last. */
function pacedMs(pool: PermitPool, nowMs: number): number {
  return pool.closed === 'paced' ? pool.lookAtMs(0, nowMs) - nowMs : 0;
}

/**
 * Whether whoever comes would only be sent away. `sinceMs` ago somebody found that out. A rate that is slow
 * is so for good: whatever else a machine calls would wait for all that is in line for it.
 */
export function isHeld(throttle: Shut, sinceMs: number, nowMs: number): boolean {
  const askedForMs = askedMs(throttle, nowMs);
  if (askedForMs > 0 && askedForMs <= HELD_MS_MAX) return true;
  return sinceMs < TRIAL_MS && Math.max(askedForMs, ratedMs(throttle, nowMs)) > 0;
}

export interface Line {
  readonly waiting: number;
  /** They come back soon, and are in hand until then. */
  readonly inPlace: number;
  /** All that were sent away and are not back. */
  readonly away: number;
  /** Whoever waits for longer is sent away. */
  readonly parkAfterMs: number;
}

/**
 * As many as would call within a second or so, but not who would only be sent away, since calls take long.
 * Where there is nothing to be had, one, and none until it is back: whoever wants nothing is given nothing.
 */
export function leftOf(pool: PermitPool, line: Line, nowMs: number): number {
  const { waiting, inPlace, away, parkAfterMs } = line;
  if (pool.breakerState(nowMs) === 'half-open') return Math.max(0, PROBERS - waiting);
  const limit = pool.limit(nowMs);
  const latencyMs = pool.latencies.quantile(0.5);
  const perSecond = (limit * 1_000) / Math.max(1, latencyMs ?? 1_000);
  const freed = latencyMs ? (limit * parkAfterMs) / latencyMs : Number.POSITIVE_INFINITY;
  const first = away > 0 ? 0 : 1;
  const wanted =
    limit === 0 ? first : Math.min(Math.max(2, limit / 2, perSecond), Math.max(first, freed));
  // A limit grows while nothing is refused: where a rate is declared, it says nothing of how many may come.
  const rated = Math.max(1, Math.floor(pool.callsWithin(AHEAD_MS, nowMs)));
  const buffer = Math.min(wanted, rated);
  const room = Math.floor(limit + wanted) - pool.inFlight;
  const left = Math.min(room - waiting, rated - waiting - inPlace);
  // A few at a time are not worth a statement, unless they are all.
  return left >= Math.min(limit + 1, buffer / 2) ? left : 0;
}

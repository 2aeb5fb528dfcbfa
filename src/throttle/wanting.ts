/** What can be said to those who want a permit: why there is none now, and how many more may come. */
import type { Published } from './fleet/words.ts';
import type { PermitPool } from './permit-pool.ts';

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

/**
 * As many as would call within a second or so. Where there is nothing to be had, one: whoever wants nothing
 * is given nothing.
 */
export function leftOf(pool: PermitPool, waiting: number, nowMs: number): number {
  const limit = pool.limit(nowMs);
  const perSecond = (limit * 1_000) / Math.max(1, pool.latencies.quantile(0.5) ?? 1_000);
  const buffer = limit === 0 ? 1 : Math.max(2, limit / 2, perSecond);
  const left = Math.floor(limit + buffer) - pool.inFlight - waiting;
  // A few at a time are not worth a statement, unless they are all.
  return left >= Math.min(limit + 1, buffer / 2) ? left : 0;
}

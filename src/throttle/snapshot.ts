/** How an API is doing, for people and for programs that look on. */
import { showDuration } from '../ground/index.ts';
import type { CallWindow, ThrottleSnapshot } from '../machine/index.ts';
import type { PermitPool } from './permits/permit-pool.ts';
import type { Second } from './record/seconds.ts';
import type { Throttle } from './throttle.ts';
import { waitForOne, waitTheirTurn } from './waiting-words.ts';

export function snapshotOf(throttle: Throttle): ThrottleSnapshot {
  const { pool, policy, learner, lease, published, nowMs } = throttle;
  const last10s = windowOf(pool, nowMs, 10);
  const parts = {
    api: policy.name,
    law: policy.law,
    limit: pool.limit(nowMs),
    isAdaptive: published?.isAdaptive ?? policy.isAdaptive,
    learned: (learner?.learned ?? published?.learned)?.good,
    fleet: lease && published && { cap: published.learned.cap, pods: published.podCount },
    inFlight: pool.inFlight,
    cooling: pool.cooling(nowMs),
    waiting: throttle.waiting,
    breaker: pool.breakerState(nowMs),
    pausedMs: Math.max(0, pool.pausedUntilMs - nowMs),
    latencyMs: { p50: pool.latencies.quantile(0.5), p95: pool.latencies.quantile(0.95) },
    ended: { ...pool.ended },
    last10s,
    last60s: windowOf(pool, nowMs, 60),
  };
  return { ...parts, state: stateOf(parts, pool.closed === 'paced') };
}

/** What matters most comes first: one sentence. */
function stateOf(of: Omit<ThrottleSnapshot, 'state'>, isPaced: boolean): string {
  const { limit, inFlight, waiting, last10s } = of;
  const out = `${inFlight} of ${limit} permits are out`;
  if (of.breaker === 'open') return 'left alone: most calls failed; a probe will find out';
  if (of.breaker === 'half-open') return 'one call at a time finds out whether it is well again';
  if (of.pausedMs > 0) return `paused for ${showDuration(of.pausedMs)}, as the API asked`;
  if (last10s.throttled > 0) {
    return `${out}; the API refused ${last10s.throttled} of ${last10s.sent} calls in 10 s`;
  }
  // Permits are left, or there is less than one: it is the pace that they wait for.
  if (waiting > 0 && isPaced) return `calls go out one after the other, ${waitTheirTurn(waiting)}`;
  if (waiting > 0) return `${out}, ${waitForOne(waiting)}`;
  return inFlight > 0 ? out : 'nothing is being called';
}

function windowOf({ seconds, others }: PermitPool, nowMs: number, count: number): CallWindow {
  const until = Math.floor(nowMs / 1_000) + 1;
  const found = seconds.between(until - count, until);
  const sum = (key: keyof Second) => found.reduce((all, second) => all + second[key], 0);
  return {
    seconds: count,
    sent: sum('sent'),
    ok: sum('ok'),
    throttled: sum('throttled'),
    timedOut: sum('timedOut'),
    failed: sum('failed'),
    other: others.between(until - count, until),
  };
}

/** Whether as many calls were out at once as may be: who does not use a cap learns nothing about it. Pure. */

import type { Second } from '../record/seconds.ts';
import type { EstimatorRule } from './estimator-rule.ts';
import { mostByRate } from './room.ts';
import type { Sight } from './sight.ts';

export interface Use {
  readonly seconds: readonly Second[];
  readonly latencyMs: number;
  readonly tickMs: number;
  /** Nothing is known of the API yet. */
  readonly isFirst: boolean;
  readonly rule: EstimatorRule;
}

const USED_SHARE = 0.85;
const TIMED_OUT_SHARE = 0.1;
const FIRST_MISSING_MAX = 0.5;
const BRIEF_MS = 2_000;

export function isUsed(cap: number, sight: Sight, use: Use): boolean {
  const { seconds, latencyMs, tickMs, isFirst, rule } = use;
  // It is the declared rate that holds calls back.
  if (sight.waiting > 0 && cap < mostByRate(rule, latencyMs)) return true;
  const byRate = (sentPerSecond(seconds) * latencyMs) / 1_000;
  // Within a second starts come in bunches, of which it may have one less than the next.
  const isBrief = tickMs < BRIEF_MS && sight.waiting > 0;
  const brief = isBrief ? Math.max(sight.inFlight, byRate) : byRate;
  const atOnce = latencyMs > tickMs ? sight.inFlight : brief;
  const missing = isFirst ? cap - usableAtFirst(cap, sight.moving) : (sight.moving ?? 0);
  return atOnce >= USED_SHARE * (Math.floor(cap) - missing);
}

/** What is on its way from pod to pod nobody uses. First contact takes large steps by the rest of it. */
export function usableAtFirst(cap: number, moving = 0): number {
  return cap - Math.min(moving, FIRST_MISSING_MAX * cap);
}

function sentPerSecond(seconds: readonly Second[]): number {
  return seconds.reduce((all, { sent }) => all + sent, 0) / Math.max(1, seconds.length);
}

/** Whether so many of them are given up that the others say little of what calls take. */
export function areTimingOut(seconds: readonly Second[]): boolean {
  const ended = seconds.reduce((all, { ok, timedOut }) => all + ok + timedOut, 0);
  const timedOut = seconds.reduce((all, second) => all + second.timedOut, 0);
  return timedOut > TIMED_OUT_SHARE * ended;
}

/** What an API let in while it refused some, which is what it has room for. Pure. */

import type { Second } from '../record/seconds.ts';
import type { EstimatorRule } from './estimator-rule.ts';

export interface Room {
  /** Calls at once that it took, and the most that it may have taken. */
  readonly room: number;
  readonly roomMax: number;
}

export interface Means {
  readonly latencyMs: number | undefined;
  readonly tickMs: number;
  readonly inFlight: number;
  /** Refused calls use up the quota as well. */
  readonly chargesRefusals: boolean;
}

/** Less than one call could not be found to be too little. */
const CAP_MIN = 1;
/** Each pod has whole permits, and calls take longer at times: with the very number none would be over. */
const RATE_ROOM = 2;
const FEW = 30;
const SATURATED_SHARE = 0.005;
/** Of the room that a refused call would have had, so much is used up where refusals are charged. */
const CHARGED_SHARE = 0.7;

export function roomOf(saturated: readonly Second[], means: Means): Room {
  const { tickMs, inFlight, chargesRefusals } = means;
  const lost = chargesRefusals ? 1 - CHARGED_SHARE : 1;
  const accepted = saturated.map(({ sent, throttled }) => sent - lost * throttled);
  const latencyS = (means.latencyMs ?? 0) / 1_000;
  const rateMax = Math.max(...accepted);
  const room = ((sum(accepted) / accepted.length + rateMax) / 2) * latencyS;
  const roomMax = rateMax * latencyS;
  // How many were let in within one second is chance where they are few.
  const chance = rateMax < FEW ? Math.sqrt(Math.max(1, rateMax)) * latencyS : 0;
  const isShort = means.latencyMs !== undefined && means.latencyMs <= tickMs;
  if (isShort) return { room, roomMax: roomMax + chance };
  // Over a time shorter than a call, starts come in bunches: then what is in flight is what fits. So it is
  // where none has come back yet.
  const most = Math.max(1, inFlight);
  return { room: most, roomMax: most };
}

/** The most that a declared rate can use; 0 where none is. */
export function mostByRate({ perSecondMax }: EstimatorRule, latencyMs: number): number {
  if (perSecondMax === undefined || latencyMs <= 0) return 0;
  return Math.max(1, (RATE_ROOM * perSecondMax * latencyMs) / 1_000);
}

/** Within what was declared, and what may be tried. */
export function capWithin(rule: EstimatorRule, cap: number, latencyMs = 0): number {
  const { inFlightMax, start } = rule;
  // A rate bounds the calls by itself: what few of them took says little of how many may be out.
  const byRate = Math.max(start, mostByRate(rule, latencyMs) || inFlightMax);
  return Math.max(CAP_MIN, Math.min(cap, inFlightMax, byRate));
}

export function isSaturated({ sent, throttled }: Second): boolean {
  return throttled >= Math.max(1, SATURATED_SHARE * sent);
}

/** One second may be a bad one; several, or most of the calls, are not by chance. */
export function isPlain(saturated: readonly Second[], seconds: readonly Second[]): boolean {
  return refusedShareOf(seconds) >= (saturated.length > 1 ? 0.05 : 0.2);
}

export function refusedShareOf(seconds: readonly Second[]): number {
  return sum(seconds.map((second) => second.throttled)) / sum(seconds.map(({ sent }) => sent));
}

/** A mean that so many more calls have moved. */
export function meanWith(former: number | undefined, mean: number, count: number): number {
  return former === undefined
    ? mean
    : former + Math.min(0.5, count / (count + 50)) * (mean - former);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

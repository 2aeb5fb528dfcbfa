/** What a pod may call before anybody has counted it: little, however many there are like it. Pure. */
import type { ThrottlePolicy } from '../policy.ts';

export interface Newcomer {
  /** Heartbeats of it that were answered. */
  readonly heardCount: number;
  /** As far as it has heard. */
  readonly podCount: number;
  /** What all pods have together, where that was published. */
  readonly cap: number | undefined;
  /** Whether those who were counted do not have all of it yet. */
  readonly isDividing: boolean;
  /** Whether it called the API before anything was published of it. */
  readonly wasEarly: boolean;
  /** Whether others were counted lately, who may not be heard just now and are not gone. */
  readonly followsOthers?: boolean | undefined;
}

export interface FirstShare {
  readonly share: number;
  /** What all pods have together. */
  readonly whole: number;
  /** What it takes where nothing is heard: one, or all where nothing is bounded. */
  readonly alone?: number;
}

/** Pods that have no share yet have this part of the cap between them. */
const NEWCOMERS_SHARE = 0.05;
/** By this heartbeat a pod has seen all that have begun with it. */
const SURE_BEATS = 2;

export function firstShareOf(policy: ThrottlePolicy, newcomer: Newcomer): number {
  const { start, inFlightMax, isDeclared, perSecondMax, costPerMinuteMax } = policy;
  const { heardCount, podCount, isDividing, wasEarly, followsOthers } = newcomer;
  // The first heartbeat is sent at once.
  if (heardCount === 0) return 0;
  if (isFree(policy, newcomer.cap)) return inFlightMax;
  const cap = partedCap(policy, newcomer.cap);
  const part = start / podCount;
  const isSure = heardCount >= SURE_BEATS;
  const hasRate = perSecondMax !== undefined || costPerMinuteMax !== undefined;
  // Those who begin with it are not known yet: each of them would take more of the rate than is its part.
  if ((isDeclared || hasRate) && !isSure && podCount > 1) return 0;
  // Of an API that nobody has called yet, all pods together begin with what one would begin with; of a
  // rate, until those who were counted have all of it.
  const isEarly = wasEarly && (!hasRate || isDividing);
  if (!isDeclared && (isEarly || cap === undefined)) return part;
  // Those who are not heard keep half of what they had.
  if (podCount === 1) return Math.min(part, (cap ?? part) * (followsOthers ? 0.5 : 1));
  // Before its first call of all, no other pod has it all; each may begin one where there are as many.
  return isSure ? Math.min(1, cap === undefined ? part : (NEWCOMERS_SHARE * cap) / podCount) : 0;
}

/** Whether neither a declaration, a person nor an estimate bounds it: then there is nothing to divide. */
export function isFree(policy: ThrottlePolicy, cap: number | undefined): boolean {
  const { isAdaptive, isDeclared, inFlightMax, perSecondMax, costPerMinuteMax } = policy;
  const hasRate = perSecondMax !== undefined || costPerMinuteMax !== undefined;
  return !isAdaptive && !isDeclared && !hasRate && (cap ?? inFlightMax) >= inFlightMax;
}

/** What newcomers have a part of: of calls that only a rate bounds, as many as are begun with. */
export function partedCap(policy: ThrottlePolicy, cap: number | undefined): number | undefined {
  const isBound = policy.isAdaptive || policy.isDeclared || cap === undefined;
  return isBound ? cap : Math.min(cap, policy.start);
}

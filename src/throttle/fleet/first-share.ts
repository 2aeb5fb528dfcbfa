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

/** Pods that have no share yet have this part of the cap between them. */
const NEWCOMERS_SHARE = 0.05;
/** By this heartbeat a pod has seen all that have begun with it. */
const SURE_BEATS = 2;

export function firstShareOf(policy: ThrottlePolicy, newcomer: Newcomer): number {
  const { start, isDeclared, perSecondMax, costPerMinuteMax } = policy;
  const { heardCount, podCount, cap, isDividing, wasEarly, followsOthers } = newcomer;
  // The first heartbeat is sent at once.
  if (heardCount === 0) return 0;
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
  return isSure ? Math.min(1, (NEWCOMERS_SHARE * (cap ?? start)) / podCount) : 0;
}

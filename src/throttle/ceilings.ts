/**
 * What was declared of an API in one pod or another: while a deploy goes on, they may say different things.
 * The least of it holds for all of them, whoever leads. Pure.
 */
import type { ThrottlePolicy } from './policy.ts';

/** Never more than this, for all pods together, whatever is found out or fixed; as far as it was declared. */
export interface Ceilings {
  /** Whether the limit below them is found out: where one pod declares that, it is so for all. */
  readonly isAdaptive?: boolean | undefined;
  /** Calls at once. */
  readonly ceiling?: number | undefined;
  readonly perSecondMax?: number | undefined;
  readonly costPerMinuteMax?: number | undefined;
}

export function ceilingsOf(policy: ThrottlePolicy): Ceilings {
  const { isAdaptive, isDeclared, inFlightMax, perSecondMax, costPerMinuteMax } = policy;
  const ceiling = isDeclared ? inFlightMax : undefined;
  return { isAdaptive, ceiling, perSecondMax, costPerMinuteMax };
}

/** The least of what is declared here, and of what pods tell that was declared there. */
export function leastOf(own: Ceilings, reports: Iterable<Ceilings>): Ceilings {
  let { isAdaptive, ceiling, perSecondMax, costPerMinuteMax } = own;
  for (const told of reports) {
    isAdaptive ||= told.isAdaptive;
    if (told.ceiling !== undefined) ceiling = less(ceiling, Math.max(1, told.ceiling));
    perSecondMax = less(perSecondMax, told.perSecondMax);
    costPerMinuteMax = less(costPerMinuteMax, told.costPerMinuteMax);
  }
  return { isAdaptive, ceiling, perSecondMax, costPerMinuteMax };
}

export function under(policy: ThrottlePolicy, ceilings: Ceilings): ThrottlePolicy {
  const inFlightMax = Math.min(policy.inFlightMax, ceilings.ceiling ?? policy.inFlightMax);
  return {
    ...policy,
    isAdaptive: ceilings.isAdaptive ?? policy.isAdaptive,
    inFlightMax,
    start: Math.min(policy.start, inFlightMax),
    perSecondMax: less(policy.perSecondMax, ceilings.perSecondMax),
    costPerMinuteMax: less(policy.costPerMinuteMax, ceilings.costPerMinuteMax),
  };
}

export function areSame(one: Ceilings, other: Ceilings): boolean {
  return (
    one.isAdaptive === other.isAdaptive &&
    one.ceiling === other.ceiling &&
    one.perSecondMax === other.perSecondMax &&
    one.costPerMinuteMax === other.costPerMinuteMax
  );
}

/** What nobody has declared is no bound. */
export function less(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** What a person has fixed it to, as far as what was declared allows. */
export function pinnedUnder(
  pinned: number | undefined,
  ceiling: number | undefined,
): number | undefined {
  return pinned === undefined ? undefined : Math.min(pinned, ceiling ?? pinned);
}

/**
 * What an API itself says of its room, in calls a second, while that is fresh. What it has left in tokens,
 * or whatever calls cost there, is as many calls as that is worth by what they cost lately; where nobody
 * says what a call costs, it says nothing.
 */
import type { CallOutcome } from '../answers/outcome.ts';
import type { RateHint } from '../answers/rate-headers.ts';

interface Told {
  readonly perSecond: number;
  readonly untilMs: number;
}

/**
 * A word is heeded by all a few heartbeats later, and holds for as long: what is left of a shorter time is
 * over by then. The last seconds of a minute go by what was said before them.
 */
export const RESET_MS_MIN = 12_000;
/** How much one call moves what is thought that a call costs. */
const COST_WEIGHT = 0.05;

export class ToldRoom {
  #calls: Told | undefined;
  #costs: Told | undefined;
  #meanCost: number | undefined;
  readonly #resetMsMin: number;

  /** What is left of less time than this says nothing. */
  constructor(resetMsMin = 0) {
    this.#resetMsMin = resetMsMin;
  }

  /** `cost`: what the call cost, as far as anybody knows; 1 where nobody says so. */
  note({ hint, costHint }: CallOutcome, cost: number, nowMs: number): void {
    if (cost > 1)
      this.#meanCost = (this.#meanCost ?? cost) * (1 - COST_WEIGHT) + cost * COST_WEIGHT;
    if (this.#isLasting(hint)) this.#calls = toldBy(hint, nowMs);
    if (this.#isLasting(costHint)) this.#costs = toldBy(costHint, nowMs);
  }

  perSecond(nowMs: number): number | undefined {
    const calls = freshOf(this.#calls, nowMs);
    const costs = this.#meanCost === undefined ? undefined : freshOf(this.#costs, nowMs);
    if (costs === undefined) return calls;
    return Math.min(calls ?? Number.POSITIVE_INFINITY, costs / this.#meanCost!);
  }

  #isLasting(hint: RateHint | undefined): hint is RateHint {
    return hint !== undefined && hint.resetMs >= this.#resetMsMin;
  }
}

function toldBy({ remaining, resetMs }: RateHint, nowMs: number): Told {
  return { perSecond: (remaining / resetMs) * 1_000, untilMs: nowMs + resetMs };
}

function freshOf(told: Told | undefined, nowMs: number): number | undefined {
  return told && nowMs < told.untilMs ? told.perSecond : undefined;
}

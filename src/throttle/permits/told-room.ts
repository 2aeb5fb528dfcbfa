/**
 * What an API itself says of its room, in calls a second, while that is fresh. What it has left in tokens,
 * or whatever calls cost there, is as many calls as that is worth by what they cost lately; where nobody
 * says what a call costs, it says nothing. What is left of a long time, as of an hour, is no pace: half of
 * it is kept for the whole of that time, and the other half may be called soon.
 */
import type { CallOutcome } from '../answers/outcome.ts';
import type { RateHint } from '../answers/rate-headers.ts';

interface Told {
  readonly perSecond: number;
  /** One call by then: whether more is left is found out by no other means. */
  readonly leastPerSecond: number;
  readonly untilMs: number;
  readonly isMost: boolean;
}

/** A time that a quota is for, as it was when it was first told of. */
interface Window {
  readonly remaining: number;
  readonly resetMs: number;
  readonly endsMs: number;
}

/** What is to be made of that. */
export interface ToldRate {
  readonly perSecondHint: number;
  /** No more than this: how much the API takes at once is to be found out below it. */
  readonly isHintMost: boolean;
}

/**
 * A word is heeded by all a few heartbeats later, and holds for as long: what is left of a shorter time is
 * over by then. The last seconds of a minute go by what was said before them.
 */
export const RESET_MS_MIN = 12_000;
/** What is left of more time is no pace to keep: whoever has few calls to make may make them at once. */
const LONG_MS = 90_000;
/** So much of a long window's quota is spread over all of it, so that it lasts. */
const RESERVE_SHARE = 0.5;
/** So long the rest would last, as it is called: long enough for all to hear that it becomes less. */
const HORIZON_MS = 30_000;
/** Times in headers are in whole seconds, and some take longer than others. */
const SAME_WINDOW_MS = 5_000;
/** How much one call moves what is thought that a call costs. */
const COST_WEIGHT = 0.05;

export class ToldRoom {
  readonly #calls = new Quota();
  readonly #costs = new Quota();
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
    if (this.#isLasting(hint)) this.#calls.note(hint, nowMs);
    if (this.#isLasting(costHint)) this.#costs.note(costHint, nowMs);
  }

  rate(nowMs: number): ToldRate | undefined {
    const calls = this.#calls.told(nowMs, 1);
    const costs = this.#meanCost && this.#costs.told(nowMs, this.#meanCost);
    if (!costs) return calls;
    return calls && calls.perSecondHint <= costs.perSecondHint ? calls : costs;
  }

  #isLasting(hint: RateHint | undefined): hint is RateHint {
    return hint !== undefined && hint.resetMs >= this.#resetMsMin;
  }
}

/** A limit that is found out follows what is told by itself, but for less than one call at once. */
export function rateBoundBy(
  perSecond: number | undefined,
  { isAdaptive, latencyMs = 0 }: { isAdaptive: boolean; latencyMs: number | undefined },
): number | undefined {
  const isLimit = isAdaptive && (perSecond ?? 0) * latencyMs >= 1_000;
  return isLimit ? undefined : perSecond;
}

/** What is left of one quota. */
class Quota {
  #told: Told | undefined;
  #window: Window | undefined;

  note(hint: RateHint, nowMs: number): void {
    const endsMs = nowMs + hint.resetMs;
    const known = this.#window;
    const isSame = known && Math.abs(endsMs - known.endsMs) <= SAME_WINDOW_MS;
    const window = isSame ? known : { ...hint, endsMs };
    this.#window = window;
    this.#told = toldBy(hint, window, nowMs);
  }

  /** While it is fresh, in calls that each take so much of it. */
  told(nowMs: number, cost: number): ToldRate | undefined {
    const told = this.#told;
    if (!told || nowMs >= told.untilMs) return undefined;
    const perSecondHint = Math.max(told.perSecond / cost, told.leastPerSecond);
    return { perSecondHint, isHintMost: told.isMost };
  }
}

function toldBy({ remaining, resetMs }: RateHint, window: Window, nowMs: number): Told {
  const isMost = window.resetMs > LONG_MS;
  const even = (RESERVE_SHARE * window.remaining * resetMs) / window.resetMs;
  const kept = isMost ? Math.min(remaining, even) : remaining;
  const perMs = kept / resetMs + (remaining - kept) / Math.min(resetMs, HORIZON_MS);
  const leastPerSecond = 1_000 / resetMs;
  return { perSecond: perMs * 1_000, leastPerSecond, untilMs: nowMs + resetMs, isMost };
}

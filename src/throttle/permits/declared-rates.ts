/**
 * What was declared of an API over time: so many calls a second, so much cost a minute. Where pods have that
 * between them, each has its portion of the rate and of the burst: all of them together begin with one burst,
 * and earn what was declared and no more.
 */

import { type Ceilings, less } from '../ceilings.ts';
import type { ThrottlePolicy } from '../policy.ts';
import { Pace } from './pace.ts';

const DEBT_MINUTES_MAX = 10;
const DEBT_MS_MAX = DEBT_MINUTES_MAX * 60_000;
/** So much of a minute's cost may be had at once. */
const COST_BURSTS_A_MINUTE = 6;

type Declared = Pick<ThrottlePolicy, 'perSecondMax' | 'costPerMinuteMax' | 'burst'>;

export class DeclaredRates {
  readonly #own: Declared;
  /** What holds: others may have declared less. */
  #declared: Declared;
  readonly #calls: Pace;
  readonly #costs: Pace;
  #portion = 1;
  /** The last that was more than nothing: it pays by that what a call cost that ends when it has none. */
  #earning = 1;
  /** When a call last cost something. */
  #chargedMs = Number.NEGATIVE_INFINITY;
  /** Of calls lately. */
  #costMean: number | undefined;

  constructor(declared: Declared) {
    this.#own = declared;
    this.#declared = declared;
    this.#calls = new Pace(declared.burst);
    this.#costs = new Pace((declared.costPerMinuteMax ?? 0) / COST_BURSTS_A_MINUTE);
  }

  /** The least that any pod has declared. */
  bound({ perSecondMax, costPerMinuteMax }: Ceilings, nowMs: number): void {
    const { perSecondMax: own, costPerMinuteMax: ownCost, burst } = this.#own;
    const [rate, cost] = [less(own, perSecondMax), less(ownCost, costPerMinuteMax)];
    if (rate === this.#declared.perSecondMax && cost === this.#declared.costPerMinuteMax) return;
    // What it had until now is earned at the old rate.
    this.waitMs(1, nowMs);
    const isLess = rate !== undefined && rate !== own;
    const most = isLess ? Math.max(1, Math.min(own === undefined ? rate : burst, rate / 2)) : burst;
    this.#declared = { perSecondMax: rate, costPerMinuteMax: cost, burst: most };
  }

  /** From now on it has this portion of them. Of what it has saved up, it keeps no more than that. */
  divide(portion: number, nowMs: number): void {
    const next = Math.min(1, Math.max(0, portion));
    if (next === this.#portion) return;
    // What it had until now is earned at the old rate.
    this.waitMs(1, nowMs);
    if (next < this.#portion) {
      this.#calls.keep(next / this.#portion);
      this.#costs.keep(next / this.#portion);
    }
    this.#portion = next;
    if (next > 0) this.#earning = next;
  }

  /** Pods with less than a whole call to begin with would all have one at the same moment. */
  spread(chance: number): void {
    if (this.#declared.burst * this.#portion < 1) this.#calls.take(chance);
  }

  /** Until a call that costs so much may begin; of 0, for how long nothing does. */
  waitMs(cost: number, nowMs: number): number {
    const { perSecondMax, costPerMinuteMax, burst } = this.#declared;
    let waitMs = 0;
    if (perSecondMax !== undefined) {
      const [perSecond, depth] = [perSecondMax * this.#portion, Math.max(1, burst * this.#portion)];
      if (!this.#calls.has(1, perSecond, depth, nowMs)) {
        waitMs = this.#calls.waitMs(1, perSecond, depth);
      }
    }
    if (costPerMinuteMax === undefined) return waitMs;
    this.#forgive(nowMs);
    const aMinute = costPerMinuteMax * this.#portion;
    const [perSecond, depth] = [aMinute / 60, aMinute / COST_BURSTS_A_MINUTE];
    if (this.#costs.has(cost, perSecond, depth, nowMs)) return waitMs;
    const costMs = this.#costs.waitMs(cost, perSecond, depth);
    return Math.max(waitMs, Math.min(costMs, this.#forgivenInMs(nowMs)));
  }

  /** So much of the whole rate would pay within ten seconds what calls have cost beyond what was there. */
  owedPart(nowMs: number): number {
    const { costPerMinuteMax } = this.#declared;
    if (costPerMinuteMax === undefined) return 0;
    this.waitMs(0, nowMs);
    return (COST_BURSTS_A_MINUTE * this.#costs.owed) / costPerMinuteMax;
  }

  /** How many calls may begin within so long, if they cost what calls cost lately. */
  callsWithin(ms: number, nowMs: number): number {
    const { perSecondMax, costPerMinuteMax, burst } = this.#declared;
    let count = Number.POSITIVE_INFINITY;
    if (perSecondMax !== undefined) {
      const [perSecond, depth] = [perSecondMax * this.#portion, Math.max(1, burst * this.#portion)];
      count = this.#calls.within(ms, perSecond, depth, nowMs);
    }
    if (costPerMinuteMax === undefined || !this.#costMean) return count;
    const aMinute = costPerMinuteMax * this.#portion;
    const [perSecond, depth] = [aMinute / 60, aMinute / COST_BURSTS_A_MINUTE];
    return Math.min(count, this.#costs.within(ms, perSecond, depth, nowMs) / this.#costMean);
  }

  /** How many in the long run. */
  get callsPerSecond(): number {
    const whole = this.allPerSecond;
    // No part of what nobody has bounded is bounded, not even none of it.
    return Number.isFinite(whole) ? whole * this.#portion : whole;
  }

  /** The same of all pods together; more than any number where none were declared. */
  get allPerSecond(): number {
    const { perSecondMax = Number.POSITIVE_INFINITY, costPerMinuteMax } = this.#declared;
    const costs = costPerMinuteMax ?? Number.POSITIVE_INFINITY;
    return Math.min(perSecondMax, costs / 60 / (this.#costMean || 1));
  }

  spend(cost: number, nowMs: number): void {
    this.#costMean = this.#costMean === undefined ? cost : 0.9 * this.#costMean + 0.1 * cost;
    if (this.#declared.perSecondMax !== undefined) this.#calls.take(1);
    this.charge(cost, nowMs);
  }

  /** A figure that is wrong by far must not stop all calls for good. */
  charge(cost: number, nowMs: number): void {
    const { costPerMinuteMax } = this.#declared;
    if (costPerMinuteMax === undefined) return;
    const aMinute = costPerMinuteMax * this.#earning;
    this.#costs.take(Math.min(cost, DEBT_MINUTES_MAX * aMinute));
    if (cost > 0) this.#chargedMs = nowMs;
  }

  #forgivenInMs(nowMs: number): number {
    const isOwing = this.#costs.owed > 0;
    return isOwing ? this.#chargedMs + DEBT_MS_MAX - nowMs : Number.POSITIVE_INFINITY;
  }

  /** Nor for longer where its portion is less by then. */
  #forgive(nowMs: number): void {
    if (nowMs - this.#chargedMs >= DEBT_MS_MAX) this.#costs.forgive();
  }
}

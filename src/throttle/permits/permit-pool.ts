/**
 * The permits of one API in one process. A call may begin where a permit is free, the pace allows it, the
 * API did not ask to be left alone and the breaker is closed. A refused call keeps its permit for about
 * as long as a good one would have: refusals come back fast, and a permit that was free at once would
 * turn one call too many into dozens of refusals a second. Time and chance are arguments.
 */

import {
  BRAKE_WEIGHT,
  type CallOutcome,
  isWell,
  NONE_ENDED,
  type OutcomeKind,
} from '../answers/outcome.ts';
import { type Ceilings, less } from '../ceilings.ts';
import type { Law, PaceRule } from '../laws/index.ts';
import { PRIORITIES, type Priority, type ThrottlePolicy } from '../policy.ts';
import { Late } from '../record/late.ts';
import { bucketOf, Latencies, LatencyTally } from '../record/latencies.ts';
import { isOther, Others } from '../record/others.ts';
import { Seconds } from '../record/seconds.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { DeclaredRates } from './declared-rates.ts';
import { Heap } from './heap.ts';
import { Pace } from './pace.ts';
import { Pause } from './pause.ts';
import { RESET_MS_MIN, rateBoundBy, type ToldRate, ToldRoom } from './told-room.ts';

export interface Permit {
  readonly priority: Priority;
  readonly cost: number;
  readonly sentMs: number;
  readonly wasFull: boolean;
  readonly wasPaced: boolean;
  readonly isProbe: boolean;
}

/** Why no call may begin now. */
export type Closed = 'full' | 'paced' | 'paused' | 'open' | 'none';

/** How long a class that had calls to make keeps what is reserved for it. */
const ACTIVE_MS = 30_000;
const RANK = Object.fromEntries(PRIORITIES.map((priority, rank) => [priority, rank])) as Readonly<
  Record<Priority, number>
>;
const LATENCY_CALLS = 100;
const COOL_MS_GUESS = 500;
const LOOK_MS_MIN = 1;
const LOOK_MS = 1_000;

export class PermitPool {
  readonly #policy: ThrottlePolicy;
  readonly #law: Law;
  readonly breaker: Breaker | undefined;
  readonly seconds = new Seconds();
  readonly others = new Others();
  readonly late = new Late();
  readonly latencies = new Latencies(LATENCY_CALLS);
  readonly tally = new LatencyTally();
  /** How many calls have ended, by how. */
  readonly ended: Record<OutcomeKind, number> = { ...NONE_ENDED };
  readonly #cooling = new Heap();
  readonly #pace = new Pace(3);
  readonly declared: DeclaredRates;
  readonly #inFlightBy = PRIORITIES.map(() => 0);
  readonly #activeMs = PRIORITIES.map(() => Number.NEGATIVE_INFINITY);
  #inFlight = 0;
  readonly #pause = new Pause();
  readonly #told = new ToldRoom(RESET_MS_MIN);
  #closed: Closed = 'none';
  #hasPaced = false;

  constructor(policy: ThrottlePolicy, law: Law) {
    this.#policy = policy;
    this.#law = law;
    this.breaker = policy.breaker && new Breaker(policy.breaker);
    this.declared = new DeclaredRates(policy);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  inFlightOf(priority: Priority): number {
    return this.#inFlightBy[RANK[priority]]!;
  }

  cooling(nowMs: number): number {
    this.#cooling.dropUntil(nowMs);
    return this.#cooling.size;
  }

  /** Whole permits: at least one call at a time, as long as there is anything to have. */
  limit(nowMs: number): number {
    const limit = Math.min(this.#law.limit(nowMs), this.#policy.inFlightMax);
    return limit <= 0 ? 0 : Math.max(1, Math.floor(limit + 1e-9));
  }

  breakerState(nowMs: number): BreakerState {
    return this.breaker?.state(nowMs) ?? 'closed';
  }

  get pausedUntilMs(): number {
    return this.#pause.untilMs;
  }

  /** For how long the API told this very process to leave it alone; others tell what they were told. */
  toldPausedMs(nowMs: number): number {
    return this.#pause.toldMs(nowMs);
  }

  /** Somebody else was told to leave the API alone until then. */
  pauseUntil(untilMs: number): void {
    this.#pause.until(untilMs);
  }

  /** Others were answered, and their calls took so long. */
  knowLatency(ms: number): void {
    this.#pause.isKnown = true;
    this.#law.knowLatency?.(ms);
  }

  /** Less than a permit is all there is: so much of a call is there to begin with. */
  beginPaced(part: number, nowMs: number): void {
    this.#pace.restart(part, nowMs);
  }

  /** How many calls may begin within so long by what was declared, or by a law that is a rate itself. */
  callsWithin(ms: number, nowMs: number): number {
    const declared = this.declared.callsWithin(ms, nowMs);
    if (this.#policy.law !== 'token-bucket') return declared;
    const { perSecond, depth } = this.#law.pace(nowMs)!;
    return Math.min(declared, this.#pace.within(ms, perSecond, depth, nowMs));
  }

  /** How many a second of them, in the long run. */
  callsPerSecond(nowMs: number): number {
    const declared = this.declared.callsPerSecond;
    if (this.#policy.law !== 'token-bucket') return declared;
    return Math.min(declared, this.#law.pace(nowMs)!.perSecond);
  }

  /** Why the last try got nothing. */
  get closed(): Closed {
    return this.#closed;
  }

  /** A permit, if there is one now. */
  take(priority: Priority, cost: number, nowMs: number): Permit | undefined {
    const rank = RANK[priority];
    const limit = this.limit(nowMs);
    const pace = this.#law.pace(nowMs);
    this.#activeMs[rank] = nowMs;
    this.#closed = this.#whyClosed(rank, limit, pace, cost, nowMs);
    if (this.#closed !== 'none') {
      this.#hasPaced ||= this.#closed === 'paced' && isLacking(this.#pace, pace, nowMs);
      return undefined;
    }
    if (pace) this.#pace.take(1);
    this.declared.spend(cost, nowMs);
    this.#inFlight++;
    this.#inFlightBy[rank]!++;
    this.seconds.sent(nowMs);
    const wasFull = this.#inFlight + this.#cooling.size >= limit;
    const wasPaced = this.#hasPaced;
    this.#hasPaced = false;
    return {
      priority,
      cost,
      sentMs: nowMs,
      wasFull,
      wasPaced,
      isProbe: this.breaker?.started(nowMs) ?? false,
    };
  }

  /** Gives the permit back, at once or when it has cooled. */
  end(permit: Permit, outcome: CallOutcome, nowMs: number, chance: number): void {
    const { kind } = outcome;
    const latencyMs = nowMs - permit.sentMs;
    this.#inFlight--;
    this.#inFlightBy[RANK[permit.priority]]!--;
    this.ended[kind]++;
    this.seconds.ended(kind, permit.sentMs, latencyMs);
    if (isOther(kind)) this.others.ended(permit.sentMs);
    this.late.ended(kind, permit.sentMs);
    // Of an API that has only ever answered that nothing was found, that is how long calls take.
    if (kind === 'ok' || (kind === 'client' && this.ended.ok === 0)) {
      const bucket = bucketOf(latencyMs);
      this.latencies.recordBucket(bucket);
      this.tally.record(latencyMs, bucket);
    }
    if (isOther(kind) && isWell(kind)) this.tally.other();
    this.breaker?.ended(kind, permit.isProbe, nowMs, chance);
    const { sentMs, wasFull, wasPaced } = permit;
    const weight = BRAKE_WEIGHT[kind];
    this.#law.ended({ kind, weight, sentMs, latencyMs, wasFull, wasPaced }, nowMs);
    this.#pause.note(outcome, nowMs, chance);
    const cost = outcome.cost ?? permit.cost;
    this.#told.note(outcome, cost, nowMs);
    const costLeft = cost - permit.cost;
    if (costLeft !== 0) this.declared.charge(costLeft, nowMs);
    const coolUntilMs = this.#coolUntil(kind, permit.sentMs, nowMs, chance);
    if (coolUntilMs > nowMs) this.#cooling.push(coolUntilMs);
  }

  /** What the API itself says of its room, while that is fresh. */
  told(nowMs: number): ToldRate | undefined {
    return this.#told.rate(nowMs);
  }

  /** The least that any pod has declared, or that the API's headers leave here or told another pod. */
  boundRates(by: Ceilings & { readonly toldPerSecond?: number | undefined }, nowMs: number): void {
    const told = less(by.toldPerSecond, this.told(nowMs)?.perSecondHint);
    // Every permit passes here, and a quantile is dear.
    if (told === undefined) return this.declared.bound(by, nowMs);
    const latencyMs = this.latencies.quantile(0.5);
    const bound = rateBoundBy(told, { isAdaptive: this.#policy.isAdaptive, latencyMs });
    this.declared.bound({ ...by, perSecondMax: less(by.perSecondMax, bound) }, nowMs);
  }

  /** When it is worth another look, if no permit is given back before. */
  lookAtMs(cost: number, nowMs: number): number {
    switch (this.#closed) {
      case 'paused':
        return this.#pause.untilMs;
      case 'open':
        // Half open, a probe is out, and its end is told.
        return this.breaker!.retryAtMs > nowMs ? this.breaker!.retryAtMs : nowMs + LOOK_MS;
      case 'paced':
        return nowMs + Math.max(LOOK_MS_MIN, this.#paceWaitMs(this.#law.pace(nowMs), cost, nowMs));
      default:
        // The limit may have grown by itself, too: that is looked at once in a while.
        return Math.min(this.#cooling.first ?? Number.POSITIVE_INFINITY, nowMs + LOOK_MS);
    }
  }

  #whyClosed(
    rank: number,
    limit: number,
    pace: PaceRule | undefined,
    cost: number,
    nowMs: number,
  ): Closed {
    if (nowMs < this.#pause.untilMs) return 'paused';
    if (this.breaker && !this.breaker.mayStart(nowMs)) return 'open';
    const free = limit - this.#inFlight - this.cooling(nowMs);
    if (free <= 0 || free <= this.#reservedAbove(rank, limit, nowMs)) return 'full';
    return this.#paceWaitMs(pace, cost, nowMs) > 0 ? 'paced' : 'none';
  }

  /**
   * What is kept for higher classes that have had calls to make lately, and have not out yet. Rounded
   * down: of a few permits one that is idle costs a good part of the API, and spares little of a wait.
   */
  #reservedAbove(rank: number, limit: number, nowMs: number): number {
    let kept = 0;
    for (let above = 0; above < rank; above++) {
      if (nowMs - this.#activeMs[above]! > ACTIVE_MS) continue;
      const share = this.#policy.reserve[PRIORITIES[above]!];
      const reserve = Math.floor(share * limit);
      kept += Math.max(0, reserve - this.#inFlightBy[above]!);
    }
    return kept;
  }

  #paceWaitMs(pace: PaceRule | undefined, cost: number, nowMs: number): number {
    const waitMs = this.declared.waitMs(cost, nowMs);
    if (!pace || !isLacking(this.#pace, pace, nowMs)) return waitMs;
    return Math.max(waitMs, this.#pace.waitMs(1, pace.perSecond, pace.depth));
  }

  #coolUntil(kind: OutcomeKind, sentMs: number, nowMs: number, chance: number): number {
    switch (kind) {
      case 'throttled':
      case 'overload':
        return sentMs + (this.latencies.quantile(0.5) ?? COOL_MS_GUESS) * (0.7 + 0.6 * chance);
      case 'timeout':
        // The API is probably still at work on it.
        return nowMs + (this.latencies.quantile(0.95) ?? COOL_MS_GUESS);
      case 'cancelled':
        return sentMs + (this.latencies.quantile(0.5) ?? 0);
      default:
        return nowMs;
    }
  }
}

/** Whether it is the law that holds calls back, and no declared rate. */
function isLacking(pace: Pace, rule: PaceRule | undefined, nowMs: number): boolean {
  return rule !== undefined && !pace.has(1, rule.perSecond, rule.depth, nowMs);
}

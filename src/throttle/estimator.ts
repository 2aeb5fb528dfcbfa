/**
 * How many calls at once an API truly takes, found out from what became of them. What it lets in while
 * it refuses some IS its capacity; so one look at that replaces many rounds of trial and error. Between
 * refusals it tries a little more from time to time, and comes back to what went well.
 *
 *   first contact ──refused──▶ settled at what was let in ──long clean──▶ a little more ──refused──▶ …
 *
 * Pure: it is told what was seen, and when. One process does it for itself, or one pod for all.
 */
import { Hints } from './hints.ts';
import type { LatencyCounts } from './latencies.ts';
import type { Bad, Learned } from './learned.ts';
import { QueueWatch } from './queue-watch.ts';
import type { Second } from './seconds.ts';

export interface EstimatorRule {
  /** Permits to begin with, where nothing is known. */
  readonly start: number;
  /** Never more permits than this. */
  readonly inFlightMax: number;
  /** Never more calls a second than this, if there is such a limit. */
  readonly perSecondMax?: number | undefined;
  /** Whether to try more than went well. */
  readonly probes: boolean;
  /** Refused calls use up the quota as well: begin carefully. */
  readonly chargesRefusals: boolean;
  /** Whether growing latency means that calls queue up there. */
  readonly heedsLatency: boolean;
}

/** What was seen since the last time. */
export interface Sight {
  /** Seconds that are over, with whatever was refused in them. */
  readonly seconds: readonly Second[];
  /** When the last of them was over. */
  readonly untilMs: number;
  readonly latencies: LatencyCounts;
  readonly latencyMsSum: number;
  readonly answers: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** Permits on their way from one pod to another, which nobody can have used. */
  readonly moving?: number | undefined;
  /** What the API itself says it has room for. */
  readonly perSecondHint?: number | undefined;
}

export interface Tempo {
  /** How often it is asked. */
  readonly tickMs: number;
  /** How long it takes until everybody heeds a new cap. */
  readonly delayMs: number;
}

export type Decision = 'hold' | 'first' | 'cut' | 'trim' | 'latency' | 'probe' | 'bisect' | 'hint';

const CAP_MIN = 0.05;
const SATURATED_SHARE = 0.005;
const FELL_SHARE = 0.88;
const BAD_KEPT_MS = 25_000;
const USED_SHARE = 0.85;
const SETTLE_MS = 1_500;
/** Slowly where a limit was near before; where that is long behind, faster with every step. */
const GROWTHS = [1.1, 1.3, 1.5] as const;
const NEAR_GROWTH = 1.03;

export class Estimator {
  readonly #rule: EstimatorRule;
  #cap: number;
  #good: number | undefined;
  #bad: Bad | undefined;
  #changedMs: number;
  #fallenTicks = 0;
  #growths = 0;
  /** Since when, under the cap as it is, the cap was used and nothing refused. */
  #cleanFromMs = Number.NEGATIVE_INFINITY;
  #latencyMs: number | undefined;
  /** What was too much at first contact: up to there it goes in small steps. */
  #tooMuch = 0;
  #seenMs = Number.NEGATIVE_INFINITY;
  /** The second of the first call of all. */
  #firstAt: number | undefined;
  readonly #queue = new QueueWatch();
  readonly #hints = new Hints();

  constructor(rule: EstimatorRule, learned?: Learned | undefined) {
    this.#rule = rule;
    this.#good = learned?.good;
    this.#bad = learned?.bad;
    this.#changedMs = learned?.changedMs ?? Number.NEGATIVE_INFINITY;
    this.#latencyMs = learned?.latencyMs;
    this.#cap = this.#bounded(learned?.cap ?? rule.start);
  }

  /** Permits, not rounded: below one, calls are paced. */
  get cap(): number {
    return this.#cap;
  }

  get learned(): Learned {
    const changedMs = Number.isFinite(this.#changedMs) ? this.#changedMs : undefined;
    const latencyMs = this.#latencyMs;
    return { cap: this.#cap, good: this.#good, latencyMs, bad: this.#bad, changedMs };
  }

  /** The cap is divided for the first time: until all have heard of that, they called by no cap. */
  begin(nowMs: number): void {
    this.#changedMs = nowMs;
  }

  tick(sight: Sight, nowMs: number, { tickMs, delayMs }: Tempo): Decision {
    this.#noteLatency(sight, nowMs);
    const settledMs = this.#changedMs + delayMs + this.#roundMs(SETTLE_MS);
    const seconds = this.#whole(sight.seconds).filter(({ at }) => at * 1_000 >= settledMs);
    this.#queue.noteAnswers(sight.answers, tickMs, nowMs);
    const hinted = this.#byHint(sight, nowMs);
    if (hinted) return hinted;
    // No second was over since: that is not a time in which nothing was called.
    if (sight.untilMs <= this.#seenMs) return 'hold';
    this.#seenMs = sight.untilMs;
    const saturated = seconds.filter(isSaturated);
    if (saturated.length > 0) return this.#refused(saturated, seconds, sight, nowMs, tickMs);
    this.#fallenTicks = 0;
    // Who does not use the cap learns nothing about it.
    if (!this.#isUsed(seconds, sight, tickMs)) {
      this.#cleanFromMs = sight.untilMs;
      return 'hold';
    }
    this.#cleanFromMs = Math.max(this.#cleanFromMs, settledMs);
    const pressure = this.#rule.heedsLatency ? this.#queue.pressure : 'none';
    if (pressure === 'cut' && nowMs >= settledMs + tickMs) return this.#drainQueue(nowMs);
    if (pressure !== 'none') return 'hold';
    return this.#grow(sight, nowMs, tickMs);
  }

  /** Calls began somewhere within the first one: what was let in since is no measure of a second. */
  #whole(seconds: readonly Second[]): readonly Second[] {
    this.#firstAt ??= seconds[0]?.at;
    if (this.#good !== undefined) return seconds;
    return seconds.filter(({ at }) => at !== this.#firstAt);
  }

  #isUsed(seconds: readonly Second[], { inFlight, moving = 0 }: Sight, tickMs: number): boolean {
    const latencyMs = this.#latencyMs ?? 0;
    // First contact doubles: there, what is on its way is rather waited for.
    const missing = this.#good === undefined ? 0 : moving;
    const wanted = USED_SHARE * (Math.floor(this.#cap) - missing);
    if (latencyMs > tickMs) return inFlight >= wanted;
    const perSecond = sum(seconds.map(({ sent }) => sent)) / Math.max(1, seconds.length);
    return (perSecond * latencyMs) / 1_000 >= wanted;
  }

  #refused(
    saturated: readonly Second[],
    seconds: readonly Second[],
    sight: Sight,
    nowMs: number,
    tickMs: number,
  ): Decision {
    this.#cleanFromMs = sight.untilMs;
    this.#growths = 0;
    const force = this.#cap;
    const accepted = saturated.map(({ sent, throttled }) => sent - throttled);
    const latencyS = (this.#latencyMs ?? 1_000) / 1_000;
    const rateMax = Math.max(...accepted);
    let room = ((sum(accepted) / accepted.length + rateMax) / 2) * latencyS;
    let roomMax = rateMax * latencyS;
    // Over a time shorter than a call, starts come in bunches: then what is in flight is what fits.
    if (latencyS * 1_000 > tickMs) {
      room = Math.min(room, Math.max(1, sight.inFlight));
      roomMax = Math.min(roomMax, Math.max(1, sight.inFlight));
    }
    const refusedShare = shareOf(seconds);
    // What was refused while more was tried than ever went well says nothing of a fall.
    const usable = Math.min(force, this.#good ?? force) - (sight.moving ?? 0);
    const hasFallen = roomMax < FELL_SHARE * usable;
    this.#fallenTicks = hasFallen ? this.#fallenTicks + 1 : 0;
    // One second may be a bad one; several, or most of the calls, are not by chance.
    const isPlain = refusedShare >= (saturated.length > 1 ? 0.05 : 0.2);
    const isSure = hasFallen && (isPlain || this.#fallenTicks >= 2);
    if (this.#good === undefined || isSure) {
      this.#tooMuch = this.#good === undefined ? force : 0;
      this.#settle(Math.max(room, 0.5 * force) * 0.97, 'cut', nowMs);
      // Not known to be bad, but near what is: from here on it goes slowly at first.
      this.#bad = { cap: this.#cap * 1.04, atMs: nowMs - badKeptMs(tickMs) };
      return 'cut';
    }
    if (hasFallen) return 'hold';
    this.#bad = { cap: force, atMs: nowMs };
    // A permit too many shows as its share of refusals, which is less noisy than what was let in.
    const isNear = force <= 1.15 * this.#good;
    const fits = isNear ? force * (1 - 1.1 * shareOf(saturated)) : 0;
    return this.#settle(Math.max(Math.min(this.#good, room), fits) * 0.992, 'trim', nowMs);
  }

  #settle(cap: number, decision: Decision, nowMs: number): Decision {
    this.#change(cap, nowMs);
    this.#good = this.#cap;
    return decision;
  }

  #grow({ untilMs }: Sight, nowMs: number, tickMs: number): Decision {
    const isFirst = this.#good === undefined;
    // A burst that was saved up hides a small excess for a while; a large one it does not hide.
    const cleanMs = isFirst || this.#growths >= 1 ? tickMs : 3 * tickMs;
    if (untilMs - this.#cleanFromMs < this.#roundMs(cleanMs)) return 'hold';
    if (isFirst) {
      this.#change(this.#cap * (this.#rule.chargesRefusals ? 1.5 : 2), nowMs);
      return 'first';
    }
    this.#good = Math.max(this.#good!, this.#cap);
    const bad = this.#bad;
    const isFresh = bad !== undefined && nowMs - bad.atMs < badKeptMs(tickMs);
    if (bad && isFresh && bad.cap / this.#cap > 1.1) {
      this.#change(Math.sqrt(this.#cap * bad.cap * 0.97), nowMs);
      return 'bisect';
    }
    if (isFresh) return 'hold';
    const isNear = bad !== undefined && this.#cap < bad.cap;
    const growths = this.#cap < this.#tooMuch ? 0 : Math.min(this.#growths, GROWTHS.length - 1);
    const factor = isNear ? NEAR_GROWTH : GROWTHS[growths]!;
    if (!isNear) this.#growths++;
    this.#change(Math.max(this.#cap * factor, Math.floor(this.#cap) + 1), nowMs);
    return 'probe';
  }

  #drainQueue(nowMs: number): Decision {
    const { room } = this.#queue;
    this.#growths = 0;
    this.#queue.forgetLatencies();
    this.#settle(room > 0 ? Math.min(this.#cap, room) : this.#cap * 0.7, 'latency', nowMs);
    // There is no edge to look for between here and there: the line grows with every call too many.
    this.#bad = { cap: this.#cap * 1.05, atMs: nowMs };
    return 'latency';
  }

  #byHint({ perSecondHint, seconds }: Sight, nowMs: number): Decision | undefined {
    if (perSecondHint === undefined || this.#latencyMs === undefined) return undefined;
    const said = (perSecondHint * this.#latencyMs) / 1_000;
    const believed = this.#hints.believed(said, this.#cap, seconds.some(isSaturated), nowMs);
    if (believed === undefined) return undefined;
    const cap = this.#bounded(believed);
    const isSame = Math.abs(cap - this.#cap) / this.#cap < 0.02;
    return isSame ? 'hold' : this.#settle(cap, 'hint', nowMs);
  }

  #noteLatency({ latencies, latencyMsSum, answers }: Sight, nowMs: number): void {
    if (answers > 0) {
      const mean = latencyMsSum / answers;
      const weight = Math.min(0.5, answers / (answers + 50));
      this.#latencyMs =
        this.#latencyMs === undefined ? mean : this.#latencyMs + weight * (mean - this.#latencyMs);
    }
    this.#queue.noteLatencies(latencies, nowMs);
  }

  /** What one step changed is seen one call later at the earliest. */
  #roundMs(ms: number): number {
    return Math.max(ms, 1.5 * (this.#latencyMs ?? 0));
  }

  #change(cap: number, nowMs: number): void {
    const bounded = this.#bounded(cap);
    if (bounded === this.#cap) return;
    this.#cap = bounded;
    this.#changedMs = nowMs;
    this.#cleanFromMs = nowMs;
  }

  #bounded(cap: number): number {
    const { inFlightMax: most, perSecondMax, probes, start } = this.#rule;
    // Without trying there is no more to be had than there was at the beginning.
    const inFlightMax = probes ? most : Math.min(most, start);
    const latencyS = (this.#latencyMs ?? 0) / 1_000;
    const byRate =
      perSecondMax !== undefined && latencyS > 0
        ? Math.max(1, perSecondMax * latencyS * 1.1)
        : inFlightMax;
    return Math.max(CAP_MIN, Math.min(cap, inFlightMax, byRate));
  }
}

/** The slower word gets around, the longer an overshoot lasts: then it is risked less often. */
function badKeptMs(tickMs: number): number {
  return Math.max(BAD_KEPT_MS, 12 * tickMs);
}

function isSaturated({ sent, throttled }: Second): boolean {
  return throttled >= Math.max(1, SATURATED_SHARE * sent);
}

function shareOf(seconds: readonly Second[]): number {
  return sum(seconds.map((second) => second.throttled)) / sum(seconds.map(({ sent }) => sent));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

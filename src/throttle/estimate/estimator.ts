/**
 * How many calls at once an API truly takes, found out from what became of them. What it lets in while
 * it refuses some IS its capacity; so one look at that replaces many rounds of trial and error. Between
 * refusals it tries a little more from time to time, and comes back to what went well.
 *
 *   first contact ──refused──▶ settled at what was let in ──long clean──▶ a little more ──refused──▶ …
 *
 * Pure: it is told what was seen, and when. One process does it for itself, or one pod for all.
 */
import type { Second } from '../record/seconds.ts';
import { Falls } from './before-falls.ts';
import { Cap } from './cap.ts';
import type { Decision, EstimatorRule } from './estimator-rule.ts';
import { isFallen, type Standing, showFall } from './fall.ts';
import { FirstContact, type Next, type Taken } from './first-contact.ts';
import { badKeptMs, cleanMsOf, type Footing, isFresh, nextStep } from './growth.ts';
import { Hints } from './hints.ts';
import { type Bad, type Learned, latencyOf } from './learned.ts';
import { LetIn } from './let-in.ts';
import { LineTrial } from './line-trial.ts';
import { Pauses } from './pauses.ts';
import { type Fewer, QueueWatch } from './queue-watch.ts';
import { capWithin, isPlain, isSaturated, meanWith, roomOf } from './room.ts';
import { Shut } from './shut.ts';
import type { Look, Sight, Tempo } from './sight.ts';
import { TooMuch } from './too-much.ts';
import { trimmed } from './trim.ts';
import { areTimingOut, isUsed } from './used.ts';

const SETTLE_MS = 1_500;
/** The most that is cut at once; at first contact, as much as it may have grown by in one step. */
const [CUT, FIRST_CUT] = [0.5, 0.4];

export class Estimator {
  readonly #rule: EstimatorRule;
  readonly #cap: Cap;
  #good: number | undefined;
  #bad: Bad | undefined;
  #fallenTicks = 0;
  #growths = 0;
  #latencyMs: number | undefined;
  readonly #tooMuch = new TooMuch();
  #seenMs = Number.NEGATIVE_INFINITY;
  readonly #letIn = new LetIn();
  readonly #shut = new Shut();
  readonly #falls: Falls;
  readonly #pauses = new Pauses();
  readonly #queue: QueueWatch;
  readonly #trial: LineTrial;
  readonly #hints = new Hints();
  readonly #first: FirstContact;

  constructor(rule: EstimatorRule, known?: Learned | undefined) {
    this.#rule = rule;
    const learned = rule.isAdaptive ? known : known && latencyOf(known);
    [this.#good, this.#bad] = [learned?.good, learned?.bad];
    this.#falls = new Falls(learned?.fellFrom);
    this.#latencyMs = learned?.latencyMs;
    this.#queue = new QueueWatch(learned?.baseMs);
    this.#trial = new LineTrial(this.#queue);
    this.#first = new FirstContact(rule, grownBefore(rule, learned));
    const cap = rule.isAdaptive ? this.#bounded(learned?.cap ?? rule.start) : rule.inFlightMax;
    this.#cap = new Cap(cap, learned?.changedMs);
  }

  /** Permits, not rounded, and never less than one. */
  get cap(): number {
    return this.#cap.value;
  }

  get learned(): Learned {
    const changedMs = Number.isFinite(this.#cap.changedMs) ? this.#cap.changedMs : undefined;
    const [latencyMs, { baseMs }] = [this.#latencyMs, this.#queue];
    const [cap, good, bad, fellFrom] = [this.cap, this.#good, this.#bad, this.#falls.from];
    return { cap, good, latencyMs, baseMs, bad, fellFrom, changedMs };
  }

  /** The cap is divided for the first time: until all have heard of that, they called by no cap. */
  begin(nowMs: number): void {
    this.#cap.changedMs = nowMs;
  }

  /** What is more than before may be used from then on: only what was seen since says anything of it. */
  growsAt(atMs: number): void {
    this.#cap.growsAt(atMs);
  }

  tick(sight: Sight, nowMs: number, { tickMs, delayMs }: Tempo): Decision {
    this.#noteLatency(sight, nowMs);
    if (!this.#rule.isAdaptive) return 'hold';
    const settledMs = this.#cap.inForceMs(delayMs) + this.#roundMs(SETTLE_MS);
    const whole = this.#good ? sight.seconds : this.#first.whole(sight.seconds);
    const isFall = this.#cap.isSmall && showFall(whole, this.#standing(sight, tickMs));
    const seconds = isFall ? whole : whole.filter(({ at }) => at * 1_000 >= settledMs);
    this.#pauses.note(sight.pausedUntilMs);
    this.#shut.note(whole, this.cap);
    this.#queue.noteAnswers(sight.answers, tickMs, nowMs);
    const hinted = this.#byHint(sight, nowMs);
    // No second was over since: that is not a time in which nothing was called.
    if (hinted || sight.untilMs <= this.#seenMs) return hinted ?? 'hold';
    this.#seenMs = sight.untilMs;
    // A large step at first contact shows at once whether it was too large.
    const isNew = this.#good === undefined && this.#cap.hasGrown;
    const saturated = (isNew ? whole : seconds).filter(isSaturated);
    // A refusal that stops everybody is the only one: it counts however soon after the cap has grown.
    const sinceMs = this.#cap.hasGrown ? this.#cap.changedMs : settledMs;
    const stopped = this.#pauses.cutShort(whole.filter(isSaturated), sinceMs);
    const seen = isNew || stopped.length > 0 ? whole : seconds;
    const look = { ...sight, nowMs, tickMs, seconds: seen };
    if (stopped.length > 0) return this.#stopped(stopped, look);
    if (saturated.length > 0) return this.#refused(saturated, look);
    this.#letIn.note(seconds);
    this.#fallenTicks = 0;
    const isSettled = nowMs >= settledMs + tickMs;
    if (isSettled && this.#rule.heedsLatency) this.#first.note(sight.latencies, sight.answers);
    const tried = isSettled && this.#endTrial(nowMs);
    if (tried) return tried;
    if (isSettled && this.#good === undefined && areTimingOut(seconds)) return this.ill(nowMs);
    // Who does not use the cap learns nothing about it.
    if (!this.#isUsed(seconds, sight, tickMs)) {
      this.#cap.cleanFromMs = sight.untilMs;
      return 'hold';
    }
    this.#cap.cleanFromMs = Math.max(this.#cap.cleanFromMs, settledMs);
    if (this.#queue.isTrying) return 'hold';
    const isTried = this.#rule.heedsLatency && isSettled && this.#good !== undefined;
    const fewer = isTried ? this.#queue.fewerThan(this.cap, nowMs) : undefined;
    if (fewer) return this.#tryFewer(fewer, nowMs);
    const isPressed = this.#rule.heedsLatency && this.#queue.pressure !== 'none';
    return isPressed && this.#good ? 'hold' : this.#grow(sight, nowMs, tickMs, isPressed);
  }

  #isUsed(seconds: readonly Second[], sight: Sight, tickMs: number): boolean {
    const [cap, latencyMs, isFirst] = [this.cap, this.#latencyMs ?? 0, this.#good === undefined];
    return isUsed(cap, sight, { seconds, latencyMs, tickMs, isFirst, rule: this.#rule });
  }

  #stopped(stopped: readonly Second[], look: Look): Decision {
    const [force, good] = [this.cap, this.#good];
    if (good === undefined || this.#shut.since) return this.#refused(stopped, look);
    this.#noteRefused(stopped, look);
    if (force > good) this.#falls.inVain(force);
    else this.#falls.fell(look.nowMs);
    const cap = this.#pauses.lessThan(force, good, stopped);
    return this.#settle(cap, 'trim', look.nowMs, { cap: force, atMs: look.nowMs });
  }

  /** Whether calls were let in between refusals. */
  #noteRefused(saturated: readonly Second[], { seconds, untilMs }: Look): boolean {
    this.#cap.cleanFromMs = untilMs;
    this.#growths = 0;
    this.#queue.dropTrial();
    return this.#letIn.beforeRefusals(saturated, seconds, untilMs);
  }

  #refused(saturated: readonly Second[], look: Look): Decision {
    const [{ seconds, nowMs, tickMs }, force] = [look, this.cap];
    const hasLetIn = this.#noteRefused(saturated, look);
    const standing = this.#standing(look, tickMs);
    const room = roomOf(saturated, standing);
    const hasFallen = isFallen(room.roomMax, standing);
    this.#pauses.refusedWithout();
    this.#fallenTicks = hasFallen ? this.#fallenTicks + 1 : 0;
    const isSure = hasFallen && (isPlain(saturated, seconds) || this.#fallenTicks >= 2);
    const isShut = !hasFallen && !hasLetIn && !isFresh(this.#footing(nowMs), nowMs, tickMs);
    if (this.#good === undefined || isSure || isShut) {
      this.#tooMuch.fell(force, this.#good === undefined, hasLetIn);
      this.#falls.fell(nowMs, this.#shut.sinceOrLast, this.#good === undefined && !hasLetIn);
      const least = (this.#good === undefined ? FIRST_CUT : CUT) * force;
      this.#settle(Math.max(room.room, least) * 0.97, 'cut', nowMs);
      // Not known to be bad, but near what is: from here on it goes slowly at first. Who lets nothing in at
      // all says nothing of how much is too much.
      const cap = this.cap * (hasLetIn ? 1.04 : 0.9);
      this.#bad = { cap, atMs: nowMs - badKeptMs(this.#footing(nowMs), tickMs) };
      return 'cut';
    }
    if (hasFallen) return 'hold';
    this.#tooMuch.refused(force);
    if (hasLetIn) this.#bad = { cap: force, atMs: nowMs };
    if (force > this.#good) this.#falls.inVain(force);
    const cap = trimmed({ force, good: this.#good }, room, saturated);
    return this.#settle(cap, 'trim', nowMs);
  }

  #standing({ inFlight, moving }: Sight, tickMs: number): Standing {
    const [cap, good, latencyMs] = [this.cap, this.#good, this.#latencyMs];
    return { ...this.#rule, cap, good, moving, latencyMs, tickMs, inFlight };
  }

  #settle(cap: number, decision: Decision, nowMs: number, bad = this.#bad): Decision {
    this.#change(cap, nowMs);
    [this.#good, this.#bad] = [this.cap, bad];
    return decision;
  }

  #grow({ untilMs, moving }: Sight, nowMs: number, tickMs: number, isPressed: boolean): Decision {
    // Shut from the first call on, it has told nothing but that.
    if (this.#falls.isNew(this.cap)) [this.#good, this.#bad] = [undefined, undefined];
    const isFirst = this.#good === undefined;
    const cleanMs = isFirst
      ? this.#first.cleanMs(this.#latencyMs, tickMs)
      : cleanMsOf(this.#footing(nowMs), tickMs);
    if (untilMs - this.#cap.cleanFromMs < this.#roundMs(cleanMs)) return 'hold';
    if (isFirst) return this.#goOn(this.#first.next(this.cap, moving, isPressed), nowMs);
    this.#good = Math.max(this.#good!, this.cap);
    this.#pauses.wentWell();
    this.#tooMuch.wentWell();
    this.#falls.wentWell(this.cap, untilMs - this.#cap.cleanFromMs);
    if (this.#falls.isBack(this.cap)) {
      [this.#growths, this.#bad] = [0, { cap: this.cap * 1.03, atMs: nowMs }];
    }
    const step = nextStep(this.#footing(nowMs), nowMs, tickMs);
    if (!step || this.#queue.isFar(this.#first.ms)) return 'hold';
    this.#growths += step.isLarge ? 1 : 0;
    this.#change(step.cap, nowMs, step.isLarge);
    return step.decision;
  }

  #goOn(next: Next | undefined, nowMs: number): Decision {
    if (!next) return 'hold';
    this.#change(next.cap, nowMs);
    if (next.foundMs === undefined) return 'first';
    this.#queue.restart(next.foundMs);
    return this.#beginLine(nowMs, next.illCap);
  }

  /** The API is left alone, since most calls failed: so they may have by what was tried last. */
  ill(nowMs: number): Decision {
    if (!this.#rule.isAdaptive || !this.#rule.heedsLatency) return 'hold';
    if (this.#good === undefined) return this.#goOn(this.#first.ill(this.cap), nowMs);
    if (this.cap <= this.#good) return 'hold';
    return this.#settle(this.#good, 'latency', nowMs, { cap: this.cap, atMs: nowMs });
  }

  #footing(nowMs: number): Footing {
    return {
      cap: this.cap,
      bad: this.#bad,
      tooMuch: this.#tooMuch.value,
      growths: this.#growths,
      isLarge: this.#cap.isLarge,
      chargesRefusals: this.#rule.chargesRefusals,
      latencyMs: this.#latencyMs ?? 0,
      before: this.#falls.before(this.cap, nowMs),
      sparedMs: this.#pauses.sparedMs,
    };
  }

  /** Whether there is a line is seen by what comes of fewer at once. */
  #tryFewer(fewer: Fewer, nowMs: number): Decision {
    this.#growths = 0;
    this.#trial.begin(fewer, this.cap, this.#bad);
    this.#settle(fewer.cap, 'latency', nowMs);
    return this.#beginLine(nowMs);
  }

  /** There is no edge to look for between here and there: the line grows with every call too many. */
  #beginLine(nowMs: number, cap = this.cap * 1.05): Decision {
    [this.#good, this.#bad] = [this.cap, { cap, atMs: nowMs }];
    return 'latency';
  }

  #endTrial(nowMs: number): Decision | undefined {
    const end = this.#trial.end(this.cap);
    if (!end) return undefined;
    this.#bad = end.bad;
    this.#settle(end.cap, end.decision, nowMs);
    return end.isLine ? this.#beginLine(nowMs) : end.decision;
  }

  #byHint(sight: Sight, nowMs: number): Decision | undefined {
    const believed = this.#hints.capBy(sight, this.cap, this.#latencyMs, nowMs);
    if (believed === undefined) return undefined;
    const cap = this.#bounded(believed);
    return Math.abs(cap - this.cap) < 0.02 * this.cap ? 'hold' : this.#settle(cap, 'hint', nowMs);
  }

  #noteLatency({ latencies, latencyMsSum, answers }: Sight, nowMs: number): void {
    if (answers > 0) this.#latencyMs = meanWith(this.#latencyMs, latencyMsSum / answers, answers);
    this.#queue.noteLatencies(latencies, nowMs);
  }

  /** What one step changed is seen one call later at the earliest. */
  #roundMs(ms: number): number {
    return Math.max(ms, 1.5 * (this.#latencyMs ?? 0));
  }

  #change(cap: number, nowMs: number, isLarge = false): void {
    if (this.#cap.change(this.#bounded(cap), nowMs, isLarge)) this.#first.forget();
  }

  #bounded(cap: number): number {
    return capWithin(this.#rule, cap, this.#latencyMs);
  }
}

function grownBefore({ start }: EstimatorRule, learned: Learned | undefined): Taken | undefined {
  const { cap = start, baseMs } = learned ?? {};
  return cap > start && baseMs !== undefined ? { cap, ms: baseMs } : undefined;
}

/**
 * What the leading pod does for one API: sums what all pods have reported, asks the estimate, divides the
 * cap, and publishes a few numbers from which every pod finds its own share. Pure: the reports, the time
 * and chance are given. What has been published is all a next leader needs to go on from.
 */

import { Estimator } from '../estimate/estimator.ts';
import type { Decision, EstimatorRule } from '../estimate/estimator-rule.ts';
import type { BreakerState } from '../permits/breaker.ts';
import type { LatencyCounts } from '../record/latencies.ts';
import { RipeSeconds } from '../record/ripe-seconds.ts';
import { addSecond, type Second } from '../record/seconds.ts';
import { areMostOpen, Crowd, type Member, othersOf } from './crowd.ts';
import { FleetBreaker, type FleetBreakerRule } from './fleet-breaker.ts';
import { Hearing } from './hearing.ts';
import { Moves } from './moves.ts';
import { divideRates, havePortionsFallen, wholeOf } from './rates.ts';
import { type Division, divide, ringOf, shareOf } from './shares.ts';
import { keptBy, pausedOf, secondAt } from './silences.ts';
import { HEARD_BEATS, LEASE_BEATS, type PodReport, type Published } from './words.ts';

/** What a person has decided, and how the leader is to find out the rest. */
export interface Tick {
  readonly nowMs: number;
  readonly beatMs: number;
  readonly chance: number;
  /** So many, and nothing is found out meanwhile. */
  readonly pinned?: number | undefined;
  /** For so long whoever leads has lately heard nobody: nobody is taken for gone by that. */
  readonly deafMs?: number | undefined;
}

/** Whoever is not heard for longer takes nothing from a word; and what is said takes a while to be there. */
const SAID_BEATS = LEASE_BEATS + 1;
const SAID_COUNT_MAX = 8;
/** A permit that moves is lost for two heartbeats: of each, one in so many heartbeats is. */
const TENURE_BEATS = 20;
/** A call that lasts longer than so many others may never end. */
const OWED_CALLS = 2;
/** So long calls are thought to last of which none has come back. */
const UNTIMED_BEATS = 8;
/** While word gets around that there is more, nothing moves: else all would have to wait for that. */
const GROWING_BEATS = 1.5;
/** A new limit is looked for by what becomes of it: nothing moves until that can be told. */
const FIRST_GROWING_BEATS = 6;

export class FleetEstimate {
  readonly #estimator: Estimator;
  readonly #breaker: FleetBreaker | undefined;
  readonly #crowd = new Crowd();
  #seenUntil = 0;
  readonly #ripe = new RipeSeconds();
  /** When the last one published: what was to be seen by then has been heeded. */
  readonly #formerMs: number | undefined;
  #epoch: number;
  #said: { readonly madeMs: number; readonly division: Division }[];
  #from: string | undefined;
  /** The pod that wanted a permit last. */
  #wanted: string | undefined;
  #hasGiven = false;
  #movedMs = Number.NEGATIVE_INFINITY;
  /** What was divided last, and when it was more than before. */
  #cap = 0;
  #grewMs = Number.NEGATIVE_INFINITY;
  /** Somebody has more out than its share: the arc stays where it is until that is back. */
  #isOwed = false;
  readonly #moves = new Moves();
  /** By when all have heard of every permit that moved, and of every part of a rate. */
  readonly #hearing = new Hearing();
  readonly #ratesHearing = new Hearing();
  decision: Decision = 'hold';

  constructor(
    rule: EstimatorRule & { readonly breaker?: FleetBreakerRule | undefined },
    former?: Published | undefined,
  ) {
    this.#estimator = new Estimator(rule, former?.learned);
    this.#breaker = rule.breaker && new FleetBreaker(rule.breaker, former?.breaker);
    this.#epoch = former?.epoch ?? 0;
    const known = former ? [...(former.recent ?? []), former.division] : [];
    this.#said = known.map((division) => ({ madeMs: former!.madeMs, division }));
    this.#formerMs = former?.madeMs;
    this.#from = former?.division.arc?.from;
  }

  tick(told: ReadonlyMap<string, PodReport>, tick: Tick): Published {
    const { nowMs, chance, pinned, deafMs = 0 } = tick;
    this.#crowd.hear(told, nowMs, deafMs);
    const { live, lateCount, size } = this.#crowd;
    // Whoever beats least often is the last to hear of it.
    const beatMs = live.reduce((most, { report }) => Math.max(most, report.beatMs), tick.beatMs);
    const untilAt = this.#probedUntil(live) ?? secondAt(nowMs, beatMs);
    const late = this.#newLate(live);
    const fresh = this.#newSeconds(live, untilAt, beatMs);
    const seconds = this.#ripe.take(fresh, late, this.#seenUntil);
    const areOpen = areMostOpen(live);
    const wasClosed = this.#breaker?.state === 'closed';
    const answered = { seconds: fresh, late: [...late, ...othersOf(live, nowMs)] };
    this.#breaker?.tick(answered, nowMs, beatMs, chance, areOpen);
    const state = this.#breaker?.state ?? 'closed';
    if (wasClosed && state !== 'closed' && pinned === undefined) this.#estimator.ill(nowMs);
    // An API that is ill says nothing of what it takes when it is well.
    if (state === 'closed' && pinned === undefined) {
      if (!this.#hasGiven && this.#formerMs === undefined) this.#estimator.begin(nowMs);
      const untilMs = this.#ripe.until * 1_000;
      const moving =
        this.#moves.between((seconds[0]?.at ?? this.#ripe.until) * 1_000, untilMs) +
        keptBy(lateCount, size, this.#cap);
      const sight = { seconds, untilMs, moving, ...this.#sumOf(live) };
      this.decision = this.#estimator.tick(sight, nowMs, { tickMs: beatMs, delayMs: beatMs });
    }
    const division = this.#divide(live, lateCount, state, { ...tick, beatMs });
    const learned = {
      ...this.#estimator.learned,
      ...(pinned === undefined ? {} : { cap: pinned }),
    };
    const haveFallen = havePortionsFallen(live, division, wholeOf(learned.cap));
    // By permits they move with those.
    const areApart =
      division.rates !== undefined || this.#said.at(-1)?.division.rates !== undefined;
    const haveRatesMoved = areApart && (haveFallen || !this.#hasGiven);
    this.#ratesHearing.note(haveRatesMoved, nowMs, HEARD_BEATS * beatMs);
    const hasMoved = this.#hasMoved(live, division, { nowMs, beatMs });
    this.#hearing.note(hasMoved, nowMs, HEARD_BEATS * beatMs);
    this.#estimator.growsAt(Math.max(nowMs + beatMs, this.#hearing.atMs));
    // Where nobody has lost anything, nobody has to be waited for.
    const growsAtMs = Math.max(nowMs, this.#hearing.atMs);
    const keptMs = nowMs - SAID_BEATS * beatMs;
    const recent = this.#said.filter(({ madeMs }) => madeMs > keptMs).slice(-SAID_COUNT_MAX);
    this.#said = [...recent, { madeMs: nowMs, division }];
    return {
      epoch: ++this.#epoch,
      madeMs: nowMs,
      recent: recent.map((one) => one.division),
      counted: new Set(live.map(({ token }) => token)),
      growsAtMs,
      ratesGrowAtMs: Math.max(division.rates ? nowMs : growsAtMs, this.#ratesHearing.atMs),
      division,
      breaker: state,
      learned,
      found: pinned === undefined ? undefined : this.#estimator.cap,
      decision: this.decision,
      isIdle: live.every(({ demand }) => demand === 0),
      podCount: size,
      pausedMs: live.reduce((most, { report }) => Math.max(most, pausedOf(report, nowMs)), 0),
    };
  }

  /** The last word is published since then, at the latest. */
  written(nowMs: number): void {
    this.#hearing.written(nowMs);
    this.#ratesHearing.written(nowMs);
  }

  /** The last word was not published: the next one takes its place. */
  unsaid(): void {
    this.#epoch--;
    this.#said.pop();
  }

  /** Whether somebody may still use what is another's from now on. Notes what everybody has. */
  #hasMoved(
    live: readonly Member[],
    division: Division,
    { nowMs, beatMs }: Pick<Tick, 'nowMs' | 'beatMs'>,
  ): boolean {
    const isFirst = !this.#hasGiven;
    let [hasMoved, count] = [isFirst, 0];
    for (const member of live) {
      member.share = shareOf(division, member);
      const more = member.share - member.formerShare;
      if (more < 0) hasMoved = true;
      else count += more;
    }
    this.#hasGiven = true;
    // What is held ready for nobody in particular is not missed on its way.
    if (!isFirst && hasMoved && count > 0 && !division.isPlenty) {
      const roundMs = Math.min(this.#estimator.learned.latencyMs ?? 0, beatMs);
      this.#moves.add({
        count,
        fromMs: nowMs,
        untilMs: nowMs + HEARD_BEATS * beatMs + 1.6 * roundMs,
      });
    }
    return hasMoved;
  }

  /** While one pod finds out for all, nobody else has to be waited for. */
  #probedUntil(live: readonly Member[]): number | undefined {
    if (this.#breaker?.state !== 'half-open') return undefined;
    const probed = live.filter(({ report }) =>
      report.seconds.some(({ at, sent }) => at >= this.#seenUntil && sent > 0),
    );
    const until = Math.min(...probed.map(({ report }) => Math.floor(report.atMs / 1_000)));
    return Number.isFinite(until) ? until : undefined;
  }

  /** The seconds that every pod has told of by now, summed over the pods. */
  #newSeconds(live: readonly Member[], until: number, beatMs: number): Second[] {
    if (this.#seenUntil === 0 && this.#formerMs !== undefined) {
      this.#seenUntil = secondAt(this.#formerMs, beatMs);
    }
    const sums = new Map<number, Second>();
    for (const { report } of live) {
      for (const second of report.seconds) {
        if (second.at >= this.#seenUntil && second.at < until) addSecond(sums, second);
      }
    }
    this.#seenUntil = Math.max(this.#seenUntil, until);
    return [...sums.values()].sort((a, b) => a.at - b.at);
  }

  /** How calls ended since, of the seconds that were summed before. */
  #newLate(live: readonly Member[]): Second[] {
    const sums = new Map<number, Second>();
    for (const { report, formerMark, isOld } of live) {
      const { late } = report;
      // Of one that was never heard here, another leader has heard it.
      if (!late || formerMark === undefined || isOld) continue;
      for (const second of late) if (second.at < this.#seenUntil) addSecond(sums, second);
    }
    return [...sums.values()];
  }

  #sumOf(live: readonly Member[]) {
    const latencies: LatencyCounts[number][] = [];
    let [latencyMsSum, answers, inFlight, waiting] = [0, 0, 0, 0];
    let told: Pick<PodReport, 'perSecondHint' | 'isHintMost'> | undefined;
    let pausedUntilMs: number | undefined;
    for (const { report, isOld } of live) {
      inFlight += report.inFlight;
      waiting += report.waiting;
      const { atMs, pausedMs = 0 } = report;
      if (pausedMs > 0) pausedUntilMs = Math.max(pausedUntilMs ?? 0, atMs + pausedMs);
      if (isOld) continue;
      latencies.push(...report.latencies);
      latencyMsSum += report.latencyMsSum;
      answers += report.answers;
      // All were told of the same room: the least of it is the newest.
      const { perSecondHint = Number.POSITIVE_INFINITY, isHintMost } = report;
      const isLess = perSecondHint < (told?.perSecondHint ?? Number.POSITIVE_INFINITY);
      if (isLess) told = { perSecondHint, isHintMost };
    }
    return { latencies, latencyMsSum, answers, inFlight, waiting, pausedUntilMs, ...told };
  }

  #divide(
    live: readonly Member[],
    lateCount: number,
    state: BreakerState,
    { nowMs, beatMs, pinned }: Tick,
  ): Division {
    // Shorter calls are over before another has their permits; of what nobody knows that is not sure.
    const { latencyMs } = this.#estimator.learned;
    const isLong = (latencyMs ?? beatMs) >= beatMs;
    for (const member of live) member.out = isLong ? member.report.inFlight : 0;
    const wanting = live.filter(({ demand }) => demand > 0);
    if (state === 'open') return divide(0, live);
    if (state === 'half-open') {
      const inOrder = ringOf(wanting);
      const prober = inOrder[(this.#breaker?.turn ?? 0) % Math.max(1, inOrder.length)];
      const arc = prober && { from: prober.key, to: prober.key };
      return { level: 0, spare: 0, isPlenty: false, arc };
    }
    const whole = pinned ?? this.#estimator.cap;
    const all = Math.max(1, whole * (this.#breaker?.share ?? 1));
    const cap = Math.max(1, all - keptBy(lateCount, live.length + lateCount, whole));
    const tenureMs = TENURE_BEATS * beatMs;
    const isOwed = this.#isOwed || (latencyMs === undefined && pinned === undefined);
    const owedMs = isOwed ? OWED_CALLS * (latencyMs ?? UNTIMED_BEATS * beatMs) : 0;
    if (cap > this.#cap) this.#grewMs = nowMs;
    this.#cap = cap;
    const isFirst = this.#estimator.learned.good === undefined;
    const growingBeats = isFirst ? FIRST_GROWING_BEATS : GROWING_BEATS;
    const isGrowing = nowMs - this.#grewMs < growingBeats * beatMs;
    this.#wanted = wanting[0]?.key ?? this.#wanted;
    const everyMs = Math.max(beatMs, tenureMs / cap, owedMs);
    const turned = () => (isGrowing ? this.#from : this.#turned(wanting, nowMs, everyMs));
    // Where no pod wants a permit, the next call is most likely made where the last one was.
    const from = wanting.length > 0 ? turned() : this.#wanted;
    const permits = divide(cap, live, from);
    // Where many have one permit or none, what they could use of a rate is what they have of permits.
    const haveSome = permits.isPlenty || permits.level >= 2;
    const rates = haveSome ? divideRates(live, Math.min(1, cap / whole)) : undefined;
    const division = { ...permits, rates };
    this.#from = division.arc?.from ?? this.#from;
    this.#isOwed = live.some((pod) => pod.out > shareOf(division, pod));
    return division;
  }

  /** The arc moves by one pod at a time, and the more seldom the fewer permits there are. */
  #turned(wanting: readonly Member[], nowMs: number, tenureMs: number): string | undefined {
    if (this.#from === undefined || nowMs - this.#movedMs < tenureMs) return this.#from;
    this.#movedMs = nowMs;
    const ring = ringOf(wanting);
    return (ring.find(({ key }) => key > this.#from!) ?? ring[0])?.key;
  }
}

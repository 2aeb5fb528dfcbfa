/**
 * A pod's share of what the fleet may have out, as it was last published. Less holds at once, more from
 * the time that was published with it: until then another pod may still hold what has moved here. A share
 * is only ever found from the very report that whoever divided has counted. A pod that is new has little, so
 * that pods that join do not raise the pressure; one that hears nothing more has half of an equal share
 * from the moment on at which others may have what was its own.
 *
 *   new ──counted──▶ in force ──nothing heard for two heartbeats──▶ half of an equal share
 *                        ▲          heard in time, or counted again            │
 *                        └───────────────────────────────────────────────────────┘
 */
import type { HybridLaw } from '../laws/index.ts';
import type { PermitPool } from '../permits/permit-pool.ts';
import { Holding } from './holding.ts';
import { type Division, shareOf } from './shares.ts';
import { ToldList } from './told-list.ts';
import { HEARD_BEATS, LEASE_BEATS, type PodReport, type Published, SHARE_MIN } from './words.ts';

const DEMAND_KEPT = 0.6;
const REPORT_SECONDS_MAX = 16;
/** A store so slow that its answers come late is beaten as if it were done more seldom. */
const ROUNDS_A_BEAT = 1.5;
const BEATS_A_BEAT_MAX = 10;

export class Lease {
  readonly #key: string;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #beatMs: number;
  readonly #told = new ToldList();
  /** What it may have out. */
  #share: number;
  /** Of what was divided among all pods: its portion of rates that were declared is the same. */
  #whole = 1;
  /** Fewer were divided since; in force when those have heard of it who had the rest. */
  #fewer: { readonly whole: number; readonly fromMs: number } | undefined;
  /** Where there is less than one permit, whoever has it uses so much of it. */
  #part = 1;
  /** When what it last took was no longer another's. */
  #freeMs = 0;
  /** What words have given it; more than its share where it has not heard any for too long. */
  readonly #permits = new Holding();
  #epoch = -1;
  /** What this word says is what once was: the next one holds. */
  #pastEpoch = -1;
  /** The report that it was counted by, in the last word that it took. */
  #countedMark: number | undefined;
  #isLeftOut = false;
  #isTimed = false;
  /** The last heartbeat that was taken, and the one before. */
  #sentMs: number | undefined;
  #sentBeforeMs: number | undefined;
  /** Whether the last word was made with a report of this pod. */
  #isCounted = false;
  /** What whoever divides takes its heartbeats for, at the least. */
  #toldBeatMs: number;
  /** Up to then it knows of all words; undefined before it was counted. */
  #heardMs: number | undefined;
  #isInForce = false;
  /** Whether it has ever had something. */
  #hasBegun = false;
  /** What it may keep where nobody vouches for it any more. */
  #safe = SHARE_MIN;
  /** Of a declared rate it keeps no more then, however few permits there are: all may be in that place. */
  #safePortion = 1;
  /** From then on it takes one, if nothing was heard by then. */
  #aloneMs: number | undefined;

  constructor(key: string, law: HybridLaw, pool: PermitPool, beatMs: number) {
    this.#key = key;
    this.#law = law;
    this.#share = law.grant;
    this.#pool = pool;
    this.#beatMs = beatMs;
    this.#toldBeatMs = beatMs;
  }

  get share(): number {
    return this.#share;
  }

  /** Whether that was given to it, and is not only what it may keep where it hears nothing. */
  get isInForce(): boolean {
    return this.#isInForce;
  }

  /**
   * What it may have before it is counted. Where nothing is heard for a while it has one, and no more: nobody
   * seems to be there who could say how many pods there are. `chance` spreads those who begin with a part of
   * a permit; `whole` is what all pods have together.
   */
  begin(share: number, nowMs: number, { chance = 0, whole = 1 } = {}): void {
    if (this.#heardMs !== undefined) return;
    this.#whole = Math.max(1, whole);
    this.#fewer = undefined;
    this.#aloneMs = share > 0 && share <= 1 ? undefined : nowMs + HEARD_BEATS * this.#beatMs;
    if (share < 1 && (this.#share === 0 || this.#share >= 1)) this.#pool.beginPaced(chance, nowMs);
    this.#permits.given = share;
    this.#set(share, nowMs);
    if (share === 0 || this.#hasBegun) return;
    this.#hasBegun = true;
    this.#pool.spreadRates(chance);
  }

  /** May be made many times and sent once: what was not sent is in the next one. */
  report(waiting: number, nowMs: number, isLeaving = false): PodReport {
    const { inFlight, seconds, tally, late } = this.#pool;
    const state = this.#pool.breakerState(nowMs);
    // Whoever cannot reach the API wants what it has out and one to find out with: others may have the rest.
    const isCutOff = state !== 'closed';
    const before = isCutOff ? 0 : Math.floor(DEMAND_KEPT * this.#told.lastDemand);
    const wanted = inFlight + (isCutOff ? Math.min(1, waiting) : waiting);
    const demand = isLeaving ? 0 : Math.max(wanted, before);
    const beatMs = this.#paceMs;
    this.#toldBeatMs = Math.min(this.#toldBeatMs, beatMs);
    const news = { ...tally.take(), late: late.take(this.#told.toldUntil) };
    const told = this.#told.made({ demand, beatMs }, news, nowMs);
    const until = Math.floor(nowMs / 1_000);
    const count = Math.min(REPORT_SECONDS_MAX, Math.ceil((3 * this.#beatMs) / 1_000) + 2);
    return {
      atMs: nowMs,
      beatMs,
      seconds: seconds.between(until - count, until),
      ...told,
      inFlight,
      waiting,
      demand,
      perSecondHint: this.#pool.hintPerSecond(nowMs),
      pausedMs: this.#pool.toldPausedMs(nowMs),
      isOpen: state === 'open',
      wantsWord: !this.#isCounted,
    };
  }

  /** The report that was made then was sent and taken. */
  told(madeMs: number, sentMs = madeMs, heardMs = madeMs): void {
    this.#sent(sentMs);
    this.#told.taken(madeMs, sentMs, heardMs);
  }

  /** `chance` spreads those who get more: they would all begin at one time. */
  heed(published: Published, nowMs: number, chance: number, sentMs: number = nowMs): void {
    this.#take(published, nowMs, chance, sentMs);
    // It alone finds out for all, so it asks with every heartbeat, however often it was in vain.
    if (published.breaker === 'half-open' && this.#permits.last > 0)
      this.#pool.breaker?.probe(nowMs);
  }

  #take(published: Published, nowMs: number, chance: number, sentMs: number): void {
    const { epoch } = published;
    this.#heedWhole(published);
    this.#part = Math.min(1, published.learned.cap);
    this.#sent(sentMs);
    const formerEpoch = this.#epoch;
    const told = this.#told.countedIn(published.counted, this.#key);
    // A table that has gone back in time says what once was; and to whoever was not heard for so long that it
    // may have been left out by now, in a word that is on its way, so does the last one.
    if (epoch < this.#epoch || (told && this.#isLate(told.beatMs, nowMs))) this.#pastEpoch = epoch;
    this.#epoch = epoch;
    this.#isCounted = told !== undefined && epoch !== this.#pastEpoch;
    if (!told || !this.#isCounted) {
      this.#forget();
      // Others go by that word.
      if (told) this.#permits.lower(this.#shareIn(published.division, told.demand));
    } else {
      this.#toldBeatMs = Math.min(told.beatMs, this.#paceMs);
      this.#heardMs = sentMs;
      this.#aloneMs = undefined;
      if (epoch !== formerEpoch) {
        this.#heedSkipped(published, formerEpoch);
        this.#give(published, told.demand, chance);
      }
      this.#countedMark = told.mark;
    }
    this.turn(nowMs);
  }

  /** Whole permits are divided: of a part of one that is left over nobody has anything. */
  #heedWhole({ learned, growsAtMs }: Published): void {
    const whole = Math.max(1, Math.floor(learned.cap + 1e-9));
    const { whole: least, fromMs } = this.#fewer ?? { whole: this.#whole, fromMs: growsAtMs };
    const isMore = whole >= this.#whole;
    if (isMore) this.#whole = whole;
    const byMs = whole < least ? growsAtMs : Math.min(fromMs, growsAtMs);
    this.#fewer = isMore ? undefined : { whole, fromMs: byMs };
  }

  /** Of words that it never heard others have: less by one of them was given on, though it is more again. */
  #heedSkipped({ epoch, recent }: Published, formerEpoch: number): void {
    const count = epoch - formerEpoch - 1;
    if (this.#countedMark === undefined || count <= 0) return;
    if (count > recent.length) return this.#forget();
    const demand = this.#told.leastSince(this.#countedMark);
    for (const division of recent.slice(-count)) {
      this.#permits.lower(this.#shareIn(division, demand));
    }
  }

  #shareIn(division: Division, demand: number): number {
    return shareOf(division, { key: this.#key, demand });
  }

  #give(published: Published, demand: number, chance: number): void {
    const { latencyMs, cap } = published.learned;
    if (latencyMs !== undefined) this.#law.knowLatency(latencyMs);
    this.#isTimed = latencyMs !== undefined;
    const podCount = Math.max(1, published.podCount);
    this.#safe = Math.max(SHARE_MIN, cap / podCount / 2);
    this.#safePortion = 1 / podCount / 2;
    // More than this was not kept for it, if it was left out.
    if (this.#isLeftOut) this.#permits.forget(this.#safe);
    this.#isLeftOut = false;
    const value = this.#shareIn(published.division, demand);
    const fromMs = this.#growsAt(published, chance);
    // A word that put it off for long was wrong, where by this one it is there a heartbeat sooner.
    const lastMs = this.#growsAt(published, 1) + this.#beatMs;
    this.#permits.promise({ value, fromMs, freeMs: published.madeMs }, lastMs);
  }

  /** How often it is heard, as it tells: three of these are longer than any word takes to come back. */
  get #paceMs(): number {
    const paceMs = Math.max(this.#beatMs, ROUNDS_A_BEAT * this.#told.roundMs);
    return Math.round(Math.min(paceMs, BEATS_A_BEAT_MAX * this.#beatMs));
  }

  #isLate(beatMs: number, nowMs: number): boolean {
    const beforeMs = this.#sentBeforeMs;
    return beforeMs !== undefined && nowMs - beforeMs >= LEASE_BEATS * beatMs;
  }

  #sent(sentMs: number): void {
    if (sentMs === this.#sentMs) return;
    this.#sentBeforeMs = this.#sentMs;
    this.#sentMs = sentMs;
  }

  /** What it had may be others' by now: it goes on from what it may keep whoever has what. */
  #forget(): void {
    if (this.#heardMs === undefined) return;
    this.#isLeftOut = true;
    this.#permits.forget(this.#safe);
  }

  /** What moved here may be in flight elsewhere for one call more. */
  #growsAt({ growsAtMs, madeMs, learned }: Published, chance: number): number {
    const roundMs = Math.min(learned.latencyMs ?? 0, this.#beatMs);
    return growsAtMs + (growsAtMs > madeMs ? 0.6 * roundMs : 0) + chance * roundMs;
  }

  /** Takes what has come due, and gives up what nobody vouches for any more. */
  turn(nowMs: number): void {
    if (this.#heardMs === undefined) return this.#turnAlone(nowMs);
    this.#isInForce = nowMs - this.#heardMs < HEARD_BEATS * this.#toldBeatMs;
    if (!this.#isInForce) {
      return this.#set(Math.min(this.#permits.given, this.#safe), nowMs, this.#safePortion);
    }
    if (this.#fewer && nowMs >= this.#fewer.fromMs) {
      this.#whole = this.#fewer.whole;
      this.#fewer = undefined;
    }
    while (nowMs >= (this.dueMs ?? Number.POSITIVE_INFINITY)) {
      this.#freeMs = this.#permits.take();
    }
    this.#set(this.#permits.given, nowMs);
  }

  #turnAlone(nowMs: number): void {
    if (this.#aloneMs === undefined || nowMs < this.#aloneMs) return;
    this.begin(1, nowMs, { whole: this.#whole });
  }

  /** When `turn` has something to do. */
  get dueMs(): number | undefined {
    if (!this.#isInForce) return this.#aloneMs;
    const fromMs = this.#permits.dueMs ?? Number.POSITIVE_INFINITY;
    // Calls of which none has come back may last: one more is waited for until that is heard to be still so.
    return this.#isTimed || this.#heardMs! >= fromMs - this.#beatMs ? fromMs : undefined;
  }

  #set(share: number, nowMs: number, portionMax = 1): void {
    this.#pool.setPortion(Math.min(portionMax, share / this.#whole), nowMs);
    const granted = share * this.#part;
    if (granted === this.#share) return;
    // Of a part of a permit nobody has earned more than what came since it was another's.
    if (this.#isInForce && this.#share === 0 && granted < 1) {
      this.#pool.beginPaced(0, this.#freeMs);
    }
    this.#share = granted;
    this.#law.setGrant(granted, nowMs);
  }
}

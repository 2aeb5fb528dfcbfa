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
import { demandOf, wantingOf } from './demand.ts';
import type { FirstShare } from './first-share.ts';
import { Holding } from './holding.ts';
import { idleShareOf } from './idle-share.ts';
import { portionOf, wantedParts, wholeOf } from './rates.ts';
import { type Division, shareOf } from './shares.ts';
import { ToldList, type Wanted } from './told-list.ts';
import { HEARD_BEATS, LEASE_BEATS, type PodReport, type Published, SHARE_MIN } from './words.ts';

const REPORT_SECONDS_MAX = 16;
export class Lease {
  readonly #key: string;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #beatMs: number;
  readonly #told = new ToldList();
  #share: number;
  /** What all pods had before it was counted: its portion of declared rates goes by that. */
  #whole = 1;
  /** Where there is less than one permit, whoever has it uses so much of it. */
  #part = 1;
  /** When what it last took was no longer another's. */
  #freeMs = 0;
  /** What words have given it; more than its share where it has not heard any for too long. */
  readonly #permits = new Holding(SHARE_MIN);
  /** Its portion of rates that were declared. */
  readonly #rates = new Holding(1);
  #epoch = -1;
  /** What this word says is what once was: the next one holds. */
  #pastEpoch = -1;
  /** By older reports than this it may have been left out since. */
  #freshMark = 0;
  /** The report that it was counted by, in the last word that it took. */
  #countedMark: number | undefined;
  #isLeftOut = false;
  #isTimed = false;
  /** The last heartbeat that was taken, and the one before. */
  #sentMs: number | undefined;
  #sentBeforeMs: number | undefined;
  #isCounted = false;
  /** What whoever divides takes its heartbeats for, at the least. */
  #toldBeatMs: number;
  /** Up to then it knows of all words; undefined before it was counted. */
  #heardMs: number | undefined;
  #isInForce = false;
  /** Whether it has ever had something. */
  #hasBegun = false;
  #podCount: number | undefined;
  #alone = 1;
  /** From then on it takes that, if nothing was heard by then. */
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
   * What it may have before it is counted. Where nothing is heard for a while it has `alone`, and no more: no
   * pod seems to be there that could say how many there are. `chance` spreads pods with a part of a permit.
   */
  begin({ share, whole, alone = 1 }: FirstShare, nowMs: number, chance = 0): void {
    if (this.#heardMs !== undefined) return;
    [this.#whole, this.#alone] = [Math.max(1, whole), alone];
    this.#aloneMs = share > 0 && share <= alone ? undefined : nowMs + HEARD_BEATS * this.#beatMs;
    if (share < 1 && (this.#share === 0 || this.#share >= 1)) this.#pool.beginPaced(chance, nowMs);
    [this.#permits.given, this.#rates.given] = [share, share / this.#whole];
    this.#set(share, this.#rates.given, nowMs);
    if (share === 0 || this.#hasBegun) return;
    this.#hasBegun = true;
    this.#pool.declared.spread(chance);
  }

  /** May be made many times and sent once: what was not sent is in the next one. */
  report(waiting: number, nowMs: number, isLeaving = false): PodReport {
    const { inFlight, seconds, tally, late } = this.#pool;
    const [{ lastDemand }, share] = [this.#told, this.#share];
    const state = this.#pool.breakerState(nowMs);
    const isCutOff = state !== 'closed';
    const calling = { inFlight, waiting, isCutOff, isLeaving, lastDemand, share };
    const [demand, beatMs] = [demandOf(calling), this.#paceMs];
    this.#toldBeatMs = Math.min(this.#toldBeatMs, beatMs);
    const news = { ...tally.take(), late: late.take(this.#told.toldUntil) };
    const until = Math.floor(nowMs / 1_000);
    const count = Math.min(REPORT_SECONDS_MAX, Math.ceil((3 * this.#beatMs) / 1_000) + 2);
    const lately = seconds.between(until - count, until);
    const parts = wantedParts(this.#pool, {
      waiting: wantingOf(calling),
      sent: lately.reduce((all, one) => all + one.sent, 0),
      seconds: count,
      podCount: this.#podCount,
      owed: isLeaving ? 0 : this.#pool.declared.owedPart(nowMs),
    });
    const told = this.#told.made({ demand, parts, beatMs }, news, nowMs);
    return {
      atMs: nowMs,
      beatMs,
      seconds: lately,
      ...told,
      inFlight,
      waiting,
      demand,
      parts,
      ...this.#pool.told(nowMs),
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
    const isProber = published.breaker === 'half-open' && this.#permits.last > 0;
    if (isProber) this.#pool.breaker?.probe(nowMs);
  }

  #take(published: Published, nowMs: number, chance: number, sentMs: number): void {
    const { epoch, division } = published;
    this.#part = Math.min(1, published.learned.cap);
    this.#sent(sentMs);
    const formerEpoch = this.#epoch;
    const told = this.#told.countedIn(published.counted, this.#key);
    // A table that has gone back in time says what once was. So does, to whoever was not heard for so long
    // that it may have been left out in a word on its way, any that goes by what it told before.
    const isLate = told !== undefined && this.#isLate(told.beatMs, nowMs);
    if (isLate) this.#freshMark = this.#told.takenMark;
    if (isLate || epoch < this.#epoch) this.#pastEpoch = epoch;
    this.#epoch = epoch;
    this.#isCounted =
      told !== undefined && epoch !== this.#pastEpoch && told.mark >= this.#freshMark;
    if (!told || !this.#isCounted) {
      this.#forget();
      // Others go by that word.
      if (told) this.#lower(division, wholeOf(published.learned.cap), told);
    } else {
      this.#toldBeatMs = Math.min(told.beatMs, this.#paceMs);
      this.#heardMs = sentMs;
      this.#aloneMs = undefined;
      if (epoch !== formerEpoch) {
        this.#heedSkipped(published, formerEpoch);
        this.#give(published, told, chance);
      }
      this.#countedMark = told.mark;
    }
    this.turn(nowMs);
  }

  /** Of words that it never heard others have: less by one of them was given on, though it is more again. */
  #heedSkipped({ epoch, recent, learned }: Published, formerEpoch: number): void {
    const count = epoch - formerEpoch - 1;
    if (this.#countedMark === undefined || count <= 0) return;
    if (count > recent.length) return this.#forget();
    const least = this.#told.leastSince(this.#countedMark);
    const whole = wholeOf(learned.cap);
    for (const division of recent.slice(-count)) this.#lower(division, whole, least);
  }

  #lower(division: Division, whole: number, told: Wanted): void {
    const asking = { ...told, key: this.#key };
    this.#permits.lower(shareOf(division, asking));
    this.#rates.lower(portionOf(division, whole, asking));
  }

  #give(published: Published, told: Wanted, chance: number): void {
    const { division, madeMs, growsAtMs, ratesGrowAtMs = growsAtMs } = published;
    const { latencyMs, cap } = published.learned;
    if (latencyMs !== undefined) this.#pool.knowLatency(latencyMs);
    this.#isTimed = latencyMs !== undefined;
    const podCount = Math.max(1, published.podCount);
    this.#permits.safe = Math.max(SHARE_MIN, cap / podCount / 2);
    // However few permits there are: all pods may be in that place.
    this.#rates.safe = 1 / podCount / 2;
    this.#podCount = podCount;
    // More than this was not kept for it, if it was left out.
    if (this.#isLeftOut) this.#forgetGiven();
    this.#isLeftOut = false;
    const asking = { ...told, key: this.#key };
    const share = Math.max(shareOf(division, asking), idleShareOf(published));
    const fromMs = this.#growsAt(published, chance);
    // A word that put it off for long was wrong, where by this one it is there a heartbeat sooner.
    const lastMs = this.#growsAt(published, 1) + this.#beatMs;
    this.#permits.promise({ value: share, fromMs, freeMs: madeMs }, lastMs);
    // Where no rate was declared nobody has to look when there is more of it.
    if (told.parts === 0) return;
    const value = portionOf(division, wholeOf(cap), asking);
    this.#rates.promise(
      { value, fromMs: ratesGrowAtMs, freeMs: madeMs },
      ratesGrowAtMs + this.#beatMs,
    );
  }

  /** How often it is heard, as it tells: three of these are longer than any word takes to come back. */
  get #paceMs(): number {
    return this.#told.paceMs(this.#beatMs);
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
    this.#forgetGiven();
  }

  #forgetGiven(): void {
    this.#permits.forget();
    this.#rates.forget();
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
    if (!this.#isInForce) return this.#set(this.#permits.kept, this.#rates.kept, nowMs);
    while (nowMs >= this.#permitsMs) this.#freeMs = this.#permits.take();
    while (nowMs >= this.#rates.dueMs) this.#rates.take();
    this.#set(this.#permits.given, this.#rates.given, nowMs);
  }

  #turnAlone(nowMs: number): void {
    const [share, whole] = [this.#alone, Math.max(this.#alone, this.#whole)];
    if (nowMs >= (this.#aloneMs ?? nowMs + 1)) this.begin({ share, whole, alone: share }, nowMs);
  }

  /** When `turn` has something to do. */
  get dueMs(): number | undefined {
    if (!this.#isInForce) return this.#aloneMs;
    return Math.min(this.#permitsMs, this.#rates.dueMs);
  }

  get #permitsMs(): number {
    const fromMs = this.#permits.dueMs;
    // Calls of which none has come back may last: one more is waited for until that is heard to be still so.
    const isSure = this.#isTimed || this.#heardMs! >= fromMs - this.#beatMs;
    return isSure ? fromMs : Number.POSITIVE_INFINITY;
  }

  #set(share: number, portion: number, nowMs: number): void {
    this.#pool.declared.divide(portion, nowMs);
    this.#law.least = Math.min(1, portion);
    const granted = share * this.#part;
    if (granted === this.#share) return;
    // Of a part of a permit nobody has earned more than what came since it was another's.
    const isNew = this.#isInForce && this.#share === 0;
    if (isNew && granted < 1) this.#pool.beginPaced(0, this.#freeMs);
    this.#share = granted;
    this.#law.setGrant(granted, nowMs);
  }
}

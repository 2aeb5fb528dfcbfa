/**
 * A pod's share of what the fleet may have out, as it was last published. Less holds at once, more from
 * the time that was published with it: until then another pod may still hold what has moved here. A share
 * is only ever found from a demand that whoever divided has counted. A pod that is new has little, so
 * that pods that join do not raise the pressure; one that hears nothing more has half of an equal share
 * from the moment on at which others may have what was its own.
 *
 *   new ──counted──▶ in force ──nothing heard for two heartbeats──▶ half of an equal share
 *                        ▲            heard in time, or counted again            │
 *                        └───────────────────────────────────────────────────────┘
 */
import type { HybridLaw } from '../laws/index.ts';
import type { PermitPool } from '../permit-pool.ts';
import { HEARD_BEATS, LEASE_BEATS, type PodReport, type Published } from './fleet-estimate.ts';
import { shareOf } from './shares.ts';
import { ToldList } from './told-list.ts';

const DEMAND_KEPT = 0.6;
const REPORT_SECONDS_MAX = 16;
/** A store so slow that its answers come late is beaten as if it were done more seldom. */
const ROUNDS_A_BEAT = 1.5;
const BEATS_A_BEAT_MAX = 10;
/** Below a whole permit calls are paced: about one in two round trips. */
const SHARE_MIN = 0.5;

export class Lease {
  readonly #key: string;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #beatMs: number;
  readonly #told = new ToldList();
  /** What it may have out. */
  #share = 0;
  /** What words have given it; more than its share where it has not heard any for too long. */
  #given = 0;
  /** What it may take later, in the order of when. */
  #steps: { readonly share: number; readonly fromMs: number }[] = [];
  #epoch = -1;
  /** What whoever divides takes its heartbeats for, at the least. */
  #toldBeatMs: number;
  /** Up to then it knows of all words; undefined before it was counted. */
  #heardMs: number | undefined;
  #isInForce = false;
  /** What it may keep where nobody vouches for it any more. */
  #safe = SHARE_MIN;

  constructor(key: string, law: HybridLaw, pool: PermitPool, beatMs: number) {
    this.#key = key;
    this.#law = law;
    this.#pool = pool;
    this.#beatMs = beatMs;
    this.#toldBeatMs = beatMs;
  }

  get share(): number {
    return this.#share;
  }

  /** What it may have before it is counted. */
  begin(share: number, nowMs: number): void {
    if (this.#heardMs !== undefined) return;
    this.#given = share;
    this.#set(share, nowMs);
  }

  /** May be made many times and sent once: what was not sent is in the next one. */
  report(waiting: number, nowMs: number, isLeaving = false): PodReport {
    const { inFlight, seconds, tally } = this.#pool;
    const before = Math.floor(DEMAND_KEPT * this.#told.lastDemand);
    const demand = isLeaving ? 0 : Math.max(inFlight + waiting, before);
    const beatMs = this.#paceMs;
    this.#toldBeatMs = Math.min(this.#toldBeatMs, beatMs);
    const sum = this.#told.made({ demand, beatMs }, tally.take(), nowMs);
    const until = Math.floor(nowMs / 1_000);
    const count = Math.min(REPORT_SECONDS_MAX, Math.ceil((3 * this.#beatMs) / 1_000) + 2);
    return {
      atMs: nowMs,
      mark: nowMs,
      beatMs,
      seconds: seconds.between(until - count, until),
      ...sum,
      inFlight,
      waiting,
      demand,
      perSecondHint: this.#pool.hintPerSecond(nowMs),
      pausedMs: this.#pool.toldPausedMs(nowMs),
      isOpen: this.#pool.breakerState(nowMs) === 'open',
      wantsWord: this.#heardMs !== undefined && !this.#isCharged(nowMs),
    };
  }

  /** The report that was made then was sent and taken. */
  told(madeMs: number, sentMs = madeMs, heardMs = madeMs): void {
    this.#told.taken(madeMs, sentMs, heardMs);
  }

  /** `chance` spreads those who get more: they would all begin at one time. */
  heed(published: Published, nowMs: number, chance: number, sentMs: number = nowMs): void {
    this.#take(published, nowMs, chance, sentMs);
    // It alone finds out for all, so it asks with every heartbeat, however often it was in vain.
    const share = this.#steps.at(-1)?.share ?? this.#share;
    if (published.breaker === 'half-open' && share > 0) this.#pool.breaker?.probe(nowMs);
  }

  #take(published: Published, nowMs: number, chance: number, sentMs: number): void {
    const { epoch, madeMs, readMs } = published;
    if (epoch === this.#epoch) {
      // Nobody divides just now, or nothing has changed: what was given is everybody's own still.
      if (this.#isCharged(nowMs)) this.#heardMs = sentMs;
      return this.turn(nowMs);
    }
    // A table that has gone back in time says what once was: what is said next is meant for now.
    const hasGoneBack = epoch < this.#epoch;
    const told = hasGoneBack ? [] : this.#told.readBetween(readMs, madeMs, LEASE_BEATS);
    if (hasGoneBack || told.length > 0) this.#epoch = epoch;
    if (told.length === 0) return this.turn(nowMs);
    this.#forgetIfLate(nowMs);
    this.#toldBeatMs = Math.min(...told.map(({ beatMs }) => beatMs), this.#paceMs);
    this.#heardMs = sentMs;
    const { latencyMs, cap } = published.learned;
    if (latencyMs !== undefined) this.#law.knowLatency(latencyMs);
    this.#safe = Math.max(SHARE_MIN, cap / Math.max(1, published.podCount) / 2);
    const shares = told.map(({ demand }) =>
      shareOf(published.division, { key: this.#key, demand }),
    );
    const share = Math.min(...shares);
    // What was promised before keeps its time: a new word every heartbeat would put it off for ever.
    this.#steps = this.#steps.map((step) => ({ ...step, share: Math.min(step.share, share) }));
    if (share < this.#given) this.#given = share;
    else if (share > (this.#steps.at(-1)?.share ?? this.#given)) {
      this.#steps.push({ share, fromMs: this.#growsAt(published, chance) });
    }
    this.turn(nowMs);
  }

  /** How often it is heard, as it tells: three of these are longer than any word takes to come back. */
  get #paceMs(): number {
    const paceMs = Math.max(this.#beatMs, ROUNDS_A_BEAT * this.#told.roundMs);
    return Math.round(Math.min(paceMs, BEATS_A_BEAT_MAX * this.#beatMs));
  }

  /** Whoever was heard so lately is counted by whoever divides, with what it has. */
  #isCharged(nowMs: number): boolean {
    return this.#heardMs !== undefined && nowMs - this.#heardMs < LEASE_BEATS * this.#toldBeatMs;
  }

  /** What it had may have been given to others meanwhile: it goes on from what it has kept. */
  #forgetIfLate(nowMs: number): void {
    if (this.#heardMs === undefined || this.#isCharged(nowMs)) return;
    this.#given = Math.min(this.#given, this.#safe);
    this.#steps = [];
  }

  /** What moved here may be in flight elsewhere for one call more. */
  #growsAt({ growsAtMs, madeMs, learned }: Published, chance: number): number {
    const roundMs = Math.min(learned.latencyMs ?? 0, this.#beatMs);
    return growsAtMs + (growsAtMs > madeMs ? 0.6 * roundMs : 0) + chance * roundMs;
  }

  /** Takes what has come due, and gives up what nobody vouches for any more. */
  turn(nowMs: number): void {
    if (this.#heardMs === undefined) return;
    this.#isInForce = nowMs - this.#heardMs < HEARD_BEATS * this.#toldBeatMs;
    if (!this.#isInForce) return this.#set(Math.min(this.#given, this.#safe), nowMs);
    while (this.#steps.length > 0 && nowMs >= this.#steps[0]!.fromMs) {
      this.#given = Math.max(this.#given, this.#steps.shift()!.share);
    }
    this.#set(this.#given, nowMs);
  }

  /** When `turn` has something to do. */
  get dueMs(): number | undefined {
    return this.#isInForce ? this.#steps[0]?.fromMs : undefined;
  }

  #set(share: number, nowMs: number): void {
    if (share === this.#share) return;
    this.#share = share;
    this.#law.setGrant(share, nowMs);
  }
}

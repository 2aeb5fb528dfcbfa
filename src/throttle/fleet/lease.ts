/**
 * A pod's share of what the fleet may have out, as it was last published. Less holds at once, more from
 * the time that was published with it: until then another pod may still hold what has moved here. A share
 * is only ever found from a demand that whoever divided can have read. A pod that is new has little, so
 * that pods that join do not raise the pressure; one that hears nothing more gives up what it has, step
 * by step, down to half of an equal share.
 */
import type { HybridLaw } from '../laws/index.ts';
import type { PermitPool } from '../permit-pool.ts';
import { LEASE_BEATS, type PodReport, type Published } from './fleet-estimate.ts';
import { shareOf } from './shares.ts';
import { ToldList } from './told-list.ts';

const DEMAND_KEPT = 0.6;
const REPORT_SECONDS_MAX = 16;
/** Below a whole permit calls are paced: about one in two round trips. */
const SHARE_MIN = 0.5;

export class Lease {
  readonly #key: string;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #beatMs: number;
  readonly #told = new ToldList();
  #share = 0;
  /** What it may take later, in the order of when. */
  #steps: { readonly share: number; readonly fromMs: number }[] = [];
  #epoch = -1;
  #heardMs: number | undefined;
  #loosenedMs = 0;
  /** What it may keep where nobody vouches for it any more. */
  #safe = SHARE_MIN;

  constructor(key: string, law: HybridLaw, pool: PermitPool, beatMs: number) {
    this.#key = key;
    this.#law = law;
    this.#pool = pool;
    this.#beatMs = beatMs;
  }

  get share(): number {
    return this.#share;
  }

  /** Whether its share was ever given to it, and it has heard of that lately. */
  isGiven(nowMs: number): boolean {
    return this.#heardMs !== undefined && nowMs - this.#heardMs < LEASE_BEATS * this.#beatMs;
  }

  /** What it may have before it is counted. */
  begin(share: number, nowMs: number): void {
    if (this.#heardMs === undefined) this.#set(share, nowMs);
  }

  /** May be made many times and sent once: what was not sent is in the next one. */
  report(waiting: number, nowMs: number, isLeaving = false): PodReport {
    const { inFlight, seconds, tally } = this.#pool;
    const before = Math.floor(DEMAND_KEPT * this.#told.lastDemand);
    const demand = isLeaving ? 0 : Math.max(inFlight + waiting, before);
    const sum = this.#told.made(demand, tally.take(), nowMs);
    const until = Math.floor(nowMs / 1_000);
    const count = Math.min(REPORT_SECONDS_MAX, Math.ceil((3 * this.#beatMs) / 1_000) + 2);
    return {
      atMs: nowMs,
      mark: nowMs,
      beatMs: this.#beatMs,
      seconds: seconds.between(until - count, until),
      ...sum,
      inFlight,
      waiting,
      demand,
      perSecondHint: this.#pool.hintPerSecond(nowMs),
      pausedMs: this.#pool.toldPausedMs(nowMs),
      isOpen: this.#pool.breakerState(nowMs) === 'open',
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
    if (published.epoch <= this.#epoch) {
      // Nobody divides just now, or nothing has changed: what was given is everybody's own still.
      this.#heardMs = sentMs;
      return;
    }
    const demands = this.#told.readBetween(published.readMs, published.madeMs);
    if (demands.length === 0) return;
    this.#epoch = published.epoch;
    this.#heardMs = sentMs;
    const { latencyMs, cap } = published.learned;
    if (latencyMs !== undefined) this.#law.knowLatency(latencyMs);
    this.#safe = Math.max(SHARE_MIN, cap / Math.max(1, published.podCount) / 2);
    const shares = demands.map((demand) => shareOf(published.division, { key: this.#key, demand }));
    const share = Math.min(...shares);
    // What was promised before keeps its time: a new word every heartbeat would put it off for ever.
    this.#steps = this.#steps.map((step) => ({ ...step, share: Math.min(step.share, share) }));
    if (share < this.#share) this.#set(share, nowMs);
    else if (share > (this.#steps.at(-1)?.share ?? this.#share)) {
      this.#steps.push({ share, fromMs: this.#growsAt(published, chance) });
    }
    this.turn(nowMs);
  }

  /** What moved here may be in flight elsewhere for one call more. */
  #growsAt({ growsAtMs, madeMs, learned }: Published, chance: number): number {
    const roundMs = Math.min(learned.latencyMs ?? 0, this.#beatMs);
    return growsAtMs + (growsAtMs > madeMs ? 0.6 * roundMs : 0) + chance * roundMs;
  }

  /** Takes what has come due, and gives up what nobody vouches for any more. */
  turn(nowMs: number): void {
    if (this.#heardMs === undefined) return;
    const overMs = nowMs - this.#heardMs - LEASE_BEATS * this.#beatMs;
    if (overMs < 0) {
      while (this.#steps.length > 0 && nowMs >= this.#steps[0]!.fromMs) {
        this.#set(Math.max(this.#share, this.#steps.shift()!.share), nowMs);
      }
      return;
    }
    if (nowMs - this.#loosenedMs < this.#beatMs) return;
    this.#steps = [];
    this.#loosenedMs = nowMs;
    // It may be a long time since this was looked at.
    const halvings = 1 + Math.floor(overMs / this.#beatMs);
    const less = Math.max(this.#safe, this.#share / 2 ** halvings);
    if (less < this.#share) this.#set(less, nowMs);
  }

  /** When `turn` has something to do. */
  get dueMs(): number | undefined {
    return this.#steps[0]?.fromMs;
  }

  #set(share: number, nowMs: number): void {
    if (share === this.#share) return;
    this.#share = share;
    this.#law.setGrant(share, nowMs);
  }
}

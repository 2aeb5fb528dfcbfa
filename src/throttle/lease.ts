/**
 * A pod's share of what the fleet may have out, as it was last published. Less holds at once, more from
 * the time that was published with it: until then another pod may still hold what has moved here. A pod
 * that hears nothing more gives its share up step by step; one that is new has none until it is given one,
 * so that pods that join do not raise the pressure.
 */
import { LEASE_BEATS, type PodReport, type Published } from './fleet-estimate.ts';
import type { HybridLaw } from './laws/index.ts';
import type { PermitPool } from './permit-pool.ts';
import { shareOf } from './shares.ts';

const DEMAND_KEPT = 0.6;
const REPORT_SECONDS_MAX = 16;

export class Lease {
  readonly #key: string;
  readonly #law: HybridLaw;
  readonly #pool: PermitPool;
  readonly #beatMs: number;
  /** What was told last, and before that: the leader may have read either. */
  #told: readonly [number, number] = [0, 0];
  #share = 0;
  /** What it may take later, in the order of when. */
  #steps: { readonly share: number; readonly fromMs: number }[] = [];
  #epoch = -1;
  #heardMs: number | undefined;
  #loosenedMs = 0;

  constructor(key: string, law: HybridLaw, pool: PermitPool, beatMs: number) {
    this.#key = key;
    this.#law = law;
    this.#pool = pool;
    this.#beatMs = beatMs;
  }

  get share(): number {
    return this.#share;
  }

  report(waiting: number, nowMs: number, isLeaving = false): PodReport {
    const { inFlight, seconds, tally } = this.#pool;
    const wanted = Math.max(inFlight + waiting, Math.floor(DEMAND_KEPT * this.#told[0]));
    const demand = isLeaving ? 0 : wanted;
    this.#told = [demand, this.#told[0]];
    const until = Math.floor(nowMs / 1_000);
    const count = Math.min(REPORT_SECONDS_MAX, Math.ceil((3 * this.#beatMs) / 1_000) + 2);
    return {
      atMs: nowMs,
      seconds: seconds.between(until - count, until),
      ...tally.take(),
      inFlight,
      waiting,
      demand,
      perSecondHint: this.#pool.hintPerSecond(nowMs),
    };
  }

  /** `chance` spreads those who get more: they would all begin at one time. */
  heed(published: Published, nowMs: number, chance: number): void {
    if (published.epoch <= this.#epoch) return;
    this.#epoch = published.epoch;
    this.#heardMs = nowMs;
    const { latencyMs } = published.learned;
    if (latencyMs !== undefined) this.#law.knowLatency(latencyMs);
    const shares = this.#told.map((demand) =>
      shareOf(published.division, { key: this.#key, demand }),
    );
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
    while (this.#steps.length > 0 && nowMs >= this.#steps[0]!.fromMs) {
      this.#set(Math.max(this.#share, this.#steps.shift()!.share), nowMs);
    }
    if (this.#heardMs === undefined) return;
    const overMs = nowMs - this.#heardMs - LEASE_BEATS * this.#beatMs;
    if (overMs < 0 || nowMs - this.#loosenedMs < this.#beatMs) return;
    this.#steps = [];
    this.#loosenedMs = nowMs;
    if (this.#share > 0.5) this.#set(this.#share / 2, nowMs);
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

/** Who is sent away without a permit: for how long, and how many of them this process still has. */
import type { Random } from '../../ground/index.ts';
import { ThrottleParkedError } from '../errors.ts';
import type { ThrottlePolicy } from '../policy.ts';
import { Heap } from './heap.ts';
import type { PermitPool } from './permit-pool.ts';
import { spreadMs } from './spread.ts';
import { PARK_MS_MAX, parkMsOf } from './wanting.ts';

/** A run that is to come back sooner waits where it is, and nobody else has its place meanwhile. */
const IN_PLACE_MS = 5_000;
/** More of them than that make no difference: they stay away for as long as anybody does. */
const AWAY_COUNT_MAX = 1_000;

export class Parking {
  readonly #policy: ThrottlePolicy;
  readonly #pool: PermitPool;
  readonly #random: Random;
  readonly #backMs = new Heap();
  readonly #awayMs = new Heap();
  /** The next turn that nobody was told to come back for. */
  #turnMs = Number.NEGATIVE_INFINITY;

  /** When the last one comes back. */
  lastMs = Number.NEGATIVE_INFINITY;

  constructor(policy: ThrottlePolicy, pool: PermitPool, random: Random) {
    this.#policy = policy;
    this.#pool = pool;
    this.#random = random;
  }

  /** How many are about to come back, and have not left. */
  inPlace(nowMs: number): number {
    this.#backMs.dropUntil(nowMs);
    return this.#backMs.size;
  }

  /** How many are yet to come back. */
  away(nowMs: number): number {
    this.#awayMs.dropUntil(nowMs);
    return this.#awayMs.size;
  }

  /** It has waited here for as long as one may: those who were sent away before it come before it. */
  late(why: string, waiting: number, waitedMs: number, nowMs: number): ThrottleParkedError {
    const ahead = waiting + this.away(nowMs) + 1;
    const chance = this.#random.fraction();
    const roundsMs = parkMsOf(this.#pool, ahead, nowMs, chance, waitedMs);
    const delayMs = Math.max(roundsMs, this.#turnIn(nowMs));
    return this.#park(why, delayMs, waitedMs, nowMs);
  }

  /** It is known that nothing begins for so long. An end that was told has been spread by half already. */
  shut(why: string, waiting: number, waitMs: number, nowMs: number): ThrottleParkedError {
    const spread = spreadMs(waitMs, this.#random.fraction() / 2);
    return this.#park(why, Math.max(spread, this.delayMs(waiting, nowMs)), 0, nowMs);
  }

  /** So long it takes to save up for it. */
  paced(why: string, waitMs: number, nowMs: number): ThrottleParkedError {
    const delayMs = Math.max(Math.min(waitMs, IN_PLACE_MS + 1), this.#early(waitMs));
    return this.#park(why, delayMs, 0, nowMs);
  }

  delayMs(waiting: number, nowMs: number): number {
    return parkMsOf(this.#pool, waiting, nowMs, this.#random.fraction());
  }

  /** At a rate those who wait have turns one after the other: each comes back for one of its own. */
  #turnIn(nowMs: number): number {
    const everyMs = 1_000 / this.#pool.callsPerSecond(nowMs);
    // Who has none of a rate has no turns to give: a share may come with the next heartbeat.
    if (!Number.isFinite(everyMs)) return 0;
    const turnMs = Math.max(nowMs, this.#turnMs);
    const lastMs = nowMs + PARK_MS_MAX;
    this.#turnMs = Math.min(lastMs, turnMs + everyMs);
    if (turnMs < lastMs) return this.#early(turnMs - nowMs);
    // Too many for turns: they must not come back in one moment.
    return PARK_MS_MAX * (0.75 + 0.5 * this.#random.fraction());
  }

  /** What is not used in time is lost, so it comes before its turn, and waits for the rest in line. */
  #early(waitMs: number): number {
    return waitMs - this.#policy.parkAfterMs * this.#random.fraction();
  }

  #park(why: string, wantedMs: number, waitedMs: number, nowMs: number): ThrottleParkedError {
    // Of a wait that has no end nobody would come back.
    const delayMs = Number.isFinite(wantedMs) ? wantedMs : PARK_MS_MAX;
    if (this.away(nowMs) < AWAY_COUNT_MAX) this.#awayMs.push(nowMs + delayMs);
    this.lastMs = Math.max(this.lastMs, nowMs + delayMs);
    if (delayMs <= IN_PLACE_MS) this.#backMs.push(nowMs + delayMs);
    return new ThrottleParkedError(this.#policy.name, why, delayMs, waitedMs);
  }
}

/**
 * A process as far as a pod can tell: a clock, chance, and an end. A dead one has no more events; a
 * paused one has them when it goes on, while everybody else's time, and its own clock, go on.
 */
import type { Clock, Random } from '../../src/ground/index.ts';
import type { PodBirth } from '../../src/store/pods.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Gate, Schedule } from './schedule.ts';

/** What the shared clock shows when a simulation begins. */
export const BEGIN_MS = Date.UTC(2030, 0, 1);
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Timers fire this much late, and so pods that began together drift apart. */
const LATE_MS_MAX = 1.5;

/** A clock that goes at a rate of its own, and goes on from where it is when that changes. */
class Pace {
  #ownMs: number;
  #sinceMs: number;
  rate = 1;

  constructor(ownMs: number, sinceMs: number) {
    this.#ownMs = ownMs;
    this.#sinceMs = sinceMs;
  }

  at(nowMs: number): number {
    return this.#ownMs + (nowMs - this.#sinceMs) * this.rate;
  }

  change(rate: number, nowMs: number): void {
    this.#ownMs = this.at(nowMs);
    this.#sinceMs = nowMs;
    this.rate = rate;
  }
}

export class Process implements Gate {
  readonly name: string;
  readonly random: Random;
  readonly #schedule: Schedule;
  readonly #lateness: Random;
  readonly #held: (() => void)[] = [];
  readonly #wall: Pace;
  readonly #monotonic: Pace;
  isDead = false;
  isPaused = false;
  /** In all. */
  pausedMs = 0;
  #pausedSinceMs: number | undefined;
  /** How far its wall clock is from the shared one. */
  skewMs = 0;
  /** As what it registers first, where it is a copy of another. */
  bornAs: PodBirth | undefined;
  /** What its wall clock shows instead, while that is set. */
  stoppedAt: number | undefined;

  constructor(schedule: Schedule, name: string, seed: number, random = seededRandom(seed)) {
    this.name = name;
    this.random = random;
    this.#schedule = schedule;
    this.#lateness = seededRandom(seed ^ 0x5bd1e995);
    this.#wall = new Pace(schedule.nowMs, schedule.nowMs);
    this.#monotonic = new Pace(0, schedule.nowMs);
  }

  get clock(): Clock {
    return this.#clock;
  }

  readonly #clock: Clock = {
    now: () => {
      const { nowMs } = this.#schedule;
      return this.stoppedAt ?? Math.floor(BEGIN_MS + this.#wall.at(nowMs) + this.skewMs);
    },
    monotonicMs: () => this.#monotonic.at(this.#schedule.nowMs),
    after: (delayMs, act) => {
      const ownMs = Math.min(Math.max(0, Math.ceil(delayMs)), TIMER_MS_MAX);
      const waitMs = ownMs / this.#monotonic.rate;
      const lateMs = this.#lateness.fraction() * LATE_MS_MAX;
      return this.#schedule.at(this.#schedule.nowMs + waitMs + lateMs, act, this);
    },
    soon: (act) => {
      this.#schedule.at(this.#schedule.nowMs, act, this);
    },
  };

  /** From now on its wall clock goes at this rate, and does not jump. */
  driftWall(rate: number): void {
    this.#wall.change(rate, this.#schedule.nowMs);
  }

  /** The clock that its deadlines and timers go by. */
  driftMonotonic(rate: number): void {
    this.#monotonic.change(rate, this.#schedule.nowMs);
  }

  hold(act: () => void): void {
    this.#held.push(act);
  }

  kill(): void {
    this.isDead = true;
    this.#held.length = 0;
  }

  pause(): void {
    this.#pausedSinceMs ??= this.#schedule.nowMs;
    this.isPaused = true;
  }

  /** Whatever came due meanwhile happens now, in its order. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.pausedMs += this.#schedule.nowMs - (this.#pausedSinceMs ?? this.#schedule.nowMs);
    this.#pausedSinceMs = undefined;
    for (const act of this.#held.splice(0)) this.#schedule.at(this.#schedule.nowMs, act, this);
  }
}

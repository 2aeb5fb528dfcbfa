/**
 * The clock of the store is set forward by an hour, and back, while the fleet is at work. Chance is its
 * own, so that nothing else in the course of a seed depends on it. In the end it is as far ahead as it has
 * ever been: what was enqueued while it was ahead would else be due in an hour.
 */
import type { Random } from '../../src/ground/index.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import type { World } from './world.ts';

const HOUR_MS = 3_600_000;
const COUNT_MAX = 3;

export class StoreClock {
  readonly #world: World;
  readonly #random: Random;
  #offMs = 0;
  #furthestMs = 0;

  constructor(world: World, stormMs: number) {
    this.#world = world;
    this.#random = seededRandom(world.seed * 40_503 + 17);
    const count = 1 + below(this.#random, COUNT_MAX);
    for (let index = 0; index < count; index++) {
      const atMs = world.nowMs + this.#random.fraction() * stormMs;
      world.schedule.at(atMs, () => this.#set(this.#offMs > 0 ? 0 : this.#jumpMs()));
    }
  }

  /** An hour, or so little that only the silence of a pod is as long. */
  #jumpMs(): number {
    return below(this.#random, 2) === 0 ? HOUR_MS : 2_000 + below(this.#random, 10_000);
  }

  #set(offMs: number): void {
    this.#offMs = offMs;
    this.#furthestMs = Math.max(this.#furthestMs, offMs);
    this.#world.setStoreClock(offMs);
  }

  heal(): void {
    if (this.#offMs < this.#furthestMs) this.#set(this.#furthestMs);
  }
}

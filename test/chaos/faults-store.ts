/** Crashes of the store: each kind in turn, and back on the same data. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import type { Crash, TestPostgres } from '../support/postgres.ts';

const KINDS: readonly Crash[] = ['killAll', 'immediate', 'fast', 'kill'];
const DOWN_MS_MAX = 1_500;

export class StoreFaults {
  readonly #postgres: TestPostgres;
  readonly #random: Random;
  #isDown = false;
  #crashes = 0;
  readonly counts: Record<Crash, number> = { killAll: 0, immediate: 0, fast: 0, kill: 0 };

  constructor({ postgres, random }: { readonly postgres: TestPostgres; readonly random: Random }) {
    this.#postgres = postgres;
    this.#random = random;
  }

  async crash(): Promise<boolean> {
    if (this.#isDown) return false;
    this.#isDown = true;
    const how = KINDS[this.#crashes % KINDS.length]!;
    this.#crashes += 1;
    try {
      await this.#postgres.crash(how);
      await sleep(this.#random.fraction() * DOWN_MS_MAX);
      await this.#postgres.start();
    } finally {
      this.#isDown = false;
    }
    this.counts[how] += 1;
    return true;
  }
}

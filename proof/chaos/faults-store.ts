/** Crashes of the store: each kind in turn, and back on the same data; or with another server. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import type { Crash } from '../../test/support/postgres.ts';
import type { ChaosStore } from './cluster-store.ts';

const KINDS: readonly Crash[] = ['killAll', 'immediate', 'fast', 'kill'];
const DOWN_MS_MAX = 1_500;

export class StoreFaults {
  readonly #postgres: ChaosStore;
  readonly #random: Random;
  #isDown = false;
  #crashes = 0;
  readonly counts: Record<Crash, number> = { killAll: 0, immediate: 0, fast: 0, kill: 0 };

  constructor({ postgres, random }: { readonly postgres: ChaosStore; readonly random: Random }) {
    this.#postgres = postgres;
    this.#random = random;
  }

  crash(): Promise<boolean> {
    return this.#alone(async () => {
      const how = KINDS[this.#crashes % KINDS.length]!;
      this.#crashes += 1;
      await this.#postgres.crash(how);
      await sleep(this.#random.fraction() * DOWN_MS_MAX);
      await this.#postgres.start();
      this.counts[how] += 1;
    });
  }

  /** The primary is killed, and a standby takes its place. */
  failOver(): Promise<boolean> {
    return this.#alone(async () => this.#postgres.failOver?.());
  }

  /** One at a time: whoever finds it down comes again. */
  async #alone(act: () => Promise<void>): Promise<boolean> {
    if (this.#isDown) return false;
    this.#isDown = true;
    try {
      await act();
    } finally {
      this.#isDown = false;
    }
    return true;
  }
}

/**
 * What came of runs that their machines let go on without the store, and that others had taken by the
 * time it was back: it counts for nothing, and is kept in the history all the same.
 */
import { type Clock, describeError, pause, type Random } from '../ground/index.ts';
import type { Flush, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import { Ladder } from './ladder.ts';

const ATTEMPTS_MAX = 20;
const BATCH_COUNT_MAX = 100;

export interface SupersededPorts {
  readonly store: Pick<Store, 'archive'>;
  readonly clock: Clock;
  readonly random: Random;
}

export class Superseded {
  readonly #ports: SupersededPorts;
  #late: Flush[] = [];
  #isSending = false;

  constructor(ports: SupersededPorts) {
    this.#ports = ports;
  }

  /** To be told before its records are forgotten. A run that never went on alone is no concern of this. */
  keep(held: HeldRun): void {
    if (!held.hasGoneAlone) return;
    held.hasGoneAlone = false;
    const { task: run, ...of } = held.claim;
    tell('run.superseded', () => ({ run, ...of }));
    const tail = held.tail();
    if (!tail) return;
    this.#late.push(tail);
    if (this.#isSending) return;
    this.#isSending = true;
    this.#ports.clock.soon(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    const { store, clock, random } = this.#ports;
    const ladder = new Ladder();
    for (let attempts = 0; this.#late.length > 0 && attempts < ATTEMPTS_MAX; ) {
      const batch = this.#late.slice(0, BATCH_COUNT_MAX);
      try {
        await store.archive(batch);
        this.#late = this.#late.slice(batch.length);
        attempts = 0;
      } catch (error) {
        attempts += 1;
        tell('store.failed', () => ({ what: 'archive', error: describeError(error) }));
        const waitMs = ladder.next(() => random.fraction());
        await pause(clock, waitMs);
      }
    }
    // A store that takes them in no way has the outcome that counts; this disk has these for a while.
    this.#late = [];
    this.#isSending = false;
  }
}

/**
 * What came of runs that their machines let go on without the store, and that others had taken by the
 * time it was back: it counts for nothing, and is kept in the history all the same.
 */
import { type Clock, describeError, pause, type Random } from '../ground/index.ts';
import type { Flush } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Footing } from './footing.ts';
import type { HeldRun } from './held-run.ts';
import { Ladder } from './ladder.ts';

const ATTEMPTS_MAX = 20;
const BATCH_COUNT_MAX = 100;

export interface SupersededPorts {
  /** A server that has lost what came before these gets none of them: they would be behind a hole. */
  readonly store: Pick<Footing, 'archive' | 'isPast' | 'timeline'>;
  readonly clock: Clock;
  readonly random: Random;
}

export class Superseded {
  readonly #ports: SupersededPorts;
  #late: { readonly tail: Flush; readonly timeline: string | undefined }[] = [];
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
    const { store } = this.#ports;
    if (!tail || store.isPast(tail.epoch)) return;
    this.#late.push({ tail, timeline: store.timeline });
    if (this.#isSending) return;
    this.#isSending = true;
    this.#ports.clock.soon(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    const { store, clock, random } = this.#ports;
    const ladder = new Ladder();
    for (let attempts = 0; this.#late.length > 0 && attempts < ATTEMPTS_MAX; ) {
      this.#late = this.#late.filter(({ timeline }) => timeline === store.timeline);
      const batch = this.#late.slice(0, BATCH_COUNT_MAX);
      try {
        if (batch.length > 0) await store.archive(batch.map(({ tail }) => tail));
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

/** So many a second and no more: whoever comes waits for its turn, in the order of coming. */
import type { Clock } from '../../ground/index.ts';

/** What a timer, or the store, has taken too long for is made up for, within this. */
const BEHIND_MS_MAX = 100;

export class Pace {
  readonly #clock: Clock;
  #nextMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#nextMs = clock.monotonicMs();
  }

  /** Resolves when it may go on, or early where it is not to go on at all. */
  wait(rate: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.max(this.#nextMs, nowMs - BEHIND_MS_MAX);
    const stepMs = 1_000 / rate;
    this.#nextMs = atMs + stepMs;
    if (atMs <= nowMs || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        // Whoever does not go on leaves its turn to the next.
        if (signal.aborted) this.#nextMs -= stepMs;
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#clock.after(atMs - nowMs, end);
      signal.addEventListener('abort', end);
    });
  }
}

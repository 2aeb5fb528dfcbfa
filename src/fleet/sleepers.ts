/** Waits that may be cut short all at once, since what they waited for is over. */
import type { Cancel, Clock } from '../ground/index.ts';

const STAY_UP_MS = 60_000;

export class Sleepers {
  readonly #clock: Clock;
  readonly #wakes = new Set<() => void>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after this long, or when all are woken. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => wake());
      const wake = () => {
        cancel();
        this.#wakes.delete(wake);
        resolve();
      };
      this.#wakes.add(wake);
    });
  }

  /** Resolves when all are woken. One timer for all who wait so keeps the process up meanwhile. */
  untilWoken(): Promise<void> {
    this.#stayUp();
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        resolve();
      };
      this.#wakes.add(wake);
    });
  }

  #stayUp(): void {
    this.#cancel ??= this.#clock.after(STAY_UP_MS, () => {
      this.#cancel = undefined;
      if (this.#wakes.size > 0) this.#stayUp();
    });
  }

  wakeAll(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const wake of this.#wakes) wake();
  }
}

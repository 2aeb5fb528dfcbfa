/** Waits that may be cut short all at once, since what they waited for is over. */
import type { Clock } from '../ground/index.ts';

export class Sleepers {
  readonly #clock: Clock;
  readonly #wakes = new Set<() => void>();

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

  /** Resolves when all are woken. */
  untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        resolve();
      };
      this.#wakes.add(wake);
    });
  }

  wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }
}

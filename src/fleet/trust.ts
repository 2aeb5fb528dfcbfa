/**
 * Waits until the fleet is known to count on this pod. Each answer of the store may be the one, so the
 * heartbeat wakes all who wait: a timer for each would be thousands a second while the store is away.
 */
import type { Clock } from '../ground/index.ts';
import { Sleepers } from './sleepers.ts';

const AGAIN_MS = 50;

export class Trust {
  readonly #asleep: Sleepers;
  readonly #isCurrent: () => boolean;

  constructor(clock: Clock, isCurrent: () => boolean) {
    this.#asleep = new Sleepers(clock);
    this.#isCurrent = isCurrent;
  }

  /** Something has changed that they wait for, or that ends their wait. */
  wake = (): void => this.#asleep.wakeAll();

  /** Resolves with true when phases may begin, with false when the wait is over without that. */
  async when(isOver: () => boolean): Promise<boolean> {
    while (!isOver() && !this.#isCurrent()) await this.#asleep.untilWoken();
    return !isOver();
  }

  /** The same, and never at once: the engine may ask again after a "no", which must not hold the loop. */
  async whenAgain(isOver: () => boolean): Promise<boolean> {
    if (isOver() || this.#isCurrent()) await this.#asleep.sleep(AGAIN_MS);
    return this.when(isOver);
  }
}

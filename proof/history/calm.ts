/**
 * When the fleet had peace enough to keep its times: the store answered at every look, and some pod
 * was beating. What went on while it had not may take as long as it takes.
 */
import type { Snapshot } from './evidence.ts';

/** With longer between two looks, nobody knows what was in between. */
const GAP_MS_MAX = 6_000;

export class Calm {
  readonly #looks: readonly Snapshot[];
  /** How many of the looks before each were not calm. */
  readonly #troubles: readonly number[];

  constructor(snapshots: readonly Snapshot[]) {
    this.#looks = snapshots;
    let count = 0;
    this.#troubles = snapshots.map(({ at, counts }, index) => {
      const before = snapshots[index - 1];
      const isTrouble = !counts || counts.fresh === 0;
      if (isTrouble || (before && at - before.at > GAP_MS_MAX)) count += 1;
      return count;
    });
  }

  /** Whether all looks from before `from` to after `to` were calm. */
  covers(from: number, to: number): boolean {
    const first = this.#lastBefore(from);
    const last = this.#lastBefore(to) + 1;
    if (first < 0 || last >= this.#looks.length) return false;
    const troubles = this.#troubles[last]! - this.#troubles[first]!;
    const isFirstCalm = (this.#looks[first]!.counts?.fresh ?? 0) > 0;
    return troubles === 0 && isFirstCalm;
  }

  #lastBefore(at: number): number {
    let [low, high] = [0, this.#looks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#looks[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** How often somebody may ask: a bucket for each, that fills again with time. Bounded in number. */
import type { Clock } from '../../ground/index.ts';

export interface Rate {
  readonly perSecond: number;
  /** How many may come at once. */
  readonly burst: number;
}

interface Bucket {
  left: number;
  atMs: number;
}

const BUCKETS_MAX = 10_000;

export class Rates {
  readonly #clock: Clock;
  readonly #rate: Rate;
  /** In the order in which they were last asked of: who has been away longest is forgotten first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Takes one; answers how long to wait where there is none left, and takes nothing then. */
  take(who: string): number | undefined {
    const bucket = this.#filled(who);
    if (bucket.left >= 1) {
      bucket.left -= 1;
      return undefined;
    }
    return Math.ceil(((1 - bucket.left) / this.#rate.perSecond) * 1_000);
  }

  #filled(who: string): Bucket {
    const now = this.#clock.monotonicMs();
    const { perSecond, burst } = this.#rate;
    const known = this.#buckets.get(who);
    const gained = known ? ((now - known.atMs) / 1_000) * perSecond : 0;
    const bucket = { left: Math.min(burst, (known?.left ?? burst) + gained), atMs: now };
    this.#buckets.delete(who);
    this.#buckets.set(who, bucket);
    if (this.#buckets.size > BUCKETS_MAX) {
      const longest = this.#buckets.keys().next().value!;
      this.#buckets.delete(longest);
    }
    return bucket;
  }
}

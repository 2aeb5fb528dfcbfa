/**
 * Seconds, kept until what was refused in them has come back. Most APIs refuse at once, and nothing is kept.
 * Where refusals take many seconds, a second that is looked at before they are there looks clean: one would
 * go on with more and more. How long they take is found out from those that came late; and as they are
 * counted where they were sent, none is held against a cap that was not in force then.
 */
import { bucketOf, Latencies } from './latencies.ts';
import type { Second } from './seconds.ts';

/** By so many refusals it is known how late they come. */
const REFUSALS_MIN = 30;
/** So many of them are waited for: one that is later than all others is not. */
const WAITED_SHARE = 0.9;
const KEPT_S_MAX = 60;

export class RipeSeconds {
  readonly #lateness = new Latencies(REFUSALS_MIN);
  #kept: Second[] = [];
  #until = 0;

  /** Up to here, seconds were given out. */
  get until(): number {
    return this.#until;
  }

  /** `late`: how calls of seconds ended that were given here before. `until`: all before this were. */
  take(seconds: readonly Second[], late: readonly Second[], until: number): Second[] {
    for (const { throttled } of seconds) this.#note(0, throttled);
    for (const { at, throttled } of late) this.#note(until - at, throttled);
    this.#kept = [...this.#kept, ...seconds].map((second) => withLate(second, late));
    this.#until = Math.max(this.#until, until - this.#waitedS);
    const ripe = this.#kept.filter(({ at }) => at < this.#until);
    this.#kept = this.#kept.filter(({ at }) => at >= this.#until);
    return ripe;
  }

  #note(seconds: number, count: number): void {
    if (count > 0) this.#lateness.recordCounts([[bucketOf(seconds * 1_000), count]]);
  }

  get #waitedS(): number {
    const ms = this.#lateness.quantile(WAITED_SHARE) ?? 0;
    return Math.min(KEPT_S_MAX, Math.round(ms / 1_000));
  }
}

function withLate(second: Second, late: readonly Second[]): Second {
  const found = late.filter(({ at }) => at === second.at);
  if (found.length === 0) return second;
  const throttled = found.reduce((all, one) => all + one.throttled, second.throttled);
  // What was told twice, as an answer was lost, is not more than all.
  return { ...second, throttled: Math.min(second.sent, throttled) };
}

/**
 * Calls that ended in a way which says nothing of the API, by the second in which they were sent: only
 * people who look at the last seconds want them, so that what was sent adds up. No law goes by them.
 */
import type { OutcomeKind } from '../answers/outcome.ts';

/** As many seconds as are shown, and those in which a look at them may fall. */
const KEPT_COUNT = 64;

export function isOther(kind: OutcomeKind): boolean {
  return kind === 'client' || kind === 'cancelled' || kind === 'ignored';
}

export class Others {
  readonly #at = new Float64Array(KEPT_COUNT).fill(-1);
  readonly #counts = new Uint32Array(KEPT_COUNT);

  ended(sentMs: number): void {
    const at = Math.floor(sentMs / 1_000);
    const index = at % KEPT_COUNT;
    // Its second is another's by now.
    if (this.#at[index]! > at) return;
    if (this.#at[index] !== at) this.#counts[index] = 0;
    this.#at[index] = at;
    this.#counts[index]!++;
  }

  /** How many of those that were sent from second `from` up to, not including, `until`. */
  between(from: number, until: number): number {
    let count = 0;
    for (let at = Math.max(0, from, until - KEPT_COUNT); at < until; at++) {
      if (this.#at[at % KEPT_COUNT] === at) count += this.#counts[at % KEPT_COUNT]!;
    }
    return count;
  }
}

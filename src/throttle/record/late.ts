/**
 * How calls ended that had been told of before they did, by the second in which they were sent. A second is
 * summed once, soon after it is over: what times out, or is refused, later than that is told by itself.
 */
import type { OutcomeKind } from '../answers/outcome.ts';
import { addOutcome, addSecond, blank, type Second } from './seconds.ts';

/** Nobody may ask for it for a while: then the oldest are forgotten. */
const KEPT_COUNT = 128;
/** More would be too much for a heartbeat. */
const TOLD_COUNT_MAX = 16;

export class Late {
  readonly #bySecond = new Map<number, ReturnType<typeof blank>>();

  ended(kind: OutcomeKind, sentMs: number): void {
    const at = Math.floor(sentMs / 1_000);
    let second = this.#bySecond.get(at);
    if (!second) {
      second = blank(at);
      this.#bySecond.set(at, second);
      if (this.#bySecond.size > KEPT_COUNT)
        this.#bySecond.delete(Math.min(...this.#bySecond.keys()));
    }
    addOutcome(second, kind);
  }

  /** What ended since the last time, of calls that were sent before the second `before`. */
  take(before: number): Second[] {
    const found = [...this.#bySecond.values()].filter(
      (second) => second.at < before && hasAny(second),
    );
    this.#bySecond.clear();
    return found.sort((a, b) => a.at - b.at);
  }
}

/** Several lists as one, the oldest first. Where there are too many, neighbours count as the older one. */
export function joinedLate(lists: readonly (readonly Second[])[]): Second[] {
  const sums = new Map<number, Second>();
  for (const second of lists.flat()) addSecond(sums, second);
  let found = [...sums.values()].sort((a, b) => a.at - b.at);
  while (found.length > TOLD_COUNT_MAX) {
    const halved = new Map<number, Second>();
    found.forEach((second, index) => {
      addSecond(halved, { ...second, at: found[index - (index % 2)]!.at });
    });
    found = [...halved.values()];
  }
  return found;
}

function hasAny({ throttled, timedOut, failed, ok }: Second): boolean {
  return throttled + timedOut + failed + ok > 0;
}

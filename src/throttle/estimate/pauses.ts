/**
 * APIs that tell whom they refuse to leave them alone for a while, by Retry-After. One call too many stops
 * everybody then: refusals are few, and what was let in beside them was cut short. Neither says how much
 * there is room for, only that it is less than was tried. And the longer they pause, the more it costs to
 * try, so the more seldom it is. Pure.
 */
import type { Second } from '../record/seconds.ts';

/** A shorter one cuts hardly anything short. */
const PAUSE_MS_MIN = 2_000;
/** To try more costs a pause: one in so many is a part that can be spared. */
const SPARED = 20;
/** A second time in a row it is more than one permit too many, by so much of them. */
const STEP_SHARE = 0.02;

export class Pauses {
  #untilMs = Number.NEGATIVE_INFINITY;
  #lastedMs = 0;
  #inRow = 0;

  /** Somebody was told to wait until then. */
  note(untilMs = Number.NEGATIVE_INFINITY): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }

  /** Those of them, since then, after whose refusals everybody was to wait. */
  cutShort(saturated: readonly Second[], sinceMs: number): readonly Second[] {
    return saturated.filter(({ at }) => {
      return at * 1_000 >= sinceMs && this.#untilMs - at * 1_000 >= PAUSE_MS_MIN;
    });
  }

  /** For how long it is too dear to try more than went well; 0 where refusals pause nothing. */
  get sparedMs(): number {
    return SPARED * this.#lastedMs;
  }

  /** Refused without a word of how long to wait. */
  refusedWithout(): void {
    this.#lastedMs = 0;
  }

  wentWell(): void {
    this.#inRow = 0;
  }

  /** What fits, where `cap` was too much: one permit less, and twice as many fewer each time in a row. */
  lessThan(cap: number, good: number, cutShort: readonly Second[]): number {
    this.#lastedMs = this.#untilMs - cutShort[0]!.at * 1_000;
    const more = (2 ** this.#inRow - 1) * Math.max(1, STEP_SHARE * cap);
    this.#inRow++;
    const fewer = cap < 2 ? 0.9 * cap : Math.floor(cap) - 0.1 - more;
    return Math.max(Math.min(good, fewer), cap / 2);
  }
}

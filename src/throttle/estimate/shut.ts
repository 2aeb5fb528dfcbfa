/** Whether so many were refused since the last that was let in that none is: that is no limit. Pure. */
import type { Second } from '../record/seconds.ts';

/** Since when nothing is let in, and how many were called at once until then. */
export interface ShutSince {
  readonly at: number;
  readonly cap: number;
}

/** More than an API that takes few calls refuses in a row. */
const SHUT_COUNT = 8;

export class Shut {
  #inRow = 0;
  #formerCap = 0;
  #since: ShutSince | undefined;
  #former: ShutSince | undefined;

  /** What was seen since the last time, whatever was cut meanwhile. */
  note(seconds: readonly Second[], cap: number): void {
    // What was sent before the last cut was heard of was sent by the cap before it.
    const sentBy = Math.max(cap, this.#formerCap);
    this.#formerCap = cap;
    this.#former = this.since;
    for (const { at, sent, throttled } of seconds) {
      if (sent > throttled) [this.#inRow, this.#since] = [0, undefined];
      else if (throttled > 0) this.#since ??= { at, cap: sentBy };
      this.#inRow += throttled < sent ? 0 : throttled;
    }
  }

  /** The same, also of a look in which it opened again: what was refused there was so before that. */
  get sinceOrLast(): ShutSince | undefined {
    return this.since ?? this.#former;
  }

  get since(): ShutSince | undefined {
    return this.#inRow >= SHUT_COUNT ? this.#since : undefined;
  }
}

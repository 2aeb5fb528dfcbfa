/** Until when an API is left alone, as it asked: told by its answers to this process, or to another. */
import { type CallOutcome, isCapacity } from '../answers/outcome.ts';
import { spreadMs } from './spread.ts';

/** Some tell when a quota is whole again, which is long after there is something of it. */
const USED_UP_MS_MAX = 60_000;

export class Pause {
  #untilMs = Number.NEGATIVE_INFINITY;
  #toldUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether a call has ever been answered, here or in another pod. */
  isKnown = false;

  get untilMs(): number {
    return this.#untilMs;
  }

  /** For how long the API told this very process; others tell what they were told. */
  toldMs(nowMs: number): number {
    return Math.max(0, this.#toldUntilMs - nowMs);
  }

  /** Somebody else was told. */
  until(untilMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }

  note(outcome: CallOutcome, nowMs: number, chance: number): void {
    const { kind, retryAfterMs = this.#usedUpMs(outcome) } = outcome;
    this.isKnown ||= kind === 'ok';
    if (retryAfterMs === undefined || !isCapacity(kind)) return;
    // Spread afterwards and never before, or all who were told the same come back at once. Whoever waits
    // for that end has the other half.
    this.until(nowMs + spreadMs(retryAfterMs, chance / 2));
    this.#toldUntilMs = Math.max(this.#toldUntilMs, nowMs + retryAfterMs);
  }

  /** Before anything was answered there is no pace by which what is left could be called. */
  #usedUpMs({ kind, hint }: CallOutcome): number | undefined {
    const isUsedUp = !this.isKnown && kind === 'throttled' && hint?.remaining === 0;
    return isUsedUp ? Math.min(hint.resetMs, USED_UP_MS_MAX) : undefined;
  }
}

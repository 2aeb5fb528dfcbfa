/**
 * Whether calls were let in between refusals. An API that refuses everything, as during an incident, says
 * nothing of how much is too much: only a refusal after calls that went well does. Pure.
 */
import type { Second } from '../record/seconds.ts';

export class LetIn {
  /** The last second in which something was let in, of looks without refusals. */
  #atMs = Number.NEGATIVE_INFINITY;
  #refusedMs = 0;

  note(seconds: readonly Second[]): void {
    this.#atMs = Math.max(this.#atMs, ...letInMs(seconds));
  }

  /** Whether something was let in since the refusals before these, and before the last of these. */
  beforeRefusals(
    saturated: readonly Second[],
    seconds: readonly Second[],
    untilMs: number,
  ): boolean {
    const isKnown = this.#atMs >= this.#refusedMs;
    this.#refusedMs = untilMs;
    // What is let in after the last one may be the end of it.
    const lastMs = saturated.at(-1)!.at * 1_000;
    const isMostly = saturated.some(({ sent, throttled }) => sent > 2 * throttled);
    return isKnown || isMostly || letInMs(seconds).some((ms) => ms < lastMs);
  }
}

function letInMs(seconds: readonly Second[]): number[] {
  return seconds.filter(({ sent, throttled }) => sent > throttled).map(({ at }) => at * 1_000);
}

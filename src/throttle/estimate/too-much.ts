/**
 * What was too much at first contact: up to there it goes in small steps, since the limit lies below it. A
 * step of first contact goes far beyond that, so what is refused later says more. An API that takes much less
 * than what went well has another limit by then. Pure.
 */

/** So much further it is tried in small steps. */
const BEYOND = 1.2;

export class TooMuch {
  value = 0;
  /** Nothing has gone well since first contact: a burst may have hidden what is too much. */
  #isSettling = false;

  /** It takes much less than this. `hasLetIn`: else it took nothing, which says nothing of a limit. */
  fell(force: number, isFirst: boolean, hasLetIn: boolean): void {
    if (isFirst) [this.value, this.#isSettling] = hasLetIn ? [force, true] : [0, false];
    else if (this.#isSettling) this.refused(force);
    else this.value = 0;
  }

  refused(force: number): void {
    this.value = Math.min(this.value, BEYOND * force);
  }

  wentWell(): void {
    this.#isSettling = false;
  }
}

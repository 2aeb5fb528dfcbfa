/** By when all pods have heard of what was given to others. */
export class Hearing {
  atMs = Number.NEGATIVE_INFINITY;
  /** So long after it was published all have heard of what the last word moved. */
  #afterMs = 0;

  /** The next word moves something, or nothing. */
  note(hasMoved: boolean, nowMs: number, afterMs: number): void {
    this.#afterMs = hasMoved ? afterMs : 0;
    if (hasMoved) this.atMs = nowMs + afterMs;
  }

  /** It is published since then, at the latest. */
  written(nowMs: number): void {
    if (this.#afterMs > 0) this.atMs = nowMs + this.#afterMs;
  }
}

/** How many calls may be out at once, by what it was changed last and when. Permits, not rounded. */
/** A step that is no larger hides no fall. */
const SMALL_STEP = 0.07;

export class Cap {
  value: number;
  changedMs: number;
  /** Whether the last step was a large one. */
  isLarge = false;
  isSmall = false;
  /** From then on everybody may use what the cap has grown by; until it is known, undefined. */
  #growsAtMs: number | undefined = Number.NEGATIVE_INFINITY;
  /** Since when, under the cap as it is, the cap was used and nothing refused. */
  cleanFromMs = Number.NEGATIVE_INFINITY;

  constructor(value: number, changedMs = Number.NEGATIVE_INFINITY) {
    this.value = value;
    this.changedMs = changedMs;
  }

  /** From then on what was seen is of this cap, in time for all who heard of it so long after. */
  inForceMs(delayMs: number): number {
    return Math.max(this.changedMs + delayMs, this.#growsAtMs ?? 0);
  }

  /** Whether it was more than before. */
  get hasGrown(): boolean {
    return this.#growsAtMs !== Number.NEGATIVE_INFINITY;
  }

  growsAt(atMs: number): void {
    this.#growsAtMs ??= atMs;
  }

  /** Whether that is another one. */
  change(value: number, nowMs: number, isLarge: boolean): boolean {
    if (value === this.value) return false;
    this.isLarge = isLarge;
    this.isSmall = Math.abs(value - this.value) <= SMALL_STEP * this.value;
    this.#growsAtMs = value > this.value ? undefined : Number.NEGATIVE_INFINITY;
    this.value = value;
    this.changedMs = nowMs;
    this.cleanFromMs = nowMs;
    return true;
  }
}

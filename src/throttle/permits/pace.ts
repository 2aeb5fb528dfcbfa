/**
 * A bucket of tokens whose rate may change at any time. Idle time fills it up to its depth and no
 * further, so that a pause allows a bounded burst. May be overdrawn by what a call cost in the end.
 */
export class Pace {
  #tokens: number;
  #atMs = 0;

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  /** From now on, with so many tokens to begin with. */
  restart(tokens: number, nowMs: number): void {
    this.#tokens = tokens;
    this.#atMs = nowMs;
  }

  /** Only this share of the tokens stays; what is owed, does. */
  keep(share: number): void {
    if (this.#tokens > 0) this.#tokens *= share;
  }

  /** How much it is overdrawn. */
  get owed(): number {
    return Math.max(0, -this.#tokens);
  }

  forgive(): void {
    this.#tokens = Math.max(0, this.#tokens);
  }

  /** Whether `count` tokens are there. */
  has(count: number, perSecond: number, depth: number, nowMs: number): boolean {
    this.#refill(perSecond, depth, nowMs);
    // What is asked for at once may be more than fits: then a full bucket has to do.
    return this.#tokens >= Math.min(count, depth) - 1e-9;
  }

  take(count: number): void {
    this.#tokens -= count;
  }

  /** Milliseconds until `count` are there, if nothing is taken meanwhile. */
  waitMs(count: number, perSecond: number, depth: number): number {
    const missing = Math.min(count, depth) - this.#tokens;
    if (missing <= 0) return 0;
    return perSecond > 0 ? (missing / perSecond) * 1_000 : Number.POSITIVE_INFINITY;
  }

  /** How many there will have been by then; fewer than none where it is overdrawn. */
  within(ms: number, perSecond: number, depth: number, nowMs: number): number {
    this.#refill(perSecond, depth, nowMs);
    return this.#tokens + (ms / 1_000) * perSecond;
  }

  #refill(perSecond: number, depth: number, nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#tokens = Math.min(depth, this.#tokens + (elapsedMs / 1_000) * perSecond);
  }
}

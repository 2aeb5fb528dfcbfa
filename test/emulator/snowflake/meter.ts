/** Counts what an account would bill: statements by what they do, and the seconds a warehouse is up. */

/** A warehouse that nobody uses is suspended after so long, which is also the least that is billed. */
const SUSPENDED_AFTER_MS = 60_000;

export class Meter {
  total = 0;
  /** SELECT, UPDATE, … */
  readonly byVerb: Record<string, number> = {};
  /** How often each text came; constant texts are few. */
  readonly byText = new Map<string, number>();
  /** Those that need no warehouse: metadata, sessions. */
  withoutWarehouse = 0;
  failed = 0;
  /** Answers that were given again for the same request. */
  repeated = 0;
  /** Changes that were carried out, and whoever sent them never heard of it. */
  unanswered = 0;
  #upMs = 0;
  #upSince: number | undefined;
  #upUntil = 0;

  /** Answers whether the warehouse had to be resumed. */
  count(text: string, verb: string, needsWarehouse: boolean, nowMs: number): boolean {
    this.total += 1;
    this.byVerb[verb] = (this.byVerb[verb] ?? 0) + 1;
    this.byText.set(text, (this.byText.get(text) ?? 0) + 1);
    if (!needsWarehouse) {
      this.withoutWarehouse += 1;
      return false;
    }
    return this.#use(nowMs);
  }

  #use(nowMs: number): boolean {
    const isResumed = this.#upSince === undefined || nowMs > this.#upUntil;
    if (isResumed) {
      if (this.#upSince !== undefined) this.#upMs += this.#upUntil - this.#upSince;
      this.#upSince = nowMs;
    }
    this.#upUntil = nowMs + SUSPENDED_AFTER_MS;
    return isResumed;
  }

  /** Billed so far; the minute that is running counts whole. */
  get warehouseSeconds(): number {
    const running = this.#upSince === undefined ? 0 : this.#upUntil - this.#upSince;
    return (this.#upMs + running) / 1000;
  }

  reset(): void {
    Object.assign(this, { total: 0, withoutWarehouse: 0, failed: 0, repeated: 0, unanswered: 0 });
    for (const verb of Object.keys(this.byVerb)) delete this.byVerb[verb];
    this.byText.clear();
    this.#upMs = 0;
    this.#upSince = undefined;
  }
}

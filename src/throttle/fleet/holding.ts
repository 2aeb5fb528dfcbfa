/**
 * What a pod has of something that pods divide. Less holds at once, more from a time on: until then another
 * pod may still have what has moved here. What was promised keeps its time, whatever is said since.
 */
export interface Step {
  readonly value: number;
  readonly fromMs: number;
  /** From then on it was no longer another's. */
  readonly freeMs: number;
}

export class Holding {
  /** What words have given it. */
  given = 0;
  /** No more than this is kept for it where nobody vouches for what it was given. */
  safe: number;
  /** What it may take later, in the order of when. */
  #steps: Step[] = [];

  constructor(safe: number) {
    this.safe = safe;
  }

  /** What it may keep then. */
  get kept(): number {
    return Math.min(this.given, this.safe);
  }

  /** What it has when all has come that was promised. */
  get last(): number {
    return this.#steps.at(-1)?.value ?? this.given;
  }

  /** When there is something to take. */
  get dueMs(): number {
    return this.#steps[0]?.fromMs ?? Number.POSITIVE_INFINITY;
  }

  lower(most: number): void {
    // What was promised before keeps its time: a new word every heartbeat would put it off for ever.
    this.#steps = this.#steps.map((step) => ({ ...step, value: Math.min(step.value, most) }));
    this.given = Math.min(this.given, most);
  }

  /** What it had may be others' by now. */
  forget(): void {
    this.given = this.kept;
    this.#steps = [];
  }

  /** This is what it has from now on, or from then on where it is more; at `lastMs` at the latest. */
  promise({ value, fromMs, freeMs }: Step, lastMs: number): void {
    this.lower(value);
    this.#steps = this.#steps.map((step) => ({ ...step, fromMs: Math.min(step.fromMs, lastMs) }));
    if (value > this.last) this.#steps.push({ value, fromMs, freeMs });
  }

  /** Takes what comes first, and answers since when it was no longer another's. */
  take(): number {
    const { value, freeMs } = this.#steps.shift()!;
    this.given = Math.max(this.given, value);
    return freeMs;
  }
}

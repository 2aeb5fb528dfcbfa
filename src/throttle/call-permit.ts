/** A permit as handlers hold it: given back once, in whatever way. */
import type { CallOutcomeKind, CallPermit } from '../machine/index.ts';
import type { CallOutcome } from './outcome.ts';
import type { Permit } from './permit-pool.ts';
import type { Throttle } from './throttle.ts';

export class HeldPermit implements CallPermit {
  readonly #throttle: Throttle;
  readonly #permit: Permit;
  readonly #refusals: number;
  #isReleased = false;

  constructor(throttle: Throttle, permit: Permit, refusals: number) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#refusals = refusals;
  }

  release(outcome: CallOutcomeKind | CallOutcome = 'ok'): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#throttle.release(this.#permit, typeof outcome === 'string' ? { kind: outcome } : outcome);
  }

  fail(error: unknown): void {
    this.release(this.#throttle.outcomeOfError(error, this.#refusals));
  }

  /** Whoever lets go without a word has learned nothing about the API. */
  [Symbol.dispose](): void {
    this.release('ignored');
  }
}

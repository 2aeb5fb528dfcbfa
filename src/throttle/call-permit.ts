/** A permit as handlers hold it: given back once, in whatever way. */
import type { CallOutcomeKind, CallPermit } from '../machine/index.ts';
import type { Caller } from './caller.ts';
import type { CallOutcome } from './outcome.ts';
import type { Permit } from './permit-pool.ts';
import type { Throttle } from './throttle.ts';

export class HeldPermit implements CallPermit {
  readonly #throttle: Throttle;
  readonly #permit: Permit;
  readonly #caller: Caller;
  #isReleased = false;

  constructor(throttle: Throttle, permit: Permit, caller: Caller) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#caller = caller;
    caller.held?.add(this);
  }

  release(outcome: CallOutcomeKind | CallOutcome = 'ok'): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#caller.held?.delete(this);
    this.#throttle.release(this.#permit, typeof outcome === 'string' ? { kind: outcome } : outcome);
  }

  fail(error: unknown): void {
    this.release(this.#throttle.outcomeOfError(error, this.#caller.refusals));
  }

  /** Whoever lets go without a word has learned nothing about the API. */
  [Symbol.dispose](): void {
    this.release('ignored');
  }
}

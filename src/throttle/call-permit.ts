/** A permit as handlers hold it: given back once, in whatever way. */
import type { CallOutcomeKind, CallPermit } from '../machine/index.ts';
import type { Caller } from './caller.ts';
import { type CallOutcome, soundOutcome } from './outcome.ts';
import type { Permit } from './permit-pool.ts';
import type { Throttle } from './throttle.ts';

export class HeldPermit implements CallPermit {
  readonly #throttle: Throttle;
  readonly #permit: Permit;
  readonly #caller: Caller;
  readonly #among: Set<CallPermit> | undefined;
  #isReleased = false;

  constructor(
    throttle: Throttle,
    permit: Permit,
    caller: Caller,
    among: Set<CallPermit> | undefined,
  ) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#caller = caller;
    this.#among = among;
    among?.add(this);
  }

  release(outcome: CallOutcomeKind | CallOutcome = 'ok'): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#among?.delete(this);
    const said = soundOutcome(typeof outcome === 'string' ? { kind: outcome } : outcome);
    this.#throttle.release(this.#permit, said ?? { kind: 'ignored' });
  }

  fail(error: unknown, signal?: AbortSignal): void {
    this.release(this.#throttle.outcomeOfError(error, this.#caller.refusals, signal));
  }

  /** Whoever lets go without a word has learned nothing about the API. */
  [Symbol.dispose](): void {
    this.release('ignored');
  }
}

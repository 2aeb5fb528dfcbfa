/** A permit as handlers hold it: given back once, in whatever way. */
import type { CallOutcomeKind, CallPermit } from '../machine/index.ts';
import { heardOutcome } from './answers/heard.ts';
import { type CallOutcome, isCapacity } from './answers/outcome.ts';
import { refusalBy } from './answers/postponement.ts';
import type { Caller } from './caller.ts';
import type { Permit } from './permits/permit-pool.ts';
import type { Throttle } from './throttle.ts';

export class HeldPermit implements CallPermit {
  readonly #throttle: Throttle;
  readonly #permit: Permit;
  readonly #caller: Caller;
  readonly #among: Set<HeldPermit> | undefined;
  #isReleased = false;
  /** What it came to as far as is known, while its answer is still being read. */
  known: CallOutcome | undefined = undefined;

  constructor(
    throttle: Throttle,
    permit: Permit,
    caller: Caller,
    among: Set<HeldPermit> | undefined,
  ) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#caller = caller;
    this.#among = among;
    among?.add(this);
  }

  release(outcome: CallOutcomeKind | CallOutcome = 'ok'): void {
    if (this.#isReleased) return;
    const heard = heardOutcome(outcome) ?? { kind: 'ignored' };
    if (isCapacity(heard.kind)) {
      const delayMs = this.#throttle.judge.delayMs(heard, this.#caller.refusals);
      this.#caller.refused?.(refusalBy(this.#throttle.policy.name, heard.kind, delayMs));
    }
    this.end(heard);
  }

  fail(error: unknown, signal?: AbortSignal): CallOutcome {
    const outcome = this.#throttle.judge.ofError(error, this.#caller.refusals, signal);
    this.end(outcome);
    return outcome;
  }

  /** The same as release, for what was judged already. */
  end(outcome: CallOutcome): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#among?.delete(this);
    this.#throttle.release(this.#permit, outcome);
  }

  /** Whoever lets go without a word has learned nothing about the API, but for what its headers said. */
  [Symbol.dispose](): void {
    this.end(this.known ?? { kind: 'ignored' });
  }
}

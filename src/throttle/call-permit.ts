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
  readonly #wantedMs: number;
  #isReleased = false;
  /** What it came to as far as is known, while its answer is still being read. */
  known: CallOutcome | undefined = undefined;

  constructor(
    throttle: Throttle,
    permit: Permit,
    caller: Caller,
    among: Set<HeldPermit> | undefined,
    /** Since when it was waited for. */
    wantedMs: number,
  ) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#caller = caller;
    this.#among = among;
    this.#wantedMs = wantedMs;
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
    // A timeout that was over in line, but for a moment, says nothing of the API.
    const isOurs = outcome.kind === 'timeout' && signal?.aborted === true && this.#hasMostlyWaited;
    this.end(isOurs ? { kind: 'ignored' } : outcome);
    return outcome;
  }

  get #hasMostlyWaited(): boolean {
    const { sentMs } = this.#permit;
    return sentMs - this.#wantedMs > this.#throttle.nowMs - sentMs;
  }

  /** Whether it is one of this API that was given since then. */
  isOf(throttle: Throttle, sinceMs: number): boolean {
    return this.#throttle === throttle && this.#permit.sentMs >= sinceMs;
  }

  /** The same as release, for what was judged already. */
  end(outcome: CallOutcome): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#throttle.release(this.#permit, outcome);
    // Only then: another call of the same phase may have got it just now, and is not among them yet.
    this.#among?.delete(this);
  }

  /** Whoever lets go without a word has learned nothing about the API, but for what its headers said. */
  [Symbol.dispose](): void {
    this.end(this.known ?? { kind: 'ignored' });
  }
}

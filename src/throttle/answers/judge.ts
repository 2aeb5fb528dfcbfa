/** What calls of one API came to, by what its author says of them, or else by what is known of all APIs. */
import type { Clock, Random } from '../../ground/index.ts';
import type { ThrottlePolicy } from '../policy.ts';
import { classifyAnswer, classifyError, kindOfAbort } from './classify.ts';
import { classified } from './heard.ts';
import { type CallOutcome, isCapacity, isSilent } from './outcome.ts';
import { backoffMs, isOfAnother, notePostponement, refusalBy } from './postponement.ts';

export class Judge {
  readonly #policy: ThrottlePolicy;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(policy: ThrottlePolicy, clock: Clock, random: Random) {
    this.#policy = policy;
    this.#clock = clock;
    this.#random = random;
  }

  /** What this error says of the API; the run that it ends will wait where there was no room. */
  ofError(error: unknown, refusals: number, signal?: AbortSignal): CallOutcome {
    const { name: api } = this.#policy;
    if (isOfAnother(error, api)) return { kind: 'ignored' };
    const outcome = classified(this.#policy, { error }) ?? classifyError(error, this.#clock.now());
    if (signal?.aborted && isSilent(outcome.kind)) return { kind: kindOfAbort(signal.reason) };
    if (isCapacity(outcome.kind)) {
      const delayMs = this.delayMs(outcome, refusals);
      notePostponement(error, refusalBy(api, outcome.kind, delayMs));
    }
    return outcome;
  }

  ofAnswer(value: unknown): CallOutcome {
    return classified(this.#policy, { value }) ?? classifyAnswer(value, this.#clock.now());
  }

  /** How long a refused call had better wait. */
  delayMs(outcome: CallOutcome, refusals: number): number {
    return backoffMs(refusals, outcome.retryAfterMs, this.#random.fraction());
  }
}

/**
 * One call of one handler: made, waited for, and given up where it takes too long or nobody wants its
 * answer any more. A handler that was given up is told by its signal, waited for a little while, and
 * then left to itself; whatever it says after that counts for nothing. The call lasts until its answer
 * is judged: the same holds for a schema that takes its time over it.
 */
import type { Cancel, Clock } from '../ground/index.ts';
import type { PhaseFunction } from '../machine/index.ts';
import { type OfPhase, tell } from '../telemetry/events.ts';
import { PhaseTimeoutError } from './errors.ts';
import { afterAll, type Limit } from './limit.ts';
import type { GiveUp, LiveRun } from './live-run.ts';
import type { PhaseContext } from './phase-context.ts';

/** Wraps the call of a phase's function; tracing hangs in here. */
export type Around = <T>(phase: OfPhase, call: () => T) => T;

/** How long a handler that was told to stop is waited for before it is left to itself. */
const LEAK_GRACE_MS = 5_000;
/** From here on a handler that holds the loop is worth a word. */
const BLOCKED_MS = 1_000;

export type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  | { readonly kind: 'givenUp'; readonly why: GiveUp };

export class PhaseCall {
  readonly #clock: Clock;
  readonly #around: Around | undefined;
  readonly #run: LiveRun;
  readonly #context: PhaseContext;
  readonly of: OfPhase;
  readonly limit: Limit | undefined;
  begunMs = 0;
  #givenUp: GiveUp | undefined;
  #cancelTimer: Cancel | undefined;
  #isAnswered = false;
  /** Undefined once the call is over. */
  #conclude: ((answer: Answer) => void) | undefined;

  constructor(
    ports: { readonly clock: Clock; readonly around: Around | undefined },
    run: LiveRun,
    context: PhaseContext,
    of: OfPhase,
    limit: Limit | undefined,
  ) {
    this.#clock = ports.clock;
    this.#around = ports.around;
    this.#run = run;
    this.#context = context;
    this.of = of;
    this.limit = limit;
  }

  /**
   * Resolves with what `judge` makes of the handler's answer, as soon as there is one, or once it is
   * given up and has answered or had its grace. `onEnd` is told once, whatever is said after that.
   */
  make<T>(
    handler: PhaseFunction,
    judge: (answer: Answer) => T | Promise<T>,
    onEnd: (verdict: T) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (verdict: T) => {
        if (this.#close()) onEnd(verdict);
        resolve(verdict);
      };
      const fail = (defect: unknown) => {
        this.#close();
        reject(defect);
      };
      this.#conclude = (answer) => {
        try {
          const verdict = judge(this.#isLate(answer) ? this.#inVain() : answer);
          if (!(verdict instanceof Promise)) return end(verdict);
          verdict.then((late) => {
            this.#mindTime();
            if (this.#isLate(answer)) this.#conclude?.(this.#inVain());
            else end(late);
          }, fail);
        } catch (defect) {
          fail(defect);
        }
      };
      this.#run.call = this;
      this.begunMs = this.#clock.monotonicMs();
      if (this.limit) {
        this.#cancelTimer = afterAll(this.#clock, this.limit.ms, () => this.#outOfTime());
      }
      this.#invoke(handler);
    });
  }

  /** Ends the call; false where it had ended before. */
  #close(): boolean {
    if (!this.#conclude) return false;
    this.#conclude = undefined;
    this.#run.call = undefined;
    this.#cancelTimer?.();
    return true;
  }

  giveUp(why: GiveUp): void {
    if (this.#givenUp || !this.#conclude) return;
    this.#givenUp = why;
    this.#cancelTimer?.();
    this.#context.abort(why.reason);
    this.#cancelTimer = this.#clock.after(LEAK_GRACE_MS, () => {
      tell('phase.leaked', () => ({ ...this.of, why: why.why }));
      this.#conclude?.(this.#inVain());
    });
  }

  #invoke(handler: PhaseFunction): void {
    const context = this.#context;
    try {
      const value = this.#around ? this.#around(this.of, () => handler(context)) : handler(context);
      this.#tellIfBlocked();
      if (!isThenable(value)) return this.#answer({ kind: 'answered', value });
      value.then(
        (late) => this.#answer({ kind: 'answered', value: late }),
        (thrown) => this.#answer({ kind: 'threw', thrown }),
      );
    } catch (thrown) {
      this.#answer({ kind: 'threw', thrown });
    }
  }

  #answer(answer: Answer): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#mindTime();
    this.#conclude?.(answer);
  }

  /** A handler that held the loop past its limit kept the timer from firing, not time from passing. */
  #mindTime(): void {
    if (this.limit && this.#clock.monotonicMs() - this.begunMs > this.limit.ms) this.#outOfTime();
  }

  #inVain(): Answer {
    return { kind: 'givenUp', why: this.#givenUp! };
  }

  /**
   * Whether nobody wants the answer any more. A drain only hurries: what was done is done, and to drop
   * it would have the next process do it again.
   */
  #isLate(answer: Answer): boolean {
    if (!this.#givenUp || answer.kind === 'givenUp') return false;
    return !(this.#givenUp.why === 'drained' && answer.kind === 'answered');
  }

  #outOfTime(): void {
    const { why, ms } = this.limit!;
    this.giveUp({ why, reason: new PhaseTimeoutError(this.#run.state.at, ms) });
  }

  #tellIfBlocked(): void {
    const heldMs = this.#clock.monotonicMs() - this.begunMs;
    if (heldMs > BLOCKED_MS) tell('phase.blocked', () => ({ ...this.of, elapsedMs: heldMs }));
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

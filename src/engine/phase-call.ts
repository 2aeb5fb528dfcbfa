/**
 * One call of one handler: made, waited for, and given up where it takes too long or nobody wants its
 * answer any more. A handler that was given up is told by its signal, waited for a little while, and
 * then left to itself; whatever it says after that counts for nothing. The call lasts until its answer
 * is judged: the same holds for a schema that takes its time over it.
 */
import type { Cancel, Clock } from '../ground/index.ts';
import type { PhaseFunction, PhasePolicy, RunEvent, StepPlan } from '../machine/index.ts';
import { type OfPhase, tell } from '../telemetry/events.ts';
import type { Throttles } from '../throttle/index.ts';
import { PhaseTimeoutError } from './errors.ts';
import { afterAll, type Limit } from './limit.ts';
import type { GiveUp, LiveRun } from './live-run.ts';
import type { PhaseContext } from './phase-context.ts';
import type { PhaseTx, WrittenRecord } from './tie.ts';

/** Wraps the call of a phase's function; tracing hangs in here. */
export type Around = <T>(phase: OfPhase, call: () => T) => T;

export interface PerformPorts {
  readonly clock: Clock;
  readonly chance: () => number;
  readonly throttles: Throttles;
  readonly resultBytesMax: number;
  readonly around: Around | undefined;
  /** Makes the record that an event leads to, without writing it. */
  readonly prepare: (run: LiveRun, event: RunEvent) => WrittenRecord;
}

/** How long a handler that was told to stop is waited for before it is left to itself. */
const LEAK_GRACE_MS = 5_000;
/** From here on a handler that holds the loop is worth a word. */
const BLOCKED_MS = 1_000;

export type Answer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  | { readonly kind: 'givenUp'; readonly why: GiveUp };

/** What answers are to a call. One for all calls, since a call brings what has to be known of it. */
export interface CallJudge<T> {
  judge(call: PhaseCall<T>, answer: Answer): T | Promise<T>;
  /** Told once, whatever the handler says after that. */
  ended(call: PhaseCall<T>, verdict: T): void;
}

/** Everything it needs is a field: closures over that would be most of what a run in a phase weighs. */
export class PhaseCall<T> {
  readonly ports: PerformPorts;
  readonly run: LiveRun;
  readonly step: StepPlan;
  /** Taken at the call: by the time of the answer a cancel may have led the run out of the phase. */
  readonly policy: PhasePolicy;
  readonly of: OfPhase;
  readonly limit: Limit | undefined;
  begunMs = 0;
  /** A transaction in which the handler writes; only where its step persists in the store. */
  readonly tx: PhaseTx | undefined;
  readonly #context: PhaseContext;
  readonly #judge: CallJudge<T>;
  #givenUp: GiveUp | undefined;
  #cancelTimer: Cancel | undefined;
  #isAnswered = false;
  #isOver = false;
  #isHeld = false;
  #resolve: ((verdict: T) => void) | undefined;
  #reject: ((defect: unknown) => void) | undefined;

  constructor(
    ports: PerformPorts,
    run: LiveRun,
    step: StepPlan,
    policy: PhasePolicy,
    of: OfPhase,
    limit: Limit | undefined,
    context: PhaseContext,
    judge: CallJudge<T>,
  ) {
    this.ports = ports;
    this.run = run;
    this.step = step;
    this.policy = policy;
    this.of = of;
    this.limit = limit;
    this.tx = context.storing;
    this.#context = context;
    this.#judge = judge;
  }

  /**
   * Resolves with what the judge makes of the handler's answer, as soon as there is one, or once it is
   * given up and has answered or had its grace.
   */
  make(handler: PhaseFunction): Promise<T> {
    const made = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.run.call = this;
    this.begunMs = this.ports.clock.monotonicMs();
    if (this.limit) {
      this.#cancelTimer = afterAll(this.ports.clock, this.limit.ms, () => this.#outOfTime());
    }
    this.#invoke(handler);
    return made;
  }

  #conclude(answer: Answer): void {
    if (this.#isOver) return;
    try {
      const verdict = this.#judge.judge(this, this.#isLate(answer) ? this.#inVain() : answer);
      if (verdict instanceof Promise) this.#concludeLate(answer, verdict);
      else this.#end(verdict);
    } catch (defect) {
      this.#fail(defect);
    }
  }

  #concludeLate(answer: Answer, verdict: Promise<T>): void {
    verdict.then(
      (late) => {
        this.#mindTime();
        if (this.#isLate(answer)) this.#conclude(this.#inVain());
        else this.#end(late);
      },
      (defect) => this.#fail(defect),
    );
  }

  #end(verdict: T): void {
    if (this.#close()) this.#judge.ended(this, verdict);
    this.#resolve?.(verdict);
  }

  #fail(defect: unknown): void {
    this.#close();
    this.#reject?.(defect);
  }

  /** Ends the call; false where it had ended before. */
  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.run.call = undefined;
    this.#context.end();
    this.#cancelTimer?.();
    return true;
  }

  /**
   * From here on the answer is being made final elsewhere, and nobody can give it up. False where
   * somebody has.
   */
  hold(): boolean {
    if (this.#givenUp && this.#givenUp.why !== 'drained') return false;
    this.#isHeld = true;
    this.#cancelTimer?.();
    return true;
  }

  giveUp(why: GiveUp): void {
    if (this.#givenUp || this.#isOver || this.#isHeld) return;
    this.#givenUp = why;
    this.#cancelTimer?.();
    this.#context.abort(why.reason);
    this.#cancelTimer = this.ports.clock.after(LEAK_GRACE_MS, () => {
      tell('phase.leaked', () => ({ ...this.of, why: why.why }));
      this.#conclude(this.#inVain());
    });
  }

  #invoke(handler: PhaseFunction): void {
    const context = this.#context;
    try {
      const { around } = this.ports;
      const value = around ? around(this.of, () => handler(context)) : handler(context);
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
    this.#conclude(answer);
  }

  /** A handler that held the loop past its limit kept the timer from firing, not time from passing. */
  #mindTime(): void {
    const { limit, ports, begunMs } = this;
    if (this.#isHeld) return;
    if (limit && ports.clock.monotonicMs() - begunMs > limit.ms) this.#outOfTime();
  }

  #inVain(): Answer {
    return { kind: 'givenUp', why: this.#givenUp! };
  }

  /**
   * Whether nobody wants the answer any more. A drain only hurries: what was done is done, and to drop
   * it would have the next process do it again.
   */
  #isLate(answer: Answer): boolean {
    if (!this.#givenUp || this.#isHeld || answer.kind === 'givenUp') return false;
    return !(this.#givenUp.why === 'drained' && answer.kind === 'answered');
  }

  #outOfTime(): void {
    const { why, ms } = this.limit!;
    const outOfTime = { why, reason: new PhaseTimeoutError(this.run.state.at, ms) };
    // Whoever is hurried by a drain has no more time than before.
    if (this.#givenUp?.why === 'drained') this.#givenUp = outOfTime;
    else this.giveUp(outOfTime);
  }

  #tellIfBlocked(): void {
    const heldMs = this.ports.clock.monotonicMs() - this.begunMs;
    if (heldMs > BLOCKED_MS) tell('phase.blocked', () => ({ ...this.of, elapsedMs: heldMs }));
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

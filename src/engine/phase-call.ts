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
import { afterAll, type Limit, limitOf } from './limit.ts';
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
  /** What it has to keep to now: its own time, or that of its run. */
  limit: Limit | undefined = undefined;
  begunMs = 0;
  /** A transaction in which the handler writes; only where its step persists in the store. */
  readonly tx: PhaseTx | undefined;
  readonly #context: PhaseContext;
  readonly #judge: CallJudge<T>;
  readonly #timeoutMs: number | undefined;
  /** What was left of its own time when its limit was last set, and when that was. */
  #leftMs: number | undefined;
  #limitedMs = 0;
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
    timeoutMs: number | undefined,
    context: PhaseContext,
    judge: CallJudge<T>,
  ) {
    this.ports = ports;
    this.run = run;
    this.step = step;
    this.policy = policy;
    this.of = of;
    this.#timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
    this.tx = context.storing;
    context.time = this;
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
    this.#keepTo(this.#leftMs, this.begunMs);
    this.#invoke(handler);
    return made;
  }

  /**
   * It waits for leave to call: that is no work of its own, so its time stands still, and only that of
   * its run goes on. How long it may wait is the throttle's to say.
   */
  pause(): void {
    if (this.#leftMs === undefined) return;
    const nowMs = this.ports.clock.monotonicMs();
    this.#leftMs -= nowMs - this.#limitedMs;
    this.#keepTo(undefined, nowMs);
  }

  goOn(): void {
    if (this.#leftMs !== undefined) this.#keepTo(this.#leftMs, this.ports.clock.monotonicMs());
  }

  #keepTo(leftMs: number | undefined, nowMs: number): void {
    const { ports, run } = this;
    this.#limitedMs = nowMs;
    this.limit = limitOf(ports.clock, run, leftMs);
    // Whoever was given up is waited for by another timer.
    if (this.#givenUp || this.#isHeld || this.#isOver) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.limit && afterAll(ports.clock, this.limit.ms, () => this.#outOfTime());
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
    if (answer.kind === 'threw') this.#context.threw(answer.thrown);
    this.#conclude(answer);
  }

  /** A handler that held the loop past its limit kept the timer from firing, not time from passing. */
  #mindTime(): void {
    const { limit, ports } = this;
    if (this.#isHeld) return;
    if (limit && ports.clock.monotonicMs() - this.#limitedMs > limit.ms) this.#outOfTime();
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
    const wholeMs = why === 'timeout' ? (this.#timeoutMs ?? ms) : ms;
    const outOfTime = { why, reason: new PhaseTimeoutError(this.run.state.at, wholeMs) };
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

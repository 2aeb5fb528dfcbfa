/**
 * Where a run stands by its records, without its machine: states are named '<step>.<phase>', and a step
 * that has a check begins with it, so that the records alone tell what is called next. The same rules
 * as those of the fold that the engine goes by, as far as they can be told without a plan.
 */
import { isFinal, placeIn, type RunEvent } from '../machine/index.ts';
import type { Attempt, TracedRecord } from './trace.ts';

export interface Waiting {
  readonly why: 'retry' | 'postponed' | 'sleep';
  readonly dueAt: number;
  readonly seq: number;
  /** Somebody took the run meanwhile: perhaps since it was due by another clock. */
  readonly takenAt?: number | undefined;
}

export class Standing {
  step = '';
  phase = '' as Attempt['phase'];
  attempt = 1;
  waiting: Waiting | undefined;
  /** The last attempt was cut off: a probe decides, and the phase is not called again. */
  isSpent = false;
  #mustProbe = false;
  #mayBeAhead = false;
  /** Of the line it stands under: steps that begin with a check. */
  readonly #checked = new Set<string>();

  /** What is called where the run stands. */
  get called(): Attempt['phase'] {
    return this.#mustProbe ? 'probe' : this.phase;
  }

  get isAsleep(): boolean {
    return this.waiting?.why === 'sleep';
  }

  enter({ event, state, seq }: TracedRecord): void {
    if (isFinal(state)) return;
    const [from, { step, phase }] = [this.phase, placeIn(state)];
    if (event.type === 'UPGRADED') this.#checked.clear();
    if (phase === 'check') this.#checked.add(step);
    const isAnew = event.type === 'UPGRADED' || step !== this.step;
    this.step = step;
    this.phase = phase;
    if (isAnew) {
      this.attempt = 1;
      this.#mustProbe = this.#mayBeAhead = this.isSpent = false;
    } else this.#goOn(event, from, seq);
  }

  #goOn(event: RunEvent, from: Attempt['phase'], seq: number): void {
    const canProbe =
      this.#checked.has(this.step) && (this.phase === 'work' || this.phase === 'persist');
    switch (event.type) {
      case 'FAILED':
        this.attempt += 1;
        this.#mustProbe = canProbe;
        this.waiting = { why: 'retry', dueAt: event.dueAt, seq };
        break;
      case 'POSTPONED':
        this.#mustProbe = canProbe;
        this.waiting = { why: 'postponed', dueAt: event.dueAt, seq };
        break;
      case 'ASLEEP':
        this.waiting = { why: 'sleep', dueAt: event.dueAt, seq };
        break;
      case 'INTERRUPTED':
        this.attempt += event.isFree ? 0 : 1;
        this.#mustProbe = canProbe;
        this.isSpent = event.isLast ?? this.isSpent;
        break;
      case 'TAKEN':
      case 'ADVANCED':
        if (event.interruption && from === 'validate') this.#mayBeAhead = true;
        if (event.interruption === 'left') this.#mustProbe = canProbe;
        break;
      case 'DONE':
        this.#mustProbe = this.#mayBeAhead && from === 'validate' && canProbe;
        break;
      case 'PROBED':
        this.#mustProbe = false;
        break;
      default:
        break;
    }
  }
}

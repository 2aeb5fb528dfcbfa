/**
 * A run as its records tell it where nobody has its line any more: what an upgrade is given. States are
 * named '<step>.<phase>', so the steps it has finished, and what they put out, can be read from the
 * records alone.
 */
import type { Json } from '../ground/index.ts';
import { isFinal } from './chart.ts';
import type { PastRecord } from './fold.ts';
import type { RunEvent } from './run-event.ts';
import { type Ending, endingOf, type RunState, successOf } from './run-state.ts';
import type { Transition } from './types.ts';

/** The state before an upgrade; what only the line could tell is left empty. */
export function readOldState(records: readonly PastRecord[]): RunState {
  return oldRunOf(records).state;
}

/** A run that is at no step of any line yet. */
export function notBegun(input: Json): RunState {
  return {
    at: '',
    input,
    startedAt: 0,
    deadlineAt: undefined,
    outputs: {},
    work: undefined,
    attempt: 1,
    dueAt: undefined,
    mustProbe: false,
    mayBeAhead: false,
    isSpent: false,
    ending: undefined,
  };
}

/** How the run has ended by its records, whoever wrote them; undefined where it has not. */
export function toldEnding(records: readonly PastRecord[]): Ending | undefined {
  return oldRunOf(records).ending;
}

function oldRunOf(records: readonly PastRecord[]): OldRun {
  const run = new OldRun();
  for (const record of records) run.read(record);
  return run;
}

/** The same record by record, for histories that nobody wants to have in memory whole. */
export class OldRun {
  #first: PastRecord | undefined;
  #last: PastRecord | undefined;
  /** Where it stood before its last record. */
  #from = '';
  #input: Json = null;
  /** Changed in place, since there may be very many of them. */
  #outputs = new Map<string, Json>();
  /** What `work` of the current step returned. */
  #work: Json | undefined;
  readonly #attempts = new Attempts();

  read(record: PastRecord): void {
    this.#from = this.#last?.state ?? '';
    this.#first ??= record;
    this.#last = record;
    this.#attempts.read(record);
    this.#readEvent(this.#from, record.event, record.state);
  }

  get state(): RunState {
    const first = this.#first!;
    return {
      ...notBegun(this.#input),
      at: this.#last!.state,
      startedAt: first.at,
      deadlineAt: first.event.type === 'STARTED' ? first.event.deadlineAt : undefined,
      outputs: Object.fromEntries(this.#outputs),
      attempt: this.#attempts.count,
    };
  }

  get ending(): Ending | undefined {
    const { event, state } = this.#last!;
    if (!isFinal(state)) return undefined;
    switch (event.type) {
      case 'EXHAUSTED':
      case 'TIMED_OUT':
      case 'ABORTED':
      case 'CANCELLED':
        return endingOf(this.#from, event);
      default: {
        const output = Object.values(Object.fromEntries(this.#outputs)).at(-1);
        return successOf(this.#from, state, output, event);
      }
    }
  }

  #readEvent(from: string, event: RunEvent, to: string): void {
    switch (event.type) {
      case 'STARTED':
        return this.#begin(event.input, event.carried?.outputs ?? {});
      case 'UPGRADED':
        return this.#begin(event.input, event.outputs);
      case 'DONE':
      case 'HANDED_OFF':
        return this.#end(from, event, to);
      default:
    }
  }

  #begin(input: Json, outputs: Readonly<Record<string, Json>>): void {
    this.#input = input;
    this.#outputs = new Map(Object.entries(outputs));
    this.#work = undefined;
  }

  #end(from: string, event: RunEvent & { type: 'DONE' | 'HANDED_OFF' }, to: string): void {
    const { step, phase } = placeIn(from);
    if (!isFinal(to) && placeIn(to).step === step) {
      if (phase === 'work') this.#work = event.output ?? null;
      return;
    }
    // Without persist the step's output is what work returned; validate may be its last phase.
    const isByWork = event.type === 'DONE' && phase === 'validate';
    const output = (isByWork ? this.#work : event.output) ?? null;
    this.#work = undefined;
    if (phase !== 'sleep') this.#outputs.set(step, output);
  }
}

/** 'pull.work' in its two parts. */
export function placeIn(state: string): Transition {
  const dot = state.lastIndexOf('.');
  const phase = state.slice(dot + 1) as Transition['phase'];
  return { step: state.slice(0, Math.max(0, dot)), phase };
}

/** Failures and interruptions since the current step was entered, and one. */
export function attemptOf(records: readonly PastRecord[]): number {
  const attempts = new Attempts();
  for (const record of records) attempts.read(record);
  return attempts.count;
}

class Attempts {
  count = 1;
  #step = '';

  read({ state, event }: PastRecord): void {
    const stepNow = placeIn(state).step;
    if (event.type === 'UPGRADED' || (state.includes('.') && stepNow !== this.#step)) {
      this.#step = stepNow;
      this.count = 1;
    } else if (event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event.isFree)) {
      this.count++;
    }
  }
}

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
  let read: Read = { input: null, outputs: {}, work: undefined };
  let from = '';
  for (const { event, state } of records) {
    read = readOne(read, from, event, state);
    from = state;
  }
  const first = records[0]!;
  return {
    ...notBegun(read.input),
    at: from,
    startedAt: first.at,
    deadlineAt: first.event.type === 'STARTED' ? first.event.deadlineAt : undefined,
    outputs: read.outputs,
    attempt: attemptOf(records),
  };
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
  const last = records.at(-1)!;
  if (!isFinal(last.state)) return undefined;
  const from = records.at(-2)?.state ?? '';
  const { event } = last;
  switch (event.type) {
    case 'EXHAUSTED':
    case 'TIMED_OUT':
    case 'ABORTED':
    case 'CANCELLED':
      return endingOf(from, event);
    default: {
      const output = Object.values(readOldState(records).outputs).at(-1);
      return successOf(from, last.state, output, event);
    }
  }
}

interface Read {
  readonly input: Json;
  readonly outputs: Readonly<Record<string, Json>>;
  /** What `work` of the current step returned. */
  readonly work: Json | undefined;
}

function readOne(read: Read, from: string, event: RunEvent, to: string): Read {
  switch (event.type) {
    case 'STARTED':
      return { input: event.input, outputs: event.carried?.outputs ?? {}, work: undefined };
    case 'UPGRADED':
      return { input: event.input, outputs: event.outputs, work: undefined };
    case 'DONE':
    case 'HANDED_OFF':
      break;
    default:
      return read;
  }
  const { step, phase } = placeIn(from);
  if (!isFinal(to) && placeIn(to).step === step) {
    return phase === 'work' ? { ...read, work: event.output ?? null } : read;
  }
  if (phase === 'sleep') return { ...read, work: undefined };
  // Without persist the step's output is what work returned; validate may be its last phase.
  const isByWork = event.type === 'DONE' && phase === 'validate';
  const output = (isByWork ? read.work : event.output) ?? null;
  return { ...read, outputs: { ...read.outputs, [step]: output }, work: undefined };
}

/** 'pull.work' in its two parts. */
export function placeIn(state: string): Transition {
  const dot = state.lastIndexOf('.');
  const phase = state.slice(dot + 1) as Transition['phase'];
  return { step: state.slice(0, Math.max(0, dot)), phase };
}

/** Failures and interruptions since the current step was entered, and one. */
export function attemptOf(records: readonly PastRecord[]): number {
  let attempt = 1;
  let step = '';
  for (const { state, event } of records) {
    const stepNow = placeIn(state).step;
    if (event.type === 'UPGRADED' || (state.includes('.') && stepNow !== step)) {
      step = stepNow;
      attempt = 1;
    } else if (event.type === 'FAILED' || (event.type === 'INTERRUPTED' && !event.isFree)) {
      attempt++;
    }
  }
  return attempt;
}

/**
 * What a run is, as far as its records tell: a pure fold. The engine keeps the result of the fold
 * while it runs, a restart folds the journal again, and both must come out equal.
 */
import { assert, assertNever, type ErrorInfo, type Json } from '../ground/index.ts';
import { firstStateOf, isFinal } from './chart.ts';
import type { AbortKind } from './outcomes.ts';
import type { Plan } from './plan.ts';
import type { Interruption, RunEvent } from './run-event.ts';

export type Outcome =
  | 'completed'
  | 'handedOff'
  | 'exhausted'
  | 'aborted'
  | 'timedOut'
  | 'cancelled';

export interface Ending {
  readonly outcome: Outcome;
  /** Where it ended: the phase that was the last one. */
  readonly state: string;
  readonly output?: Json | undefined;
  readonly reason?: string | undefined;
  readonly kind?: AbortKind | undefined;
  readonly error?: ErrorInfo | undefined;
}

export interface RunState {
  /** The chart's state: '<step>.<phase>' or a final one. */
  readonly at: string;
  readonly input: Json;
  readonly startedAt: number;
  readonly deadlineAt: number | undefined;
  /** What finished steps have put out, in the order they finished. */
  readonly outputs: Readonly<Record<string, Json>>;
  /** What `work` of the current step returned. */
  readonly work: Json | undefined;
  /** Of the current step, from 1. */
  readonly attempt: number;
  /** Nothing happens before this wall time. */
  readonly dueAt: number | undefined;
  /** The API that it waits for until then. */
  readonly waitsForApi?: string | undefined;
  /** Since when it has wanted to call that, by the wall clock. */
  readonly wantedAt?: number | undefined;
  /** How often in a row that had no room for it. */
  readonly refusals?: number | undefined;
  /** The next thing to do is to ask `check` whether the work or persist has already happened. */
  readonly mustProbe: boolean;
  /**
   * It was taken over at a validate: whoever had it may have gone on to persist before that was known
   * here, so `check` is asked before this run does.
   */
  readonly mayBeAhead: boolean;
  /** The last attempt was interrupted: that probe decides, and the phase is not called again. */
  readonly isSpent: boolean;
  readonly ending: Ending | undefined;
}

export type StartedEvent = Extract<RunEvent, { type: 'STARTED' }>;
export type AdvancedEvent = Extract<RunEvent, { type: 'ADVANCED' }>;
export type UpgradedEvent = Extract<RunEvent, { type: 'UPGRADED' }>;

export function startState(plan: Plan, event: StartedEvent, at: number): RunState {
  return {
    at: (event.carried && firstStateOf(plan.chart, event.carried.step)) ?? plan.chart.initial,
    input: event.input,
    startedAt: at,
    deadlineAt: event.deadlineAt,
    outputs: event.carried?.outputs ?? NO_OUTPUTS,
    work: undefined,
    attempt: 1,
    dueAt: undefined,
    mustProbe: false,
    mayBeAhead: false,
    isSpent: false,
    ending: undefined,
  };
}

/** A run as its upgrade has made it: begun anew at that step, but as old as it was. */
export function upgradedState(
  plan: Plan,
  { startedAt, deadlineAt }: Pick<RunState, 'startedAt' | 'deadlineAt'>,
  { version, fingerprint, input, step, outputs }: UpgradedEvent,
): RunState | undefined {
  if (!hasBefore(plan, step, outputs)) return undefined;
  const carried = { step, outputs };
  const machine = plan.name;
  return startState(
    plan,
    { type: 'STARTED', machine, version, fingerprint, input, deadlineAt, carried },
    startedAt,
  );
}

/** Whether these are the outputs of all steps before that one, and of no other. */
export function hasBefore(plan: Plan, step: string, outputs: RunState['outputs']): boolean {
  const index = plan.line.findIndex(({ name }) => name === step);
  if (index < 0) return false;
  const before = plan.line.slice(0, index).filter(({ kind }) => kind === 'step');
  return (
    before.length === Object.keys(outputs).length &&
    before.every(({ name }) => Object.hasOwn(outputs, name))
  );
}

/** One for all runs that have put out nothing yet. */
const NO_OUTPUTS: RunState['outputs'] = Object.freeze({});

const NO_API = { waitsForApi: undefined, wantedAt: undefined, refusals: undefined } as const;

/** Whatever API the phase has waited for, it has got its call. */
function afterCall(state: RunState): RunState {
  return state.waitsForApi === undefined ? state : { ...state, ...NO_API };
}

/** The state after `event`; undefined where the chart knows no way from here by that event. */
export function advance(plan: Plan, before: RunState, event: RunEvent): RunState | undefined {
  const state = event.type === 'DONE' || event.type === 'HANDED_OFF' ? afterCall(before) : before;
  // From whatever state of the former line: that line may be known to nobody here.
  if (event.type === 'UPGRADED') {
    return isFinal(state.at) ? undefined : upgradedState(plan, state, event);
  }
  const at = plan.chart.next(state.at, event.type);
  if (at === undefined) return undefined;
  const from = plan.chart.placeOf(state.at);
  assert(from !== undefined, `an event for ${state.at}, which is no phase`);
  switch (event.type) {
    case 'STARTED':
      return undefined;
    case 'DONE':
      return from.phase === 'work' && plan.chart.placeOf(at)?.index === from.index
        ? { ...state, at, work: event.output ?? null, dueAt: undefined, mustProbe: false }
        : afterSuccess(plan, state, at, event.output);
    case 'HANDED_OFF':
      return enterStep(state, at, { [from.step]: event.output }, event);
    case 'FAILED':
      return {
        ...state,
        at,
        attempt: state.attempt + 1,
        dueAt: event.dueAt,
        ...NO_API,
        work: plan.chart.placeOf(at)?.phase === 'work' ? undefined : state.work,
        mustProbe: canProbe(plan, at),
      };
    case 'POSTPONED':
      return {
        ...state,
        at,
        dueAt: event.dueAt,
        waitsForApi: event.api,
        wantedAt: event.wantedAt,
        refusals: event.refusals,
        mustProbe: canProbe(plan, at),
      };
    case 'INTERRUPTED':
      // Its due time is on record: nothing of the author's was being called any more.
      if (from.phase === 'sleep' && state.dueAt !== undefined) return undefined;
      return {
        ...state,
        at,
        attempt: state.attempt + (event.isFree ? 0 : 1),
        dueAt: undefined,
        mustProbe: canProbe(plan, at),
        isSpent: event.isLast ?? state.isSpent,
      };
    case 'TAKEN':
      return afterTaking(plan, event.isDue ? afterWait(plan, state) : state, event);
    case 'ADVANCED':
      return afterTaking(plan, state, event);
    case 'PROBED':
      return { ...state, at, dueAt: undefined, mustProbe: false };
    case 'ASLEEP':
      return { ...state, at, dueAt: event.dueAt };
    case 'EXHAUSTED':
    case 'TIMED_OUT':
    case 'ABORTED':
    case 'CANCELLED':
      return {
        ...state,
        at,
        dueAt: undefined,
        mustProbe: false,
        ending: endingOf(state.at, event),
      };
    default:
      return assertNever(event);
  }
}

/** Whether a run that may have been inside this state when its process died has to ask `check`. */
export function canProbe(plan: Plan, at: string): boolean {
  return plan.chart.next(at, 'PROBED') !== undefined;
}

/** A sleep is over only when that is on record; of any other wait whoever dies now was in its phase. */
function afterWait(plan: Plan, state: RunState): RunState {
  return plan.chart.placeOf(state.at)?.phase === 'sleep' ? state : { ...state, dueAt: undefined };
}

/** What was left is counted nowhere, so nothing but this record says that its phase had begun. */
function afterTaking(
  plan: Plan,
  state: RunState,
  { interruption }: { readonly interruption?: Interruption | undefined },
): RunState {
  if (!interruption) return state;
  const phase = plan.chart.placeOf(state.at)?.phase;
  const mayBeAhead = state.mayBeAhead || phase === 'validate';
  if (interruption === 'cut') return { ...state, mayBeAhead };
  const dueAt = phase === 'sleep' ? state.dueAt : undefined;
  return { ...state, mayBeAhead, dueAt, mustProbe: canProbe(plan, state.at) };
}

/** A check that went on, a validation that passed, a sleep that is over, a step that is done. */
function afterSuccess(plan: Plan, state: RunState, at: string, output: Json | undefined): RunState {
  const from = plan.chart.placeOf(state.at);
  assert(from !== undefined, `${state.at} is no phase`);
  const isSameStep = plan.chart.placeOf(at)?.index === from.index;
  if (isSameStep) {
    const mustProbe = state.mayBeAhead && from.phase === 'validate' && canProbe(plan, at);
    return { ...state, at, dueAt: undefined, mustProbe };
  }
  if (from.phase === 'sleep') return enterStep(state, at, {}, { type: 'DONE' });
  // Without persist the step's output is what work returned; validate may be the last phase.
  const stepOutput = from.phase === 'validate' ? (state.work ?? null) : (output ?? null);
  return enterStep(state, at, { [from.step]: stepOutput }, { type: 'DONE', output: stepOutput });
}

function enterStep(
  state: RunState,
  at: string,
  output: Readonly<Record<string, Json>>,
  event: RunEvent,
): RunState {
  const outputs = { ...state.outputs, ...output };
  return {
    ...state,
    at,
    outputs,
    work: undefined,
    attempt: 1,
    dueAt: undefined,
    mustProbe: false,
    mayBeAhead: false,
    isSpent: false,
    ending: isFinal(at) ? successOf(state.at, at, Object.values(outputs).at(-1), event) : undefined,
  };
}

export function successOf(
  from: string,
  at: string,
  output: Json | undefined,
  event: RunEvent,
): Ending {
  return at === 'handedOff' && event.type === 'HANDED_OFF'
    ? { outcome: 'handedOff', state: from, output: event.output, reason: event.reason }
    : { outcome: 'completed', state: from, output: output ?? null };
}

type FailingEvent = Extract<
  RunEvent,
  { type: 'EXHAUSTED' | 'TIMED_OUT' | 'ABORTED' | 'CANCELLED' }
>;

export function endingOf(state: string, event: FailingEvent): Ending {
  switch (event.type) {
    case 'EXHAUSTED':
      return { outcome: 'exhausted', state, error: event.error };
    case 'TIMED_OUT':
      return { outcome: 'timedOut', state, error: event.error };
    case 'ABORTED':
      return { outcome: 'aborted', state, reason: event.reason, kind: event.kind };
    case 'CANCELLED':
      return { outcome: 'cancelled', state, reason: event.reason };
    default:
      return assertNever(event);
  }
}

/**
 * The line as a flat XState machine. XState decides every transition; since a flat machine without
 * guards answers the same for the same (state, event), its answers are kept, and the hot path asks
 * XState only once per pair.
 *
 *   pull.check ──DONE──▶ pull.work ──DONE──▶ pull.validate ──DONE──▶ pull.persist ──DONE──▶ completed
 *       │  HANDED_OFF        │ ▲ FAILED           │ FAILED                │
 *       ▼                    └─┘◀─────────────────┘                       ▼
 *   next step or handedOff                                            next step
 *
 *   every phase: EXHAUSTED, ABORTED, TIMED_OUT ▶ failed;  CANCELLED ▶ cancelled;
 *   TAKEN, ADVANCED, INTERRUPTED ▶ itself;  UPGRADED has no arrow: it names the step it leads to
 */
import { type AnyStateMachine, createMachine, initialTransition, transition } from 'xstate';
import { assert } from '../ground/index.ts';
import type { SleepPlan, StepPlan } from './plan.ts';
import type { EventType } from './run-event.ts';
import type { Phase, Transition } from './types.ts';

export const PHASES: readonly Phase[] = ['check', 'work', 'validate', 'persist'];
export const FINAL_STATES = ['completed', 'handedOff', 'failed', 'cancelled'] as const;
export type FinalState = (typeof FINAL_STATES)[number];

type Line = readonly (StepPlan | SleepPlan)[];
type Arrows = Partial<Record<EventType, string>>;

export interface Chart {
  readonly machine: AnyStateMachine;
  readonly initial: string;
  readonly transitions: readonly Transition[];
  /** Which phase a state stands for; undefined for final states and for states it does not have. */
  placeOf(state: string): Place | undefined;
  /** Where `event` leads from `state`, as XState says; undefined where it does not say. */
  next(state: string, event: EventType): string | undefined;
}

export interface Place extends Transition {
  /** Index into the plan's line. */
  readonly index: number;
}

export function isFinal(state: string): state is FinalState {
  return (FINAL_STATES as readonly string[]).includes(state);
}

export function compileChart(name: string, line: Line): Chart {
  const places = placesOf(line);
  const states: Record<string, { on?: Arrows; type?: 'final' }> = {};
  const all = [...places.values()];
  all.forEach((place, at) => {
    states[stateOf(place)] = { on: arrowsOf(line, all, at) };
  });
  for (const state of FINAL_STATES) states[state] = { type: 'final' };
  const [initial] = places.keys();
  assert(initial !== undefined, 'a chart needs a first state');
  // The cast: state names are data here, and XState would want them as literal types.
  const machine = createMachine({ id: name, initial, states } as never) as AnyStateMachine;
  return {
    machine,
    initial: initialTransition(machine)[0].value as string,
    transitions: Object.freeze(all.map(({ step, phase }) => Object.freeze({ step, phase }))),
    placeOf: (state) => places.get(state),
    next: memoised(machine, new Set([...places.keys(), ...FINAL_STATES])),
  };
}

function placesOf(line: Line): Map<string, Place> {
  const places = new Map<string, Place>();
  line.forEach((part, index) => {
    const phases =
      part.kind === 'sleep'
        ? (['sleep'] as const)
        : PHASES.filter((phase) => part.functions[phase]);
    for (const phase of phases) {
      const place = { step: part.name, phase, index };
      places.set(stateOf(place), place);
    }
  });
  return places;
}

/** Which event leads where from one phase. This table is the whole of the machine's behaviour. */
function arrowsOf(line: Line, places: readonly Place[], at: number): Arrows {
  const place = places[at]!;
  const { step, phase, index } = place;
  const self = target(place);
  const after = places[at + 1];
  // A step has at most four phases, so the next step begins close by.
  const nextStep = places.slice(at + 1, at + 5).find((other) => other.index === index + 1);
  const ending = { EXHAUSTED: 'failed', TIMED_OUT: 'failed', CANCELLED: 'cancelled' } as const;
  const everywhere = { ...ending, TAKEN: self, ADVANCED: self, INTERRUPTED: self };
  const done = after ? target(after) : 'completed';
  if (phase === 'sleep') return { ...everywhere, ASLEEP: self, FAILED: self, DONE: done };

  const part = line[index];
  const hasCheck = part?.kind === 'step' && part.functions.check !== undefined;
  const mayProbe = hasCheck && (phase === 'work' || phase === 'persist');
  return {
    ...everywhere,
    ABORTED: 'failed',
    DONE: done,
    // A rejected validation blames the work, so it is done again.
    FAILED: phase === 'validate' ? target({ step, phase: 'work' }) : self,
    POSTPONED: self,
    ...(mayProbe ? { PROBED: self } : {}),
    ...(mayProbe || phase === 'check'
      ? { HANDED_OFF: nextStep ? target(nextStep) : 'handedOff' }
      : {}),
  };
}

/** 'pull.work': how a phase of a line is called everywhere. */
export function stateOf({ step, phase }: Transition): string {
  return `${step}.${phase}`;
}

/** XState splits targets at dots; ours are part of the name. */
function target({ step, phase }: Transition): string {
  return `${step}\\.${phase}`;
}

/** Where a step begins; undefined where the line has no such step. */
export function firstStateOf(chart: Chart, step: string): string | undefined {
  const first = chart.transitions.find((transition) => transition.step === step);
  return first && stateOf(first);
}

function memoised(machine: AnyStateMachine, states: ReadonlySet<string>): Chart['next'] {
  const answers = new Map<string, Map<EventType, string | undefined>>();
  return (state, event) => {
    // XState throws over a state it does not have, and takes '__proto__' for one it has.
    if (!states.has(state)) return undefined;
    let ofState = answers.get(state);
    if (!ofState) {
      ofState = new Map();
      answers.set(state, ofState);
    }
    if (!ofState.has(event)) ofState.set(event, ask(machine, state, event));
    return ofState.get(event);
  };
}

/** Asks XState beforehand what nearly every record will ask: for whoever has time now and none later. */
export function rehearse({ transitions, next }: Chart): void {
  for (const transition of transitions) {
    for (const event of ['DONE', 'TAKEN'] as const) next(stateOf(transition), event);
  }
}

function ask(machine: AnyStateMachine, state: string, event: EventType): string | undefined {
  const from = machine.resolveState({ value: state, context: {} });
  if (!from.can({ type: event })) return undefined;
  return transition(machine, from, { type: event })[0].value as string;
}

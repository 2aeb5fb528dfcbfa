/** Short words for machines, events, and the state that a run reaches by them. */
import type { Json } from '../../src/ground/index.ts';
import {
  advance,
  type Machine,
  type Plan,
  type RunEvent,
  type RunState,
  startState,
} from '../../src/machine/index.ts';
import { type PartShape, planFor } from './arbitrary.ts';

export const error = { name: 'Error', message: 'no' };
const none = { check: false, validate: false, persist: false };
export const step = (name: string, phases: Partial<PartShape> = {}): PartShape => ({
  name,
  kind: 'step',
  ...none,
  ...phases,
});
export const sleep = (name: string): PartShape => ({ ...none, name, kind: 'sleep' });
export const full = { check: true, validate: true, persist: true };

export const DONE = (output?: Json): RunEvent => ({ type: 'DONE', output });
export const FAILED: RunEvent = { type: 'FAILED', error, dueAt: 5 };
export const POSTPONED: RunEvent = { type: 'POSTPONED', reason: 'busy', dueAt: 7 };
export const INTERRUPTED: RunEvent = { type: 'INTERRUPTED' };
export const LET_GO: RunEvent = { type: 'INTERRUPTED', isFree: true };
export const PROBED: RunEvent = { type: 'PROBED' };
export const ASLEEP: RunEvent = { type: 'ASLEEP', dueAt: 9 };
export const handedOff = (output: Json): RunEvent => ({
  type: 'HANDED_OFF',
  output,
  reason: 'there',
});

function start(plan: Plan): RunState {
  const { name, version, fingerprint } = plan;
  return startState(
    plan,
    { type: 'STARTED', machine: name, version, fingerprint, input: 1 },
    1_000,
  );
}

export function reach(of: Machine, ...events: readonly RunEvent[]): RunState {
  const plan = planFor(of);
  return events.reduce((state, event, index) => {
    const next = advance(plan, state, event);
    if (!next) throw new Error(`event ${index}, ${event.type}, is not allowed in ${state.at}`);
    return next;
  }, start(plan));
}

/** The states that a run without any mishap passes through. */
export function pathOf(of: Machine): string[] {
  const plan = planFor(of);
  const path: string[] = [];
  for (let state = start(plan); !state.ending; state = advance(plan, state, DONE(0))!)
    path.push(state.at);
  return path;
}

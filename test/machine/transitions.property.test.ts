/** XState decides: what the hot path answers is what XState's public functions answer, always. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, initialTransition, transition } from 'xstate';
import {
  type Chart,
  EVENT_TYPES,
  FINAL_STATES,
  isFinal,
  type Machine,
} from '../../src/machine/index.ts';
import { SEED, seeded } from '../ground/seed.ts';
import { eventTypes, machine, machineOf, planFor } from './arbitrary.ts';

type Next = Chart['next'];
const xstateOf = (of: Machine) => of.toXState() as AnyStateMachine;

/** Walks XState's own snapshots through `events`; says where `next` first answers otherwise. */
function disagreement(of: Machine, next: Next, events: Iterable<(typeof EVENT_TYPES)[number]>) {
  const xstate = xstateOf(of);
  let [snapshot] = initialTransition(xstate);
  for (const type of events) {
    const from = snapshot.value as string;
    const isAllowed = snapshot.can({ type });
    const [after] = transition(xstate, snapshot, { type });
    const xstateSays = isAllowed ? (after.value as string) : undefined;
    if (next(from, type) !== xstateSays) return { from, type, xstateSays, got: next(from, type) };
    if (isAllowed) snapshot = after;
  }
  return undefined;
}

/** The same for every event in every state that can be reached at all. */
function anyDisagreement(of: Machine, next: Next) {
  const xstate = xstateOf(of);
  const [first] = initialTransition(xstate);
  const found = new Map([[first.value as string, first]]);
  for (const [from, snapshot] of found) {
    for (const type of EVENT_TYPES) {
      const [after] = transition(xstate, snapshot, { type });
      const xstateSays = snapshot.can({ type }) ? (after.value as string) : undefined;
      if (next(from, type) !== xstateSays) return { from, type, xstateSays, got: next(from, type) };
      found.set(after.value as string, found.get(after.value as string) ?? after);
    }
  }
  return undefined;
}

describe(`with seed ${SEED}`, () => {
  test('the hot path and transition() agree at every step of random event sequences', () => {
    let stepCount = 0;
    fc.assert(
      fc.property(machine, eventTypes, (of, events) => {
        stepCount += events.length;
        // Twice: the first time XState fills the memo, the second time the memo answers.
        expect(disagreement(of, planFor(of).chart.next, events)).toBeUndefined();
        expect(disagreement(of, planFor(of).chart.next, events)).toBeUndefined();
      }),
      seeded(400),
    );
    expect(stepCount).toBeGreaterThan(5_000);
  });

  test('they agree on every event in every state, allowed or not', () => {
    fc.assert(
      fc.property(machine, (of) => {
        expect(anyDisagreement(of, planFor(of).chart.next)).toBeUndefined();
      }),
      seeded(150),
    );
  });

  test('every state of a line is reached, and every run can end', () => {
    fc.assert(
      fc.property(machine, (of) => {
        const { chart } = planFor(of);
        let at = chart.initial;
        const path: string[] = [];
        while (!isFinal(at)) {
          expect(chart.next(at, 'CANCELLED')).toBe('cancelled');
          expect(chart.next(at, 'EXHAUSTED')).toBe('failed');
          path.push(at);
          at = chart.next(at, 'DONE')!;
        }
        expect(at).toBe('completed');
        expect(path).toEqual(of.transitions.map(({ step, phase }) => `${step}.${phase}`));
      }),
      seeded(300),
    );
  });
});

test('a hand-made table that differs in a single arrow is caught, whichever arrow it is', () => {
  const of = machineOf([
    { name: 'pull', kind: 'step', check: true, validate: true, persist: true },
    { name: 'rest', kind: 'sleep', check: false, validate: false, persist: false },
    { name: 'go', kind: 'step', check: false, validate: true, persist: false },
  ]);
  const { chart } = planFor(of);
  const phases = of.transitions.map(({ step, phase }) => `${step}.${phase}`);
  const states = [...phases, ...FINAL_STATES];
  const table = new Map(
    states.flatMap((state) =>
      EVENT_TYPES.map((type) => [`${state} ${type}`, chart.next(state, type)] as const),
    ),
  );
  const from =
    (of: ReadonlyMap<string, string | undefined>): Next =>
    (state, type) =>
      of.get(`${state} ${type}`);
  expect(anyDisagreement(of, from(table))).toBeUndefined();

  let caught = 0;
  const missed: string[] = [];
  for (const [arrow, target] of table) {
    // No way leads to handedOff here, so nobody can tell what would lead out of it.
    if (arrow.startsWith('handedOff')) continue;
    for (const wrong of [undefined, ...states].filter((other) => other !== target)) {
      table.set(arrow, wrong);
      if (anyDisagreement(of, from(table))) caught++;
      else missed.push(`${arrow} -> ${wrong}`);
      table.set(arrow, target);
    }
  }
  expect(missed).toEqual([]);
  expect(caught).toBe((phases.length + 3) * EVENT_TYPES.length * states.length);
});

test('nothing leads out of a final state, nor out of one that the machine does not have', () => {
  const { chart } = planFor(
    machineOf([{ name: 'main', kind: 'step', check: true, validate: true, persist: true }]),
  );
  for (const state of [...FINAL_STATES, 'main.sleep', 'other.work', '', '__proto__', 'toString']) {
    for (const type of EVENT_TYPES)
      expect(chart.next(state, type), `${state} ${type}`).toBeUndefined();
    expect(chart.placeOf(state)).toBeUndefined();
  }
});

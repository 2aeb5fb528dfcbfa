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

type Answers = ReadonlyMap<string, string | undefined>;
const pair = (state: string, type: string) => `${state} ${type}`;

/** What XState says to every event in every state that can be reached at all. */
function answersOf(of: Machine): Answers {
  const xstate = xstateOf(of);
  const [first] = initialTransition(xstate);
  const found = new Map([[first.value as string, first]]);
  const answers = new Map<string, string | undefined>();
  for (const [from, snapshot] of found) {
    for (const type of EVENT_TYPES) {
      const [after] = transition(xstate, snapshot, { type });
      const to = after.value as string;
      answers.set(pair(from, type), snapshot.can({ type }) ? to : undefined);
      if (!found.has(to)) found.set(to, after);
    }
  }
  return answers;
}

/** Where `next` answers otherwise than XState. */
function disagreements(answers: Answers, next: Next): string[] {
  return [...answers].flatMap(([asked, xstateSays]) => {
    const [state, type] = asked.split(' ') as [string, (typeof EVENT_TYPES)[number]];
    return next(state, type) === xstateSays ? [] : [asked];
  });
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
      seeded(300),
    );
    expect(stepCount).toBeGreaterThan(4_000);
  });

  test('they agree on every event in every state, allowed or not', () => {
    fc.assert(
      fc.property(machine, (of) => {
        expect(disagreements(answersOf(of), planFor(of).chart.next)).toEqual([]);
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
      seeded(100),
    );
  });
});

test('a hand-made table that differs in a single arrow is caught, whichever arrow it is', () => {
  const of = machineOf([
    { name: 'pull', kind: 'step', check: true, validate: true, persist: true },
    { name: 'rest', kind: 'sleep', check: false, validate: false, persist: false },
    { name: 'go', kind: 'step', check: true, validate: true, persist: false },
  ]);
  const { chart } = planFor(of);
  const states = [...of.transitions.map(({ step, phase }) => `${step}.${phase}`), ...FINAL_STATES];
  const table = new Map(
    states.flatMap((state) =>
      EVENT_TYPES.map((type) => [pair(state, type), chart.next(state, type)] as const),
    ),
  );
  const next: Next = (state, type) => table.get(pair(state, type));
  const answers = answersOf(of);
  expect(disagreements(answers, next)).toEqual([]);

  let mutantCount = 0;
  for (const [arrow, target] of table) {
    for (const wrong of [undefined, ...states].filter((other) => other !== target)) {
      table.set(arrow, wrong);
      expect(disagreements(answers, next)).toEqual([arrow]);
      mutantCount++;
    }
    table.set(arrow, target);
  }
  expect(mutantCount).toBe(states.length * EVENT_TYPES.length * states.length);
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

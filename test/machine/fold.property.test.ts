/** What a restart makes of a run's records is what the live process had, after every one of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freezeDeep } from '../../src/ground/index.ts';
import {
  advance,
  canProbe,
  isFinal,
  type Plan,
  type RunEvent,
  type RunState,
  type StartedEvent,
  startState,
} from '../../src/machine/index.ts';
import { SEED, seeded } from '../ground/seed.ts';
import { events, live, machine, planFor, started } from './arbitrary.ts';

/** As a restart does it: from what was written, which is text. */
function refold(plan: Plan, records: readonly RunEvent[]): RunState {
  const [start, ...rest] = records.map((record) => JSON.parse(JSON.stringify(record)) as RunEvent);
  return rest.reduce<RunState>(
    (state, record) => advance(plan, state, record)!,
    startState(plan, start as StartedEvent, 1_000),
  );
}

describe(`with seed ${SEED}`, () => {
  test('every prefix of the records folds to the state that was live after it', () => {
    let recordCount = 0;
    fc.assert(
      fc.property(machine, started, events, (of, start, happened) => {
        const plan = planFor(of);
        const { records, states } = live(plan, start, happened);
        recordCount += records.length;
        records.forEach((_, index) => {
          const refolded = refold(plan, records.slice(0, index + 1));
          expect(refolded).toEqual(JSON.parse(JSON.stringify(states[index])));
          expect(refolded).toEqual(states[index]);
        });
      }),
      seeded(300),
    );
    expect(recordCount).toBeGreaterThan(1_500);
  });

  test('a fold changes neither the state it was given nor the event', () => {
    fc.assert(
      fc.property(machine, started, events, (of, start, happened) => {
        const plan = planFor(of);
        let state: RunState | undefined = startState(plan, start, 1_000);
        for (const one of happened) {
          expect(freezeDeep(one) && freezeDeep(state)).toBe(true);
          state = advance(plan, state, one) ?? state;
        }
      }),
      seeded(100),
    );
  });

  test('in every state that can be reached, the parts of the state fit together', () => {
    fc.assert(
      fc.property(machine, started, events, (of, start, happened) => {
        const plan = planFor(of);
        for (const state of live(plan, start, happened).states) fitsTogether(plan, state);
      }),
      seeded(300),
    );
  });
});

function fitsTogether(plan: Plan, state: RunState): void {
  const place = plan.chart.placeOf(state.at);
  expect(place === undefined).toBe(isFinal(state.at));
  expect(state.ending !== undefined).toBe(isFinal(state.at));
  expect(state.attempt).toBeGreaterThanOrEqual(1);
  if (state.mustProbe) expect(canProbe(plan, state.at)).toBe(true);
  const steps = plan.line.filter(({ kind }) => kind === 'step').map(({ name }) => name);
  const finished = Object.keys(state.outputs);
  expect(finished).toEqual(steps.slice(0, finished.length));
  if (!place) return;
  expect(state.work !== undefined).toBe(['validate', 'persist'].includes(place.phase));
  const before = plan.line.slice(0, place.index).filter(({ kind }) => kind === 'step');
  expect(finished).toHaveLength(before.length);
  if (place.phase === 'sleep') expect(canProbe(plan, state.at)).toBe(false);
}

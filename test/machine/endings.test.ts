/** What a line means: what its steps put out, and how its runs end. */
import { describe, expect, test } from 'vitest';
import { advance, type RunEvent } from '../../src/machine/index.ts';
import { machineOf, planFor } from './arbitrary.ts';
import {
  ASLEEP,
  DONE,
  error,
  FAILED,
  full,
  handedOff,
  PROBED,
  reach,
  sleep,
  step,
} from './reach.ts';

describe('handoff', () => {
  const of = machineOf([step('a', full), sleep('rest'), step('b', full)]);

  test('a handoff from check, or from a probe in work or persist, ends the step', () => {
    const ways = [[], [DONE(), FAILED], [DONE(), DONE(1), DONE(), FAILED]];
    for (const way of ways) {
      expect(reach(of, ...way, handedOff('x'))).toMatchObject({
        at: 'rest.sleep',
        outputs: { a: 'x' },
        attempt: 1,
        mustProbe: false,
      });
    }
  });

  test('validate hands nothing off', () => {
    const validating = reach(of, DONE(), DONE(1));
    expect(advance(planFor(of), validating, handedOff(1))).toBeUndefined();
  });

  test('the run is handed off only where its last part is', () => {
    const last = reach(of, handedOff('x'), DONE(), handedOff('y'));
    expect(last.at).toBe('handedOff');
    expect(last.ending).toEqual({
      outcome: 'handedOff',
      state: 'b.check',
      output: 'y',
      reason: 'there',
    });
    const first = reach(of, handedOff('x'), DONE(), DONE(), DONE(1), DONE(), DONE('z'));
    expect(first.ending).toEqual({ outcome: 'completed', state: 'b.persist', output: 'z' });
    const thenSleep = machineOf([step('a', full), sleep('rest')]);
    expect(reach(thenSleep, handedOff('x'), ASLEEP, DONE()).ending).toEqual({
      outcome: 'completed',
      state: 'rest.sleep',
      output: 'x',
    });
  });
});

describe('output', () => {
  test.each([
    [{}, [DONE('w')], 'w'],
    [{ validate: true }, [DONE('w'), DONE()], 'w'],
    [{ persist: true }, [DONE('w'), DONE('p')], 'p'],
    [{ validate: true, persist: true }, [DONE('w'), DONE(), DONE('p')], 'p'],
  ] as const)(
    'of a step with %o is that of its last phase that gives one',
    (phases, events, output) => {
      const of = machineOf([step('main', phases)]);
      expect(reach(of, ...events)).toMatchObject({ at: 'completed', outputs: { main: output } });
      expect(reach(of, ...events).ending).toMatchObject({ outcome: 'completed', output });
      const thenSleep = machineOf([step('main', phases), sleep('rest'), sleep('more')]);
      expect(reach(thenSleep, ...events, ASLEEP, DONE(), ASLEEP, DONE()).ending).toMatchObject({
        output,
      });
    },
  );

  test('what returns nothing puts out null', () => {
    expect(reach(machineOf([step('main')]), DONE()).ending).toMatchObject({ output: null });
    const checked = machineOf([step('main', { validate: true })]);
    expect(reach(checked, DONE(), DONE()).ending).toMatchObject({ output: null });
    expect(
      reach(machineOf([step('main', { persist: true })]), DONE('w'), DONE()).ending,
    ).toMatchObject({ output: null });
  });

  test('each step puts out under its own name, and the last one for the run', () => {
    const of = machineOf([step('z'), step('a', { persist: true }), step('m')]);
    const state = reach(of, DONE(1), DONE('w'), DONE(2), DONE(3));
    expect(Object.entries(state.outputs)).toEqual([
      ['z', 1],
      ['a', 2],
      ['m', 3],
    ]);
    expect(state.ending).toMatchObject({ output: 3 });
  });
});

describe('ending', () => {
  const of = machineOf([step('a', full), sleep('rest')]);
  const ends: readonly (readonly [RunEvent, string, object])[] = [
    [{ type: 'EXHAUSTED', error }, 'failed', { outcome: 'exhausted', error }],
    [{ type: 'TIMED_OUT', error }, 'failed', { outcome: 'timedOut', error }],
    [{ type: 'CANCELLED', reason: 'stop' }, 'cancelled', { outcome: 'cancelled', reason: 'stop' }],
    [
      { type: 'ABORTED', reason: 'bad request', kind: 'user' },
      'failed',
      { outcome: 'aborted', reason: 'bad request', kind: 'user' },
    ],
  ];
  test.each(ends)('$type ends the run from every phase, and says where', (event, at, ending) => {
    const ways = [[], [DONE()], [DONE(), DONE(1)], [DONE(), DONE(1), DONE()], [DONE(), FAILED]];
    for (const way of ways) {
      const before = reach(of, ...way);
      const state = reach(of, ...way, event);
      expect(state).toMatchObject({ at, dueAt: undefined, mustProbe: false });
      expect(state.ending).toEqual({ ...ending, state: before.at });
    }
    const asleep = reach(of, handedOff(1), ASLEEP);
    const ended = advance(planFor(of), asleep, event);
    if (event.type === 'ABORTED') expect(ended).toBeUndefined();
    else expect(ended?.ending).toEqual({ ...ending, state: 'rest.sleep' });
  });

  test('after its end nothing happens to a run any more', () => {
    const ended = reach(machineOf([step('main')]), DONE(1));
    for (const event of [DONE(2), FAILED, PROBED, ...ends.map(([one]) => one)]) {
      expect(advance(planFor(of), ended, event)).toBeUndefined();
    }
  });

  test('a run starts once only', () => {
    const state = reach(of);
    const again = { type: 'STARTED', machine: 'm', version: 1, fingerprint: '', input: 2 } as const;
    expect(advance(planFor(of), state, again)).toBeUndefined();
    expect(state).toMatchObject({
      at: 'a.check',
      input: 1,
      attempt: 1,
      startedAt: 1_000,
      outputs: {},
    });
  });
});

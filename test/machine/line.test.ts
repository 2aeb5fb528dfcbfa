/** What a line means: the order of its phases, where each event leads, what is counted and put out. */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/ground/index.ts';
import {
  advance,
  type Machine,
  type Plan,
  type RunEvent,
  type RunState,
  startState,
} from '../../src/machine/index.ts';
import { machineOf, type PartShape, planFor } from './arbitrary.ts';

const error = { name: 'Error', message: 'no' };
const none = { check: false, validate: false, persist: false };
const step = (name: string, phases: Partial<PartShape> = {}): PartShape => ({
  name,
  kind: 'step',
  ...none,
  ...phases,
});
const sleep = (name: string): PartShape => ({ ...none, name, kind: 'sleep' });
const full = { check: true, validate: true, persist: true };

const DONE = (output?: Json): RunEvent => ({ type: 'DONE', output });
const FAILED: RunEvent = { type: 'FAILED', error, dueAt: 5 };
const POSTPONED: RunEvent = { type: 'POSTPONED', reason: 'busy', dueAt: 7 };
const INTERRUPTED: RunEvent = { type: 'INTERRUPTED' };
const LET_GO: RunEvent = { type: 'INTERRUPTED', isFree: true };
const PROBED: RunEvent = { type: 'PROBED' };
const ASLEEP: RunEvent = { type: 'ASLEEP', dueAt: 9 };
const handedOff = (output: Json): RunEvent => ({ type: 'HANDED_OFF', output, reason: 'there' });

function start(plan: Plan): RunState {
  const { name, version, fingerprint } = plan;
  return startState(
    plan,
    { type: 'STARTED', machine: name, version, fingerprint, input: 1 },
    1_000,
  );
}

function reach(of: Machine, ...events: readonly RunEvent[]): RunState {
  const plan = planFor(of);
  return events.reduce((state, event, index) => {
    const next = advance(plan, state, event);
    if (!next) throw new Error(`event ${index}, ${event.type}, is not allowed in ${state.at}`);
    return next;
  }, start(plan));
}

/** The states that a run without any mishap passes through. */
function pathOf(of: Machine): string[] {
  const plan = planFor(of);
  const path: string[] = [];
  for (let state = start(plan); !state.ending; state = advance(plan, state, DONE(0))!)
    path.push(state.at);
  return path;
}

describe('order', () => {
  const shapes: readonly (readonly [Partial<PartShape>, string])[] = [
    [{}, 'work'],
    [{ check: true }, 'check work'],
    [{ validate: true }, 'work validate'],
    [{ persist: true }, 'work persist'],
    [{ check: true, validate: true }, 'check work validate'],
    [{ check: true, persist: true }, 'check work persist'],
    [{ validate: true, persist: true }, 'work validate persist'],
    [full, 'check work validate persist'],
  ];
  test.each(shapes)('a step with %o goes through %s, and records nothing else', (phases, path) => {
    expect(pathOf(machineOf([step('main', phases)]))).toEqual(
      path.split(' ').map((phase) => `main.${phase}`),
    );
  });

  test('steps and sleeps follow each other as they were written', () => {
    const of = machineOf([step('b', full), sleep('rest'), step('a'), sleep('end')]);
    expect(pathOf(of)).toEqual([
      'b.check',
      'b.work',
      'b.validate',
      'b.persist',
      'rest.sleep',
      'a.work',
      'end.sleep',
    ]);
    expect(of.transitions).toEqual([
      { step: 'b', phase: 'check' },
      { step: 'b', phase: 'work' },
      { step: 'b', phase: 'validate' },
      { step: 'b', phase: 'persist' },
      { step: 'rest', phase: 'sleep' },
      { step: 'a', phase: 'work' },
      { step: 'end', phase: 'sleep' },
    ]);
  });

  test('steps may be named like states of the machine itself', () => {
    const of = machineOf([step('completed', { check: true }), step('failed'), step('work')]);
    expect(pathOf(of)).toEqual(['completed.check', 'completed.work', 'failed.work', 'work.work']);
  });
});

describe('failure', () => {
  const of = machineOf([step('a', full), step('b', full)]);

  test('a rejected validation leads back to work, and forgets what work returned', () => {
    const state = reach(of, DONE(), DONE('made'), FAILED);
    expect(state).toMatchObject({ at: 'a.work', attempt: 2, dueAt: 5, mustProbe: true });
    expect(state.work).toBeUndefined();
  });

  test('a failed phase is tried again where it failed, and persist keeps what work returned', () => {
    expect(reach(of, FAILED)).toMatchObject({ at: 'a.check', attempt: 2, mustProbe: false });
    expect(reach(of, DONE(), FAILED)).toMatchObject({ at: 'a.work', attempt: 2, mustProbe: true });
    expect(reach(of, DONE(), DONE('made'), DONE(), FAILED)).toMatchObject({
      at: 'a.persist',
      attempt: 2,
      work: 'made',
      mustProbe: true,
    });
  });

  test('attempts are counted over all phases of a step, and begin anew with the next one', () => {
    const events = [FAILED, DONE(), FAILED, PROBED, DONE(1), FAILED, PROBED, DONE(1), INTERRUPTED];
    expect(reach(of, ...events)).toMatchObject({ at: 'a.validate', attempt: 5 });
    expect(reach(of, ...events, DONE(), DONE(2))).toMatchObject({ at: 'b.check', attempt: 1 });
    expect(reach(of, FAILED, FAILED, handedOff(1))).toMatchObject({ at: 'b.check', attempt: 1 });
  });

  test('neither a postponement nor a process that lets go costs an attempt; a crash does', () => {
    expect(reach(of, POSTPONED)).toMatchObject({ at: 'a.check', attempt: 1, dueAt: 7 });
    expect(reach(of, DONE(), LET_GO)).toMatchObject({ at: 'a.work', attempt: 1, mustProbe: true });
    expect(reach(of, DONE(), INTERRUPTED)).toMatchObject({ at: 'a.work', attempt: 2 });
  });

  test('once a phase is done, nothing is waited for any more', () => {
    expect(reach(of, FAILED, DONE()).dueAt).toBeUndefined();
    expect(reach(of, DONE(), FAILED, PROBED).dueAt).toBeUndefined();
    expect(reach(of, DONE(), FAILED, INTERRUPTED).dueAt).toBeUndefined();
    expect(reach(of, FAILED, handedOff(1)).dueAt).toBeUndefined();
  });
});

describe('probe', () => {
  test.each([FAILED, POSTPONED, INTERRUPTED, LET_GO])(
    'after $type, work and persist ask check first',
    (mishap) => {
      const of = machineOf([step('a', full)]);
      const inWork = [DONE()];
      const inPersist = [DONE(), DONE('made'), DONE()];
      for (const way of [inWork, inPersist]) {
        expect(reach(of, ...way).mustProbe).toBe(false);
        expect(reach(of, ...way, mishap).mustProbe).toBe(true);
        expect(reach(of, ...way, mishap, PROBED)).toMatchObject({
          at: reach(of, ...way).at,
          mustProbe: false,
        });
        // A probe that is itself interrupted is asked again.
        expect(reach(of, ...way, mishap, INTERRUPTED).mustProbe).toBe(true);
        expect(reach(of, ...way, mishap, PROBED, mishap).mustProbe).toBe(true);
      }
      expect(reach(of, ...inPersist, mishap, PROBED).work).toBe('made');
    },
  );

  test('check and validate are simply done again', () => {
    const of = machineOf([step('a', full)]);
    expect(reach(of, INTERRUPTED)).toMatchObject({ at: 'a.check', mustProbe: false });
    expect(reach(of, DONE(), DONE(1), INTERRUPTED)).toMatchObject({
      at: 'a.validate',
      mustProbe: false,
      work: 1,
    });
  });

  test('a step without check has nobody to ask', () => {
    const of = machineOf([step('a', { validate: true, persist: true })]);
    for (const way of [[], [DONE(1)], [DONE(1), DONE()]]) {
      expect(reach(of, ...way, INTERRUPTED).mustProbe).toBe(false);
      expect(advance(planFor(of), reach(of, ...way), PROBED)).toBeUndefined();
      expect(advance(planFor(of), reach(of, ...way), handedOff(1))).toBeUndefined();
    }
  });

  test('a sleep is neither failed for ever nor probed', () => {
    const of = machineOf([step('a', full), sleep('rest'), step('b')]);
    const asleep = reach(of, handedOff(1), ASLEEP);
    expect(asleep).toMatchObject({ at: 'rest.sleep', dueAt: 9, mustProbe: false });
    for (const event of [PROBED, handedOff(1), POSTPONED, INTERRUPTED]) {
      expect(advance(planFor(of), asleep, event), event.type).toBeUndefined();
    }
    expect(advance(planFor(of), asleep, DONE())).toMatchObject({ at: 'b.work', dueAt: undefined });
  });
});

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

/** What a line means: the order of its phases, what a failure leads to, when check is asked again. */
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/machine/index.ts';
import { advance } from '../../src/machine/index.ts';
import { machineOf, type PartShape, planFor } from './arbitrary.ts';
import {
  ASLEEP,
  DONE,
  FAILED,
  full,
  handedOff,
  INTERRUPTED,
  LET_GO,
  POSTPONED,
  PROBED,
  pathOf,
  reach,
  sleep,
  step,
} from './reach.ts';

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

  test('who is given a run whose wait is over stands before its phase, and not in the wait', () => {
    const taken: RunEvent = { type: 'TAKEN', pod: 'birch' };
    const due: RunEvent = { ...taken, isDue: true };
    const way = [DONE(), FAILED];
    expect(reach(of, ...way, taken)).toEqual(reach(of, ...way));
    expect(reach(of, ...way, due)).toEqual({ ...reach(of, ...way), dueAt: undefined });
    // How long it sleeps is asked once: that it did is on record as long as it sleeps.
    const asleep: RunEvent = { type: 'ASLEEP', dueAt: 9 };
    const sleeps = machineOf([sleep('nap'), step('a')]);
    expect(reach(sleeps, asleep, due)).toEqual(reach(sleeps, asleep));
  });
});

describe('probe', () => {
  test('who takes a run over at its validate asks check before persist, once', () => {
    const of = machineOf([step('a', full), step('b', full)]);
    const taken: RunEvent = { type: 'TAKEN', pod: 'birch', interruption: 'cut' };
    const inValidate = [DONE(), DONE('made')];
    expect(reach(of, ...inValidate, taken, INTERRUPTED).mustProbe).toBe(false);
    const inPersist = [...inValidate, taken, INTERRUPTED, DONE()];
    expect(reach(of, ...inPersist)).toMatchObject({ at: 'a.persist', mustProbe: true });
    expect(reach(of, ...inPersist, PROBED).mustProbe).toBe(false);
    const inNextStep = [...inPersist, PROBED, DONE(1), DONE(), DONE('made'), DONE()];
    expect(reach(of, ...inNextStep)).toMatchObject({ at: 'b.persist', mustProbe: false });
    // Whoever let go in order had not gone further.
    const given: RunEvent = { type: 'TAKEN', pod: 'birch' };
    expect(reach(of, ...inValidate, given, DONE()).mustProbe).toBe(false);
  });

  test('what was left is probed by the same attempt, whoever takes it next', () => {
    const of = machineOf([step('a', full), step('b'), sleep('nap')]);
    const left: RunEvent = { type: 'TAKEN', pod: 'birch', interruption: 'left' };
    const again: RunEvent = { type: 'TAKEN', pod: 'cedar' };
    const inPersist = [DONE(), DONE('made'), DONE()];
    for (const way of [[DONE()], inPersist]) {
      const { at } = reach(of, ...way);
      const probes = { at, attempt: 1, mustProbe: true };
      expect(reach(of, ...way, left)).toMatchObject(probes);
      expect(reach(of, ...way, left, again)).toMatchObject(probes);
      expect(reach(of, ...way, left, PROBED)).toMatchObject({ ...probes, mustProbe: false });
      // It had begun, so whatever it had waited for was over.
      expect(reach(of, ...way, FAILED, left)).toMatchObject({ attempt: 2, dueAt: undefined });
    }
    expect(reach(of, DONE(), DONE('made'), left, DONE())).toMatchObject({ mustProbe: true });
    expect(reach(of, left).mustProbe, 'check itself').toBe(false);
    const inNext = [...inPersist, DONE(1)];
    expect(reach(of, ...inNext, left).mustProbe, 'nothing to ask').toBe(false);
    expect(reach(of, ...inNext, DONE(2), ASLEEP, left).dueAt, 'it sleeps on').toBe(9);
  });

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

  test('a death before the due time of a sleep is on record counts, and is forgotten after it', () => {
    const of = machineOf([step('a'), sleep('rest'), step('b')]);
    const twice = reach(of, DONE(1), INTERRUPTED, INTERRUPTED);
    expect(twice).toMatchObject({
      at: 'rest.sleep',
      attempt: 3,
      dueAt: undefined,
      mustProbe: false,
    });
    expect(reach(of, DONE(1), INTERRUPTED, ASLEEP)).toMatchObject({ at: 'rest.sleep', dueAt: 9 });
    expect(reach(of, DONE(1), INTERRUPTED, ASLEEP, DONE())).toMatchObject({ attempt: 1 });
  });
});

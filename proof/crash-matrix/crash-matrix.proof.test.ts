/**
 * The crash matrix: real processes, SIGKILLed before and after every record of five machine shapes,
 * then finished by another real process. A case whose child did not die by SIGKILL at its record is
 * void, and void is a failure.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mapAtOnce } from '../../src/testing/map-at-once.ts';
import { childProgram } from '../../test/support/children.ts';
import { readLedger } from '../../test/support/ledger.ts';
import { SHAPES } from '../../test/support/shapes.ts';
import {
  AT_ONCE,
  CHILD,
  killPoints,
  STRIDE,
  thinned,
  useCrashes,
  WHOLE_MS_MAX,
} from './crash-host.ts';

const { newCase, copy, finish, crash, judge, count } = useCrashes();

beforeAll(() => {
  childProgram(CHILD);
});

afterAll(() => {
  console.log(`crash matrix: ${count.cases} cases, ${count.kills} kills, 0 lost, 0 repeated`);
});

test.each(SHAPES)(
  'a process killed before and after every record finishes the shape %s in the next one',
  async (shape) => {
    const [smooth] = await finish([newCase(shape)]);
    const points = killPoints(smooth!.records.length);
    const cases = points.map(() => newCase(shape));
    const dying = await mapAtOnce(points, AT_ONCE, (point) =>
      crash(cases[points.indexOf(point)]!, point),
    );
    const reports = await finish(cases);
    reports.forEach((report, index) => {
      const { when, nth } = points[index]!;
      const isStartDurable = !(when === 'before' && nth === 1);
      expect(report.found, dying[index]).toEqual(isStartDurable ? [report.run] : []);
      judge(cases[index]!, report, smooth!);
      // A kill right after a record leaves nothing cut off, so nothing at all happens twice.
      const done = readLedger(cases[index]!.ledger).filter((line) => line.phase !== 'probe');
      if (when === 'after' && shape !== 'flaky')
        expect(new Set(done.map((line) => `${line.step}.${line.phase}`)).size).toBe(done.length);
    });
  },
);

test.each(SHAPES)(
  'a process killed again at every record of its recovery brings the shape %s to the same end',
  async (shape) => {
    const [smooth] = await finish([newCase(shape)]);
    // Before each record of a phase: its effect is done, and the first process took that with it.
    const phases = killPoints(smooth!.records.length).filter(
      ({ when, nth }) => when === 'before' && nth > 1,
    );
    const points = thinned(phases, Math.ceil(STRIDE / 5));
    const crashed = points.map(() => newCase(shape));
    await mapAtOnce(points, AT_ONCE, (point) => crash(crashed[points.indexOf(point)]!, point));
    const once = await finish(crashed.map(copy));
    const pairs = once.flatMap((report, index) =>
      killPoints(report.appended).map((point) => ({ of: crashed[index]!, point })),
    );
    const again = thinned(pairs, Math.ceil(STRIDE / 2)).map(({ of, point }) => ({
      one: copy(of),
      point,
    }));
    await mapAtOnce(again, AT_ONCE, ({ one, point }) => crash(one, point));
    const reports = await finish(again.map(({ one }) => one));
    reports.forEach((report, index) => {
      expect(report.found).toEqual([report.run]);
      judge(again[index]!.one, report, smooth!);
    });
  },
  WHOLE_MS_MAX,
);

/** How the bench of deploys counts. */
import { expect, test } from 'vitest';
import { handoverTimes, judge, repeatsIn } from '../../bench/deploy-judge.ts';
import { phasesOf } from '../../bench/deploy-pods.ts';

const OLD = phasesOf(
  'old',
  ['begins r a.work 10', 'ends r a.work 90', 'begins q a.work 20', 'ends q a.work 130', ''].join(
    '\n',
  ),
);

test('a run stands still from its last phase, or from the signal, until its next phase elsewhere', () => {
  const next = phasesOf('next', 'begins r b.work 150\nends r b.work 170\nbegins q b.work 145\n');
  const asked = [{ process: 'old', askedAt: 100, goneAt: 300 }];
  const left = judge([...OLD, ...next], asked, 2);
  expect([...left.resumedMs].sort()).toEqual([15, 50]);
  expect(left).toMatchObject({ repeated: 0, drainMs: [200], beyondPhaseMs: [170] });
  expect(left.longestPhaseMs).toBe(110);
});

test('a handover counts from the last record of the old process to the first of each run by the new one', () => {
  const next = phasesOf('next', 'begins r b.work 150\nends r b.work 170\nbegins s a.work 150\n');
  expect(handoverTimes([...OLD, ...next], ['old', 'next'])).toEqual([40]);
});

test('a phase that was called twice is counted, a probe is not', () => {
  const again = phasesOf('next', 'begins r a.probe 1\nends r a.probe 2\nbegins r a.work 3\n');
  expect([repeatsIn(OLD), repeatsIn([...OLD, ...again])]).toEqual([0, 1]);
});

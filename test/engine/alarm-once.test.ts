/** What timers do to a journal that fails: each failure is reported once. */
import { expect, test } from 'vitest';
import { AlarmOnce } from '../../src/engine/alarm-once.ts';
import { useFleets } from '../support/fleets.ts';

const { hear } = useFleets();

test('a failure is reported once, and so is another one that follows it', () => {
  const alarms = hear('journal.alarm');
  const alarm = new AlarmOnce('pruningFailed');
  const fail = (message: string) =>
    alarm.guard(() => {
      throw new Error(message);
    }, 'otherwise');
  expect(fail('the disk is full')).toBe('otherwise');
  fail('the disk is full');
  expect(alarm.guard(() => 'done', 'otherwise')).toBe('done');
  fail('the disk is full');
  fail('the file is malformed');
  fail('the file is malformed');
  expect(alarms.map(({ message }) => message)).toEqual([
    'the disk is full',
    'the file is malformed',
  ]);
});

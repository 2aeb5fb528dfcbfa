/** What is said of a schedule; pure. */
import { expect, test } from 'vitest';
import {
  inZone,
  lateMsOf,
  runsOf,
  stateOf,
} from '../../admin-ui/src/pages/schedules/schedule-words.ts';
import type { Schedule } from '../../admin-ui/src/services/fleet-types.ts';

test('of several things to say of a schedule, the worst is said', () => {
  const now = 1_000_000_000;
  const fine: Schedule = {
    ...{ name: 's', status: 'active', machine: 'm', cron: '@daily', zone: 'UTC', input: null },
    ...{
      missed: 'one',
      overlap: 'allow',
      skipped: 0,
      jitterMs: 0,
      queue: 'default',
      priority: 0,
      source: 'people',
      revision: 0,
    },
    ...{ ticks: 0, next: [now + 1], isUnmanned: false, createdAt: 0, updatedAt: 0 },
  };
  const late = { ...fine, next: [now - 60_000], trouble: 'no' };
  const of = (schedule: Schedule) => stateOf(schedule, now);
  expect([
    of(fine),
    of({ ...fine, trouble: 'no' }),
    of(late),
    of({ ...late, isUnmanned: true }),
    of({ ...late, status: 'paused' }),
    // Whoever is at it may need a moment.
    of({ ...fine, next: [now - 1_000] }),
  ]).toEqual(['active', 'trouble', 'late', 'unmanned', 'paused', 'active']);
  expect([lateMsOf(late, now), lateMsOf(fine, now)]).toEqual([60_000, 0]);
  expect(inZone(0, 'Asia/Kathmandu')).toBe('1 Jan 1970, 05:30');
  expect(inZone(0, 'Mars/Olympus')).toBeUndefined();
  expect(decodeURIComponent(runsOf('nightly'))).toBe('/runs?q=key:"schedule/nightly/*"');
});

/** When expressions tick where daylight saving begins and ends, and which are none. A year is beside. */
import { describe, expect, test } from 'vitest';
import { ticksOf } from '../../src/store/schedule/cron.ts';

const FROM = Date.UTC(2026, 0, 1);
const iso = (ms: number) => new Date(ms).toISOString();

describe('daylight saving in Europe/Berlin', () => {
  const ticks = (expression: string, from: string, count: number) => {
    const cron = ticksOf(expression, 'Europe/Berlin');
    const found: string[] = [];
    let next = cron.after(Date.parse(from));
    while (next !== undefined && found.length < count) {
      found.push(iso(next));
      next = cron.after(next);
    }
    return found;
  };

  test('a time that the clock leaps over comes at the end of the leap', () => {
    expect(ticks('30 2 * * *', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  test('a time that the clock shows twice comes once, the first time', () => {
    expect(ticks('30 2 * * *', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('what comes every so often goes on through the hour that is shown twice', () => {
    expect(ticks('*/30 * * * *', '2026-10-25T00:00Z', 4)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ]);
  });

  test('what comes every so often has no tick in the hour that is left out', () => {
    expect(ticks('*/30 2-3 * * *', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
  });
});

test('nicknames are expressions', () => {
  const first = (expression: string) => iso(ticksOf(expression, 'UTC').after(FROM)!);
  expect(first('@hourly')).toBe('2026-01-01T01:00:00.000Z');
  expect(first('@daily')).toBe('2026-01-02T00:00:00.000Z');
  expect(first('@yearly')).toBe('2027-01-01T00:00:00.000Z');
});

test.each([
  ['* * * * * *', 'once a minute at most'],
  ['* * * *', 'must have 5 fields'],
  ['@reboot', 'must have 5 fields'],
  ['2030-01-01T00:00:00', 'must have 5 fields'],
  ['61 * * * *', 'makes no sense'],
  ['*/0 * * * *', 'makes no sense'],
  ['1-9999999 * * * *', 'makes no sense'],
  ['0 0 * * tuesdays', 'makes no sense'],
  ['', 'must be text'],
  [`${'1,'.repeat(60)}1 * * * *`, '100 are the most'],
])('the expression %s is refused, and says why', (expression, why) => {
  expect(() => ticksOf(expression, 'UTC')).toThrow(why);
});

test.each(['Europe/Nowhere', '+02:00', 'local', '', 'x'.repeat(1_000)])(
  'the zone %s is refused',
  (zone) => {
    expect(() => ticksOf('* * * * *', zone)).toThrow('there is no time zone');
  },
);

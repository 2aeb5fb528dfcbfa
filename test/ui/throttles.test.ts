/** What is said of a throttle, and of a limit that is to be fixed; pure. */
import { expect, test } from 'vitest';
import { effectsOf } from '../../admin-ui/src/pages/throttles/effects.ts';
import {
  moodLabel,
  moodOf,
  permitsOf,
  showBasis,
  showDeclared,
  showParked,
  worstFirst,
} from '../../admin-ui/src/pages/throttles/throttle-words.ts';
import type { Throttle } from '../../admin-ui/src/services/fleet-types.ts';

test('of a limit below one there is one permit, as the sentence says', () => {
  expect([0.3, 0.9, 1, 1.9, 7.2].map(permitsOf)).toEqual([1, 1, 1, 1, 7]);
  expect(permitsOf(0)).toBe(0);
});

test('what a limit would do is said in words, and what is none is refused', () => {
  const pin = (limit: number, inFlight = 5) =>
    effectsOf({ order: 'pin', limit, during: '1h' }, { cap: 6.4, isAdaptive: true, inFlight });
  expect(pin(3).effects.slice(0, 2)).toEqual([
    'The whole fleet has 3 calls at once at most, instead of 6.4 now.',
    '5 are out: they go on, and nothing begins until 2 of them are over.',
  ]);
  expect(pin(20).effects.join(' ')).toContain('more than twice of what was found to go well');
  expect(pin(6, 1).effects).toContain('1 is out now.');
  for (const wrong of [0, -1, Number.NaN, 1e7]) {
    expect(pin(wrong)).toMatchObject({ effects: [], wrong: expect.stringContaining('above 0') });
  }
});

test('of a limit that is declared nothing is said of what is found out', () => {
  const known = { cap: 40, isAdaptive: false, inFlight: 5 };
  const orders = (['pin', 'unpin', 'reset'] as const).map(
    (order) => effectsOf({ order, limit: 100, during: '' }, known).effects,
  );
  expect(orders.flat().join(' ')).not.toMatch(/found|finds/);
  expect(orders[1]![0]).toBe('The fleet goes by what is declared.');
  const of = { api: 'a', state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [] } as const;
  const declared = { ...of, isAdaptive: false, perSecond: 9 };
  const adaptive = { ...of, isAdaptive: true, ceiling: 40 };
  expect([declared, adaptive, { ...of, ...known }, of].map(showBasis)).toEqual([
    'what is declared',
    'adaptive',
    'nothing declared',
    '–',
  ]);
});

test('what was declared is said, and nothing where nothing was', () => {
  const of = { api: 'a', state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [] } as const;
  expect(showDeclared(of)).toBeUndefined();
  expect(showDeclared({ ...of, ceiling: 40, perSecond: 0.5, costPerMinute: 400_000 })).toBe(
    '40 at once, 0.5 a second, cost of 400,000 a minute',
  );
});

test('of several things to say of an API, the worst is said', () => {
  const sums = { demand: 9, inFlight: 5, sent: 50, ok: 50, failed: 0 };
  const now = { ...sums, waiting: 0, throttled: 0 };
  const of = { api: 'a', state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [] } as const;
  const known: Throttle = { ...of, cap: 6, now };
  const busy = { ...now, waiting: 3 };
  const moods = [
    moodOf(of),
    moodOf(known),
    moodOf({ ...known, now: busy }),
    moodOf({ ...known, now: { ...busy, throttled: 2 } }),
    moodOf({ ...known, pausedMs: 5, now: { ...busy, throttled: 2 } }),
    moodOf({ ...known, breaker: 'half-open' }),
  ];
  expect(moods).toEqual(['unknown', 'fine', 'busy', 'refused', 'alone', 'alone']);
});

test('one that no pod calls is idle, and one with permits left is not at its limit', () => {
  const sums = { demand: 9, sent: 50, ok: 50, failed: 0, throttled: 0 };
  const of = { state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [], cap: 6 } as const;
  const left: Throttle = { ...of, api: 'a-left' };
  const paced: Throttle = { ...of, api: 'b-paced', now: { ...sums, inFlight: 0, waiting: 2 } };
  const full: Throttle = { ...of, api: 'c-full', now: { ...sums, inFlight: 6, waiting: 2 } };
  const shut: Throttle = { ...full, api: 'd-shut', breaker: 'open' };
  const parked = { count: 500, isExact: false };
  const waited: Throttle = { ...full, api: 'e', now: { ...full.now!, waiting: 0 }, parked };
  const fine: Throttle = { ...waited, api: 'f', parked: { count: 0, isExact: true } };
  expect([left, paced, full, fine].map(moodLabel)).toEqual([
    'Idle',
    'Calls wait',
    'At its limit',
    'Fine',
  ]);
  expect(worstFirst([left, paced, full, fine, shut, waited]).map(({ api }) => api)).toEqual([
    'd-shut',
    'b-paced',
    'c-full',
    'e',
    'f',
    'a-left',
  ]);
  expect([waited, fine, left].map(showParked)).toEqual(['500+', '0', '–']);
});

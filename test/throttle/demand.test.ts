/** What a pod asks for, of permits. */
import { expect, test } from 'vitest';
import { demandOf, wantingOf } from '../../src/throttle/fleet/demand.ts';

const CALLING = {
  ...{ inFlight: 5, waiting: 3, lastDemand: 0, share: 5 },
  ...{ isCutOff: false, isLeaving: false },
};

test('it asks for what is out and what waits, and for nothing when it leaves', () => {
  expect(demandOf(CALLING)).toBe(8);
  expect(demandOf({ ...CALLING, isLeaving: true })).toBe(0);
  expect(wantingOf({ ...CALLING, isLeaving: true })).toBe(0);
});

test('one that cannot reach the API asks for one beside what is out', () => {
  expect(demandOf({ ...CALLING, isCutOff: true, lastDemand: 100, share: 50 })).toBe(6);
});

test('what it wanted is remembered for a while, as far as it could be used', () => {
  const idle = { ...CALLING, inFlight: 0, waiting: 0 };
  expect(demandOf({ ...idle, lastDemand: 4 })).toBe(2);
  expect(demandOf({ ...idle, lastDemand: 9_000 })).toBe(3);
  expect(demandOf({ ...idle, lastDemand: 9_000, share: 0 })).toBe(0);
});

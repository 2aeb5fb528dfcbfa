import { expect, test } from 'vitest';
import { type Fault, SIZES, shareOf } from './sizes.ts';

test('the legs of a size are together at least the whole', () => {
  const leg = shareOf(SIZES.fleet, 4);
  expect(leg.tasks * 4).toBeGreaterThanOrEqual(SIZES.fleet.tasks);
  for (const fault of Object.keys(leg.doses) as Fault[]) {
    expect(leg.doses[fault] * 4).toBeGreaterThanOrEqual(SIZES.fleet.doses[fault]);
  }
});

const WITHOUT: Partial<Record<string, readonly Fault[]>> = {
  ci: ['failovers', 'longFullDisks', 'fullSlots'],
  failover: ['storeClockJumps'],
};

test('every size has every fault at least once, but for another store and for what CI has no time for', () => {
  for (const [name, { doses }] of Object.entries(SIZES)) {
    const none = (Object.keys(doses) as Fault[]).filter((fault) => doses[fault] === 0);
    expect(none, name).toEqual(WITHOUT[name] ?? ['failovers']);
  }
});

test('the size of a fleet reaches what is promised of it', () => {
  const { tasks, doses } = SIZES.fleet;
  expect(tasks).toBeGreaterThanOrEqual(100_000);
  expect(doses.kills).toBeGreaterThanOrEqual(300);
  expect(doses.storeCrashes).toBeGreaterThanOrEqual(60);
  expect(doses.pauses).toBeGreaterThanOrEqual(100);
});

/** A seed that has found something is simulated again as it was then: with as many tasks, and deploys. */
import { expect, test } from 'vitest';
import { keptFirst, withFailures } from './kept-seeds.ts';

test('what failed is kept with its size, once', () => {
  const before = [{ seed: 7, found: 'before' }];
  const failures = [
    { seed: 7, isSmall: false, violation: 'known' },
    { seed: 7, isSmall: true, violation: 'I9: at another size' },
    { seed: 2, isSmall: false, violation: 'I1: gone' },
    { seed: 5, isSmall: false, violation: 'follow: too early' },
    { seed: 6, isSmall: false, violation: 'deadline: missed' },
    { seed: 14, isSmall: false, violation: 'I28: swept' },
  ];
  expect(withFailures(before, failures)).toEqual([
    { seed: 2, found: 'I1: gone', deploys: true },
    { seed: 5, found: 'follow: too early', deploys: false, followers: true },
    { seed: 6, found: 'deadline: missed', deploys: true, deadlines: true, people: true },
    { seed: 7, found: 'before' },
    {
      ...{ seed: 7, found: 'I9: at another size', deploys: false, islands: true },
      ...{ lasting: true, isSmall: true },
    },
    { seed: 14, found: 'I28: swept', deploys: true, storeClock: true },
  ]);
});

test('a campaign of another size begins with them all the same, each at its own', () => {
  const kept = [
    { seed: 7, isSmall: false },
    { seed: 9, isSmall: true },
  ];
  const fresh = [7, 8, 9].map((seed) => ({ seed, isSmall: true }));
  expect(keptFirst(fresh, kept)).toEqual([...kept, fresh[0], fresh[1]]);
  expect(keptFirst([])).toContainEqual({ seed: 13, isSmall: false });
});

/** What the bench has beside the product's law is as its authors published it. */
import { expect, test } from 'vitest';
import { Gradient2 } from '../../bench/throttle/baselines.ts';

/** As many calls as it allows, all of which take so long; and how many it allows then. */
function round(limiter: Gradient2, now: number, latencyMs: number): number {
  const leaves = [];
  for (let leave = limiter.take(now); leave; leave = limiter.take(now)) leaves.push(leave);
  for (const leave of leaves) limiter.end(leave, 'ok', now + latencyMs);
  return leaves.length;
}

test('the long mean of Gradient2 is the plain one of its first ten windows', () => {
  const limiter = new Gradient2();
  const before = round(limiter, 0, 100);
  for (let second = 1; second <= 4; second++) round(limiter, 2_000 * second, 300);
  // Of 100, 300, 300, … that is more than two thirds of 300 soon: no reason to call less.
  expect(round(limiter, 12_000, 300)).toBeGreaterThan(before);
});

/** For how long those are sent away who have waited in vain. */
import { describe, expect, test } from 'vitest';
import { LAWS } from '../../src/throttle/laws/index.ts';
import { Parking } from '../../src/throttle/permits/parking.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf, type ThrottleOptions } from '../../src/throttle/policy.ts';
import { seededRandom } from '../support/seeded-random.ts';

function stage(options: ThrottleOptions) {
  const policy = policyOf('api', options);
  const pool = new PermitPool(policy, LAWS.hybrid(policy));
  const parking = new Parking(policy, pool, seededRandom(1));
  const lateMs = (count: number, nowMs: number) =>
    Array.from({ length: count }, () => parking.late('full', 0, 5_000, nowMs).delayMs);
  return { pool, parking, lateMs };
}

describe('a pod that has had none of an API', () => {
  test.each<[string, ThrottleOptions]>([
    ['nothing is declared', {}],
    ['calls are', { limits: { perSecond: 100 } }],
    ['costs are', { limits: { costPerMinute: 6_000 } }],
  ])('sends nobody away for long, then and later, where %s', (_, options) => {
    const { pool, lateMs } = stage(options);
    pool.declared.divide(0, 1_000);
    expect(Math.max(...lateMs(1, 1_000))).toBeLessThan(10_000);
    pool.declared.divide(0.5, 2_000);
    expect(Math.max(...lateMs(1, 2_000))).toBeLessThan(10_000);
  });
});

test('a wait that has no end is looked at again', () => {
  const { parking } = stage({});
  expect(parking.paced('none', Number.POSITIVE_INFINITY, 0).delayMs).toBeLessThanOrEqual(60_000);
});

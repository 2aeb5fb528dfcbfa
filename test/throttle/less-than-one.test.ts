/** Where an API takes less than one call at once, a fleet calls it as seldom as that comes to. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { decodePublished, encodePublished } from '../../src/throttle/fleet/wire.ts';
import { FleetEstimate, type FleetSum, Lease } from '../../src/throttle/index.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf, type ThrottleOptions } from '../../src/throttle/policy.ts';

const BEAT_MS = 3_000;
const LATENCY_MS = 1_000;
const SUM: FleetSum = {
  ...{ demand: 0, inFlight: 0, waiting: 0 },
  ...{ sent: 0, ok: 0, throttled: 0, failed: 0 },
};

/** Calls a second of pods that were told of a pinned limit, and would always call. */
function pinnedRate(pinned: number, options: ThrottleOptions): number {
  const policy = policyOf('llm', options);
  const estimate = new FleetEstimate(policy);
  const pods = ['a', 'b', 'c'].map((key) => {
    const law = new HybridLaw(0);
    const pool = new PermitPool(policy, law);
    law.knowLatency(LATENCY_MS);
    return { key, pool, lease: new Lease(key, law, pool, BEAT_MS), ends: [] as (() => void)[] };
  });
  let count = 0;
  const seconds = 600;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += 100) {
    if (nowMs % BEAT_MS === 0) {
      const told = pods.map(({ key, lease }) => [key, lease.report(5, nowMs)] as const);
      for (const { lease } of pods) lease.told(nowMs);
      const tick = { nowMs, beatMs: BEAT_MS, chance: 0.5, pinned };
      const said = estimate.tick(new Map(told), tick);
      const row = { api: 'llm', epoch: said.epoch, ageMs: 0, state: encodePublished(said, SUM) };
      for (const { lease } of pods) lease.heed(decodePublished(row, nowMs)!, nowMs, 0.5);
    }
    for (const { lease, pool, ends } of pods) {
      lease.turn(nowMs);
      if (nowMs % LATENCY_MS === 0) for (const end of ends.splice(0)) end();
      const permit = pool.take('normal', 1, nowMs);
      if (!permit) continue;
      count++;
      ends.push(() => pool.end(permit, { kind: 'ok' }, nowMs + LATENCY_MS, 0.5));
    }
  }
  return count / seconds;
}

test.each([0.2, 0.5])('%d of a permit, as a person has fixed it, is not one', (pinned) => {
  const perSecond = pinnedRate(pinned, {});
  expect(perSecond).toBeLessThanOrEqual(1.05 * pinned);
  expect(perSecond).toBeGreaterThan(0.7 * pinned);
});

test('a part of a permit is no part of a declared rate', () => {
  const perSecond = pinnedRate(0.5, { limits: { perSecond: 0.5 } });
  expect(perSecond).toBeGreaterThan(0.35);
});

test.each([1, 8])('ten calls a minute that are declared are used by %i pods', (pods) => {
  const api = { permits: 10 / 60, latencyMs: LATENCY_MS, sigma: 0.1 };
  const limits = { perSecond: 10 / 60, burst: 1 };
  const throttle = { adaptive: false, limits };
  const scene = new Scene({
    ...{ kind: 'quota', pods, seed: 101, by: 'ours', beatMs: BEAT_MS, api, throttle },
  });
  scene.runTo(2_400);
  const { rejected, goodput } = scene.figures(900, 2_400);
  expect(rejected).toBeLessThan(0.2);
  expect(goodput).toBeGreaterThan(0.8);
});

/** Calls that fail, or are refused, long after they were sent. */
import { describe, expect, test } from 'vitest';
import { FleetBreaker } from '../../src/throttle/fleet/fleet-breaker.ts';
import { Lease } from '../../src/throttle/fleet/lease.ts';
import { decodeReport, encodeReport } from '../../src/throttle/fleet/wire.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { policyOf } from '../../src/throttle/policy.ts';
import { RipeSeconds } from '../../src/throttle/record/ripe-seconds.ts';
import { blank } from '../../src/throttle/record/seconds.ts';
import { defineThrottle, Throttles } from '../../src/throttle/throttles.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const PERMITS = 20;
const CALLERS = 60;

/** Has room for so many calls at once; what it refuses, it refuses late. */
async function refusedLate(refusalMs: number, latencyMs: number) {
  const clock = new FakeClock();
  const random = seededRandom(7);
  const after = (ms: number) => new Promise<void>((resolve) => clock.after(ms, () => resolve()));
  const throttles = new Throttles({
    ...{ clock, random: seededRandom(1) },
    throttles: [defineThrottle('api', { adaptive: true })],
  });
  const api = throttles.of('api', { isRetry: false, refusals: 0 });
  const seen = { busy: 0, ok: 0, refused: 0 };
  const call = async () => {
    if (seen.busy >= PERMITS) {
      await after(refusalMs * (0.9 + 0.2 * random.fraction()));
      seen.refused++;
      throw Object.assign(new Error('no room'), { status: 429 });
    }
    seen.busy++;
    await after(latencyMs * (0.8 + 0.4 * random.fraction()));
    seen.busy--;
    seen.ok++;
  };
  const caller = async () => {
    for (;;) await api.use(call).catch(() => after(500));
  };
  for (let count = 0; count < CALLERS; count++) void caller();
  for (let second = 0; second < 300; second++) await clock.advance(1_000);
  Object.assign(seen, { ok: 0, refused: 0 });
  for (let second = 0; second < 300; second++) await clock.advance(1_000);
  return { refused: seen.refused / (seen.ok + seen.refused), limit: api.snapshot().limit };
}

test.each([
  { refusalMs: 5_000, latencyMs: 5_000 },
  { refusalMs: 5_000, latencyMs: 500 },
])('refusals after $refusalMs ms are learned from, at $latencyMs ms a call', async (of) => {
  const { refused, limit } = await refusedLate(of.refusalMs, of.latencyMs);
  expect(refused).toBeLessThan(0.04);
  expect(limit).toBeLessThanOrEqual(PERMITS * 1.2);
  expect(limit).toBeGreaterThanOrEqual(PERMITS * 0.8);
});

describe('a second that is kept until its refusals are there', () => {
  const second = (at: number, throttled = 0) => ({ ...blank(at), sent: 10, throttled });
  const late = (at: number, throttled: number) => ({ ...blank(at), throttled });

  test('is given out at once where refusals are not late', () => {
    const ripe = new RipeSeconds();
    expect(ripe.take([second(1, 3), second(2)], [], 3)).toEqual([second(1, 3), second(2)]);
    expect(ripe.until).toBe(3);
  });

  test('has the refusals that came since, where they were sent, and each of them once', () => {
    const ripe = new RipeSeconds();
    const given = [];
    for (let at = 1; at < 60; at++) {
      given.push(...ripe.take([second(at)], at > 4 ? [late(at - 4, at % 7)] : [], at + 1));
    }
    // That refusals are late is found out by the first that are: theirs were given out as clean.
    const known = given.filter(({ at }) => at > 10);
    expect(known.length).toBeGreaterThan(40);
    expect(known).toEqual(known.map(({ at }) => second(at, (at + 4) % 7)));
  });

  test('never has more refused than sent, though a heartbeat told it twice', () => {
    const ripe = new RipeSeconds();
    ripe.take([second(1)], [late(0, 50)], 4);
    ripe.take([], [late(1, 8)], 5);
    ripe.take([], [late(1, 8)], 5);
    expect(ripe.take([], [], 30)).toEqual([second(1, 10)]);
  });
});

describe('a breaker of the fleet', () => {
  const rule = { errorShare: 0.5, callsMin: 20, coolMs: 5_000, coolMsMax: 60_000 };
  const ended = (at: number, outcome: { ok?: number; timedOut?: number }) => ({
    ...blank(at),
    ...outcome,
  });

  function opened(): FleetBreaker {
    const breaker = new FleetBreaker(rule);
    breaker.tick({ seconds: [], late: [ended(10, { timedOut: 30 })] }, 40_000, 3_000, 0.5);
    expect(breaker.state).toBe('open');
    breaker.tick({ seconds: [], late: [] }, 46_000, 3_000, 0.5);
    expect(breaker.state).toBe('half-open');
    return breaker;
  }

  test('opens by what times out after half a minute, and closes by answers as slow', () => {
    const breaker = opened();
    breaker.tick({ seconds: [], late: [ended(47, { ok: 3 })] }, 78_000, 3_000, 0.5);
    expect(breaker.state).toBe('closed');
  });

  test('is neither closed nor opened by calls that were sent before it asked', () => {
    const breaker = opened();
    breaker.tick({ seconds: [], late: [ended(30, { ok: 9 })] }, 49_000, 3_000, 0.5);
    expect(breaker.state).toBe('half-open');
    breaker.tick({ seconds: [], late: [ended(47, { ok: 3 })] }, 52_000, 3_000, 0.5);
    breaker.tick({ seconds: [], late: [ended(30, { timedOut: 50 })] }, 55_000, 3_000, 0.5);
    expect(breaker.state).toBe('closed');
  });

  test('is not opened by a few that fail at once, where all others take long to go well', () => {
    const breaker = new FleetBreaker(rule);
    const seconds = [{ ...blank(37), sent: 500, failed: 25 }];
    breaker.tick({ seconds, late: [ended(10, { ok: 475 })] }, 40_000, 3_000, 0.5);
    expect(breaker.state).toBe('closed');
  });
});

describe('what a pod tells', () => {
  function podWith(sentMs: readonly number[]) {
    const law = new HybridLaw(100);
    const pool = new PermitPool(policyOf('api', {}), law);
    const lease = new Lease('alder', law, pool, 3_000);
    const permits = sentMs.map((ms) => pool.take('normal', 1, ms)!);
    return { pool, lease, permits };
  }

  test('is how calls ended that it had told of, until that was taken', () => {
    const { pool, lease, permits } = podWith([10_000, 10_500, 14_000]);
    lease.report(0, 12_000);
    lease.told(12_000);
    for (const permit of permits) pool.end(permit, { kind: 'timeout' }, 14_500, 0);
    const late = [{ ...blank(10), timedOut: 2 }];
    expect(lease.report(0, 15_000).late).toEqual(late);
    expect(lease.report(0, 16_000).late).toEqual(late);
    lease.told(16_000);
    expect(lease.report(0, 18_000).late).toEqual([]);
  });

  test('is bounded, and what does not fit counts as older than it is', () => {
    const seconds = Array.from({ length: 60 }, (_, at) => at * 1_000);
    const { pool, lease, permits } = podWith(seconds);
    lease.report(0, 61_000);
    for (const permit of permits) pool.end(permit, { kind: 'ok' }, 62_000, 0);
    const late = lease.report(0, 63_000).late!;
    expect(late.length).toBeLessThanOrEqual(16);
    expect(late.reduce((all, { ok }) => all + ok, 0)).toBe(60);
    expect(late.at(-1)!.at).toBeLessThan(59);
  });

  test('can be read, with it and without it, as older versions tell it', () => {
    const { pool, lease, permits } = podWith([10_000]);
    lease.report(0, 12_000);
    pool.end(permits[0]!, { kind: 'throttled' }, 13_000, 0);
    const json = encodeReport(lease.report(0, 15_000)) as Record<string, unknown>;
    expect(decodeReport(json)?.late).toEqual([{ ...blank(10), throttled: 1 }]);
    const { e: _, ...old } = json;
    expect(decodeReport(old)).toMatchObject({ late: undefined, mark: 15_000 });
  });
});

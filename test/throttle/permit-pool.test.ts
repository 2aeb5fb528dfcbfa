/** The permits of one API: laws that hold whatever happens, and the parts that make the difference. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OutcomeKind } from '../../src/throttle/answers/outcome.ts';
import { LAW_NAMES, LAWS } from '../../src/throttle/laws/index.ts';
import { type Permit, PermitPool } from '../../src/throttle/permits/permit-pool.ts';
import { PRIORITIES, policyOf, type ThrottleOptions } from '../../src/throttle/policy.ts';

function poolOf(options: ThrottleOptions = {}): PermitPool {
  const policy = policyOf('api', { adaptive: true, ...options });
  return new PermitPool(policy, LAWS[policy.law](policy));
}

/** Takes as many as there are at this time. */
function takeAll(
  pool: PermitPool,
  nowMs: number,
  priority: 'high' | 'normal' = 'normal',
): Permit[] {
  const taken: Permit[] = [];
  for (let permit = pool.take(priority, 1, nowMs); permit; permit = pool.take(priority, 1, nowMs)) {
    taken.push(permit);
  }
  return taken;
}

const KINDS: OutcomeKind[] = [
  ...(['ok', 'throttled', 'timeout', 'overload', 'failure', 'client', 'cancelled'] as const),
  'ignored',
];

test.each(LAW_NAMES)('%s: no more are out than may be, and all come back', (law) => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 3_000 }),
    kind: fc.constantFrom(...KINDS),
    priority: fc.constantFrom(...PRIORITIES),
    doesEnd: fc.boolean(),
    chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = poolOf({ law, limits: { inFlight: 20 } });
      const out: Permit[] = [];
      let nowMs = 0;
      for (const { afterMs, kind, priority, doesEnd, chance, retryAfterMs } of steps) {
        nowMs += afterMs;
        const oldest = doesEnd ? out.shift() : undefined;
        if (oldest) pool.end(oldest, { kind, retryAfterMs }, nowMs, chance);
        const permit = pool.take(priority, 1, nowMs);
        if (permit) {
          out.push(permit);
          expect(pool.inFlight + pool.cooling(nowMs)).toBeLessThanOrEqual(pool.limit(nowMs));
        } else expect(pool.lookAtMs(1, nowMs)).toBeGreaterThan(nowMs - 1);
        expect(pool.inFlight).toBe(out.length);
        expect(pool.limit(nowMs)).toBeLessThanOrEqual(20);
        expect(pool.limit(nowMs)).toBeGreaterThanOrEqual(1);
      }
      for (const permit of out) pool.end(permit, { kind: 'ok' }, nowMs, 0.5);
      expect(pool.inFlight).toBe(0);
      // Whatever happened, after an hour of silence there is leave to call again.
      expect(pool.take('normal', 1, nowMs + 3_600_000)).toBeDefined();
    }),
  );
});

test('a refused call keeps its permit for about as long as a good one takes', () => {
  const pool = poolOf({ limits: { inFlight: 1 }, breaker: false });
  const good = pool.take('normal', 1, 0)!;
  pool.end(good, { kind: 'ok' }, 500, 0.5);
  const refused = pool.take('normal', 1, 1_000)!;
  pool.end(refused, { kind: 'throttled' }, 1_030, 0.5);
  expect(pool.take('normal', 1, 1_200)).toBeUndefined();
  expect(pool.cooling(1_200)).toBe(1);
  expect(pool.take('normal', 1, 2_000)).toBeDefined();
});

test('nothing begins before the time for which the API asked to be left alone', () => {
  const pool = poolOf();
  const permit = pool.take('normal', 1, 0)!;
  pool.end(permit, { kind: 'throttled', retryAfterMs: 10_000 }, 100, 0);
  expect(pool.take('control', 1, 10_000)).toBeUndefined();
  expect(pool.closed).toBe('paused');
  expect(pool.lookAtMs(1, 10_000)).toBeCloseTo(10_100);
  expect(pool.take('normal', 1, 13_000)).toBeDefined();
});

test('a burst of refusals of one round trip brakes once and not to the ground', () => {
  const pool = poolOf({ start: 32 });
  for (let round = 0; round < 20; round++) {
    for (const permit of takeAll(pool, round * 1_000)) {
      pool.end(permit, { kind: 'ok' }, round * 1_000 + 500, 0.5);
    }
  }
  for (const permit of takeAll(pool, 30_000)) pool.end(permit, { kind: 'throttled' }, 30_030, 0.5);
  expect(pool.limit(30_031)).toBeGreaterThan(10);
  expect(pool.limit(30_031)).toBeLessThan(32);
  expect(pool.limit(60_000)).toBe(32);
});

describe('priorities', () => {
  test('high keeps its share while it has calls to make, and loses it when it has none', () => {
    const pool = poolOf({ limits: { inFlight: 20 } });
    const high = pool.take('high', 1, 0)!;
    pool.end(high, { kind: 'ok' }, 10, 0.5);
    const normal = takeAll(pool, 1_000);
    expect(normal).toHaveLength(18);
    expect(takeAll(pool, 1_000, 'high')).toHaveLength(2);
    for (const permit of normal) pool.end(permit, { kind: 'ok' }, 1_010, 0.5);
    expect(takeAll(pool, 40_000)).toHaveLength(18);
  });

  test('control calls get through where normal ones do not', () => {
    const pool = poolOf({ limits: { inFlight: 10 }, reserve: { control: 0.1 } });
    pool.end(pool.take('control', 1, 0)!, { kind: 'ok' }, 1, 0.5);
    expect(takeAll(pool, 10)).toHaveLength(9);
    expect(pool.take('control', 1, 10)).toBeDefined();
  });
});

describe('ceilings', () => {
  test('no more than so many calls a second, after a bounded burst', () => {
    const pool = poolOf({ limits: { perSecond: 10, burst: 5 }, start: 1_000 });
    let sent = 0;
    for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
      for (const permit of takeAll(pool, nowMs)) {
        sent++;
        pool.end(permit, { kind: 'ok' }, nowMs, 0.5);
      }
    }
    expect(sent).toBeGreaterThanOrEqual(100);
    expect(sent).toBeLessThanOrEqual(106);
  });

  test('tokens are counted at the end by what the call has cost', () => {
    const pool = poolOf({ limits: { costPerMinute: 6_000 }, start: 1_000 });
    const permit = pool.take('normal', 100, 0)!;
    pool.end(permit, { kind: 'ok', cost: 1_000 }, 10, 0.5);
    expect(pool.take('normal', 100, 20)).toBeUndefined();
    expect(pool.closed).toBe('paced');
    expect(pool.take('normal', 100, 1_100)).toBeDefined();
  });
});

describe('the breaker', () => {
  const ended = (pool: PermitPool, kind: OutcomeKind, nowMs: number) => {
    const permit = pool.take('normal', 1, nowMs);
    if (permit) pool.end(permit, { kind }, nowMs, 0.5);
    return permit !== undefined;
  };

  test('opens after failures in a row, asks one call at a time, and closes after three good ones', () => {
    const pool = poolOf();
    for (let count = 0; count < 8; count++)
      expect(ended(pool, 'failure', count * 1_000)).toBe(true);
    expect(pool.breakerState(7_001)).toBe('open');
    expect(ended(pool, 'ok', 8_000)).toBe(false);
    const probe = pool.take('normal', 1, 12_100)!;
    expect(pool.breakerState(12_100)).toBe('half-open');
    expect(pool.take('normal', 1, 12_200)).toBeUndefined();
    // The end of a probe is told: nobody looks for it every millisecond.
    expect(pool.lookAtMs(1, 12_200)).toBe(13_200);
    pool.end(probe, { kind: 'ok' }, 12_300, 0.5);
    expect(ended(pool, 'ok', 13_000)).toBe(true);
    expect(pool.breakerState(13_000)).toBe('half-open');
    expect(ended(pool, 'ok', 14_000)).toBe(true);
    expect(pool.breakerState(14_000)).toBe('closed');
  });

  test('refusals and wrong calls never open it', () => {
    const pool = poolOf();
    for (let count = 0; count < 100; count++) {
      ended(pool, count % 2 ? 'throttled' : 'client', count * 2_000);
    }
    expect(pool.breakerState(200_000)).toBe('closed');
  });

  test('a probe that fails opens it for longer', () => {
    const pool = poolOf();
    for (let count = 0; count < 8; count++) ended(pool, 'timeout', count * 1_000);
    const firstMs = pool.breaker!.retryAtMs;
    expect(ended(pool, 'timeout', firstMs)).toBe(true);
    expect(pool.breaker!.retryAtMs - firstMs).toBeGreaterThan(9_000);
  });
});

test.each([
  [{ adaptive: true, start: 0 }, /start must be a number above 0/],
  [{ adaptive: true, law: 'aimdd' }, /law must be one of hybrid, aimd/],
  [{ limit: {} }, /"api": it has no option "limit": did you mean limits\? there are: adaptive, /],
  [{ limits: { inflight: 3 } }, /limits has no option "inflight": did you mean inFlight\?/],
  [{ limits: { perMinute: 10 } }, /limits has no option "perMinute": say perSecond: 10 \/ 60$/],
  [{ limits: null }, /limits must be an object, got null/],
  [{ limits: { burst: 10 } }, /limits.burst must be beside limits.perSecond, .*, got 10/],
  [
    { adaptive: true, start: 50, limits: { inFlight: 9 } },
    /start must be at most limits.inFlight, .* 9, got 50/,
  ],
  [{ adaptive: 'yes' }, /adaptive must be true or false, got "yes"/],
  [{ start: 5 }, /start must be left out, or stand beside adaptive: true, got 5/],
  [{ adaptive: false, law: 'aimd' }, /law must be left out, or stand beside adaptive: true/],
  [{ probe: 'off' }, /has no option "probe"/],
  [{ reserve: null }, /reserve must be an object, got null/],
  [{ breaker: null }, /breaker must be an object, or false for none, got null/],
  [
    { breaker: { cool: '5m', coolMax: '1s' } },
    /breaker.coolMax must be no shorter than breaker.cool, got "1s"/,
  ],
  [
    { classify: async () => 'ok' },
    /classify must be a function that answers at once, got an async/,
  ],
  [{ reserve: { high: 0.9, retry: 0.2 } }, /add up to less than 1/],
  [{ breaker: { errorShare: 0 } }, /breaker.errorShare must be a share above 0, up to 1, got 0/],
  [{ breaker: { cool: 'soon' } }, /breaker.cool must be a duration/],
  [{ parkAfter: -1 }, /parkAfter must be a duration/],
  [{ classify: 3 }, /classify must be a function/],
])('%j is refused with what was wanted', (options, message) => {
  expect(() => policyOf('api', options as ThrottleOptions)).toThrow(message);
});

test('what cools for long by itself does so', () => {
  expect(policyOf('api', { breaker: { cool: '5m' } }).breaker!.coolMsMax).toBe(300_000);
});

/** An API that takes ten calls at once, each for 200 ms, against as many calls as there may be. */
function useUp(pool: PermitPool, seconds: number): { goodput: number; refused: number } {
  let out: { readonly atMs: number; readonly permit: Permit; readonly isOk: boolean }[] = [];
  const counted = { ok: 0, refused: 0 };
  const fromMs = (seconds * 1_000) / 2;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs += 10) {
    for (const { permit, isOk } of out.filter(({ atMs }) => atMs <= nowMs)) {
      pool.end(permit, { kind: isOk ? 'ok' : 'throttled' }, nowMs, 0.5);
      if (nowMs >= fromMs) counted[isOk ? 'ok' : 'refused']++;
    }
    out = out.filter(({ atMs }) => atMs > nowMs);
    for (const permit of takeAll(pool, nowMs)) {
      const isOk = out.filter((call) => call.isOk).length < 10;
      out.push({ atMs: nowMs + (isOk ? 200 : 20), permit, isOk });
    }
  }
  const { ok, refused } = counted;
  return { goodput: ok / (seconds / 2) / 50, refused: refused / (ok + refused) };
}

test.each(['aimd', 'aimd-latency', 'gradient', 'token-bucket'] as const)(
  '%s: by itself it comes to use most of what an API takes, with few refused',
  (law) => {
    const { goodput, refused } = useUp(poolOf({ law }), 240);
    expect(goodput).toBeGreaterThan(0.7);
    expect(refused).toBeLessThan(0.05);
  },
);

test('aimd-latency: a line that forms slowly is no reason to make it longer', () => {
  const law = LAWS['aimd-latency'](policyOf('api', { adaptive: true, law: 'aimd-latency' }));
  // It works on ten calls of 200 ms at a time; the others wait.
  for (let nowMs = 0; nowMs < 1_800_000; nowMs += 200) {
    const latencyMs = 200 * Math.max(1, law.limit(nowMs) / 10);
    const sentMs = nowMs - latencyMs;
    law.ended({ kind: 'ok', weight: 0, sentMs, latencyMs, wasFull: true, wasPaced: false }, nowMs);
  }
  expect(law.limit(1_800_000)).toBeLessThan(30);
});

test('token-bucket: who does not use up the rate learns nothing about it', () => {
  const policy = policyOf('api', { adaptive: true, law: 'token-bucket', start: 5 });
  const law = LAWS[policy.law](policy);
  const pool = new PermitPool(policy, law);
  for (let nowMs = 0; nowMs < 600_000; nowMs += 1_000) {
    pool.end(pool.take('normal', 1, nowMs)!, { kind: 'ok' }, nowMs + 100, 0.5);
  }
  expect(law.pace(600_000)?.perSecond).toBe(5);
});

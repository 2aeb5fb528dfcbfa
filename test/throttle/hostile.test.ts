/** What people and APIs may do to a throttle by mistake or on purpose, and what must not come of it. */
import { describe, expect, test } from 'vitest';
import { Estimator } from '../../src/throttle/estimate/estimator.ts';
import { Throttles } from '../../src/throttle/index.ts';
import { HybridLaw } from '../../src/throttle/laws/index.ts';
import { Breaker } from '../../src/throttle/permits/breaker.ts';
import { policyOf, type ThrottleOptions } from '../../src/throttle/policy.ts';
import { defineThrottle } from '../../src/throttle/throttles.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

function stageOf(options: ThrottleOptions = {}, name = 'api') {
  const clock = new FakeClock();
  const throttles = new Throttles({
    clock,
    random: seededRandom(1),
    throttles: [defineThrottle(name, options)],
  });
  const caller = { isRetry: false, refusals: 0 };
  return { clock, throttles, handle: throttles.of(name, caller), caller };
}

const refused = () => {
  throw Object.assign(new Error('busy'), { status: 429 });
};

describe('a classify that is wrong', () => {
  const wrong: readonly unknown[] = [
    ...['nonsense', 'constructor', '__proto__', 7, {}, [], { kind: 'nonsense' }, { kind: null }],
    ...[
      { kind: 'throttled', retryAfterMs: Number.NaN },
      { kind: 'ok', cost: Number.NaN },
    ],
    ...[{ kind: 'throttled', retryAfterMs: Number.POSITIVE_INFINITY }],
    { kind: 'throttled', retryAfterMs: -1 },
    { kind: 'ok', cost: -1e12 },
    { kind: 'ok', cost: Number.POSITIVE_INFINITY },
    { kind: 'ok', hint: { remaining: Number.NaN, resetMs: 0 } },
    { kind: 'ok', hint: { remaining: 1e300, resetMs: 1e-300 } },
    { kind: 'ok', hint: 'soon' },
  ];
  test.each(wrong.map((said) => [said]))(
    '%j: permits come back, and the limit stays one',
    async (said) => {
      const { clock, handle } = stageOf({
        limits: { inFlight: 4, costPerMinute: 6_000 },
        classify: () => said as never,
      });
      for (let count = 0; count < 30; count++) {
        for (const call of [() => 1, refused]) handle.use(call).catch(() => undefined);
        await clock.advance(500);
      }
      const { inFlight, limit, ended, pausedMs } = handle.snapshot();
      expect({ inFlight, pausedMs: pausedMs <= 720_000 }).toEqual({ inFlight: 0, pausedMs: true });
      expect(limit).toBeGreaterThanOrEqual(1);
      expect(limit).toBeLessThanOrEqual(4);
      expect(Object.values(ended).every(Number.isInteger)).toBe(true);
      // Whatever was said, it is over after a quarter of an hour.
      await clock.advance(900_000);
      expect(handle.tryAcquire()).toBeDefined();
    },
  );

  test('one that throws leaves the error of the call as it was, and no permit behind', async () => {
    const { handle } = stageOf({
      limits: { inFlight: 1 },
      classify: () => {
        throw new Error('mine');
      },
    });
    await expect(handle.use(() => Promise.reject(new Error('theirs')))).rejects.toThrow('theirs');
    expect(await handle.use(() => 5)).toBe(5);
    const permit = handle.tryAcquire()!;
    permit.fail(new Error('theirs'));
    expect(handle.snapshot().inFlight).toBe(0);
  });

  test('one that answers a promise is asked in vain, and its rejection ends nothing', async () => {
    const late: unknown[] = [];
    const onLate = (error: unknown) => late.push(error);
    process.on('unhandledRejection', onLate);
    const { handle } = stageOf({
      limits: { inFlight: 1 },
      classify: (() => Promise.reject(new Error('mine'))) as never,
    });
    expect(await handle.use(() => 5)).toBe(5);
    await expect(handle.use(refused)).rejects.toThrow('busy');
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', onLate);
    expect(late).toEqual([]);
    expect(handle.snapshot()).toMatchObject({ inFlight: 0, ended: { ok: 1, throttled: 1 } });
  });
});

const throwing = (property: string) =>
  Object.defineProperty({}, property, {
    get: () => {
      throw new Error('mine');
    },
  });

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Says what can be when it is asked first, and then what cannot. */
function oddlyFull() {
  let asked = 0;
  return {
    resetMs: 1_000,
    get remaining() {
      if (asked++ > 0) throw new Error('mine');
      return 5;
    },
  };
}

test('a permit that is given back in any words, or often, comes back once', async () => {
  const { handle } = stageOf({ limits: { inFlight: 2 } });
  for (const word of [
    'nonsense',
    'toString',
    null,
    7,
    { kind: 'what' },
    { kind: 'ok', cost: Number.NaN },
    throwing('kind'),
    { kind: 'ok', hint: throwing('remaining') },
    { kind: 'ok', hint: oddlyFull() },
    revoked(),
  ]) {
    const permit = handle.tryAcquire()!;
    for (let often = 0; often < 3; often++) permit.release(word as never);
    permit.fail(new Error('late'));
    permit[Symbol.dispose]();
    expect(handle.snapshot()).toMatchObject({ inFlight: 0, limit: 2 });
  }
});

describe('what is asked for', () => {
  test.each([
    [[null], 'throttles[0] must be what defineThrottle gives, got null'],
    [[defineThrottle('a'), {}], 'throttles[1] must be what defineThrottle gives, got {}'],
    [['llm'], 'throttles[0] must be what defineThrottle gives, got "llm"'],
    [[{ name: 'llm' }], 'throttles[0] must be what defineThrottle gives, got {"name":"llm"}'],
    [{}, 'throttles must be an array of what defineThrottle gives, got {}'],
    [null, 'throttles must be an array of what defineThrottle gives, got null'],
  ])('throttles that are none are refused: %j', (throttles, said) => {
    const ports = { clock: new FakeClock(), random: seededRandom(1) };
    expect(() => new Throttles({ ...ports, throttles: throttles as never })).toThrow(said);
  });

  test.each(['limits', 'reserve', 'breaker'])('%s in an array are refused', (option) => {
    expect(() => defineThrottle('llm', { [option]: [] })).toThrow(`${option} must be an object`);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '5', 1e16])(
    'a cost of %s is refused',
    async (cost) => {
      const { handle } = stageOf({ limits: { costPerMinute: 600 } });
      const options = { cost: cost as number };
      await expect(handle.use(() => 1, options)).rejects.toMatchObject({
        code: 'FLEETQ_THROTTLE_OPTIONS',
      });
      await expect(handle.acquire(options)).rejects.toThrow(/cost must be a number from 0 to/);
      expect(() => handle.tryAcquire(options)).toThrow(/cost/);
      expect(handle.snapshot().inFlight).toBe(0);
      expect(await handle.use(() => 1)).toBe(1);
    },
  );

  test.each(['urgent', 'constructor', 5, ''])('a priority of %j is refused', async (priority) => {
    const { handle } = stageOf();
    const options = { priority: priority as never };
    await expect(handle.use(() => 1, options)).rejects.toThrow(
      /priority must be one of control, high/,
    );
    expect(handle.snapshot().inFlight).toBe(0);
  });

  test('an option that is mistyped is refused, with the one that was meant', async () => {
    const { handle } = stageOf({ limits: { costPerMinute: 600 } });
    const told = /a call has no option "costs": did you mean cost\?/;
    const options = { costs: 5 } as object;
    await expect(handle.use(() => 1, options)).rejects.toThrow(told);
    await expect(handle.acquire(options)).rejects.toThrow(told);
    expect(() => handle.tryAcquire(options)).toThrow(told);
    await expect(handle.fetch('http://127.0.0.1:9', {}, options)).rejects.toThrow(told);
    await expect(handle.use(() => 1, 5 as never)).rejects.toThrow(/a call takes an object, got 5/);
    expect(handle.snapshot().inFlight).toBe(0);
    expect(await handle.use(() => 1, { cost: undefined, signal: undefined })).toBe(1);
  });

  test('use without a function is refused before it takes a permit', async () => {
    const { handle } = stageOf();
    const told = 'use must be given a function to call, got undefined';
    await expect(handle.use(undefined as never)).rejects.toThrow(told);
    expect(handle.snapshot().ended.failure).toBe(0);
  });

  test('a name that is refused is shown as it was given', () => {
    expect(() => defineThrottle('')).toThrow('throttle "": its name must be');
  });

  test.each([
    '',
    '\0',
    'a\0b',
    'a\nb',
    '\u001b[2J',
    'a\u009b',
    'x'.repeat(201),
    '\ud800',
    undefined,
    null,
    7,
    {},
  ])('an API of the name %j is refused, where it is called and where it is defined', (name) => {
    const { throttles, caller } = stageOf();
    expect(() => throttles.of(name as string, caller)).toThrow(/its name must be/);
    expect(() => defineThrottle(name as string)).toThrow(/its name must be/);
    expect(throttles.snapshots().length).toBeLessThanOrEqual(1);
  });
});

test('limits that cannot be are refused with the option that is wrong', () => {
  const odd = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '3', null, {}];
  for (const value of odd) {
    for (const limits of ['inFlight', 'perSecond', 'costPerMinute', 'burst']) {
      const options = { limits: { [limits]: value } } as never;
      expect(() => defineThrottle('api', options), `${limits} ${value}`).toThrow(
        `limits.${limits}`,
      );
    }
    expect(() => defineThrottle('api', { start: value as never }), `${value}`).toThrow('start');
  }
  for (const value of ['0.5', null, -0.1, 1.1, Number.NaN]) {
    expect(() => defineThrottle('api', { reserve: { high: value as never } })).toThrow(
      'reserve.high',
    );
  }
});

test('names that objects have of their own are names like others in what is told', () => {
  const clock = new FakeClock();
  const throttles = new Throttles({ clock, random: seededRandom(1), isInFleet: true });
  throttles.shares.begin('pod', 1_000, 0);
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  for (const name of names) throttles.throttleOf(name);
  const told = JSON.parse(JSON.stringify(throttles.shares.report(1_000))) as object;
  expect(Object.keys(told).sort()).toEqual([...names].sort());
});

test('a probe that is never answered is not the last one', () => {
  const rule = {
    errorShare: 0.5,
    callsMin: 20,
    windowMs: 6_000,
    inARowMax: 2,
    coolMs: 1_000,
    coolMsMax: 10_000,
  };
  const breaker = new Breaker(rule);
  for (let count = 0; count < 2; count++) breaker.ended('failure', false, 0, 0.5);
  expect(breaker.mayStart(1_000)).toBe(true);
  expect(breaker.started(1_000)).toBe(true);
  expect(breaker.mayStart(5_000)).toBe(false);
  expect(breaker.mayStart(11_000)).toBe(true);
});

test('calls that take no time at all do not stop a share of less than one permit', () => {
  const law = new HybridLaw(0.5);
  law.knowLatency(0);
  expect(law.pace(0)!.perSecond).toBeLessThan(1_000);
});

test('headers that promise more than there is do not hide what is refused', () => {
  const estimator = new Estimator(policyOf('api', { adaptive: true }));
  const caps: number[] = [];
  for (let nowMs = 2_000; nowMs < 240_000; nowMs += 2_000) {
    const sent = Math.floor(estimator.cap) * 2;
    const throttled = Math.max(0, sent - 100);
    const ok = sent - throttled;
    const until = nowMs / 1_000;
    const second = { sent, throttled, ok, timedOut: 0, failed: 0, latencyMsSum: 500 * ok };
    const seconds = [until - 2, until - 1].map((at) => ({ ...second, at }));
    const seen = { latencies: [], latencyMsSum: 1_000 * ok, answers: 2 * ok };
    const sight = { ...seen, seconds, untilMs: nowMs, inFlight: ok / 2, waiting: 100 };
    estimator.tick({ ...sight, perSecondHint: 100_000 }, nowMs, { tickMs: 2_000, delayMs: 0 });
    caps.push(estimator.cap);
  }
  // No step is larger than a doubling, and once calls were refused it is found out as without headers.
  expect(Math.max(...caps)).toBeLessThanOrEqual(128);
  expect(Math.max(...caps.slice(30))).toBeLessThan(60);
  expect(estimator.cap).toBeGreaterThan(44);
});

test('what was sent adds up: what ended, by how, and what is still out', async () => {
  const { clock, handle } = stageOf({ limits: { inFlight: 20 } });
  const kinds = ['ok', 'throttled', 'timeout', 'overload', 'failure'] as const;
  for (const kind of [...kinds, 'client', 'cancelled', 'ignored', 'client'] as const) {
    const permit = handle.tryAcquire()!;
    await clock.advance(10);
    permit.release(kind);
  }
  const out = handle.tryAcquire();
  expect(out).toBeDefined();
  const { last60s, last10s, inFlight } = handle.snapshot();
  const ended = { ok: 1, throttled: 1, timedOut: 1, failed: 2, other: 4 };
  expect(last10s).toEqual({ seconds: 10, sent: 10, ...ended });
  expect({ ...last60s, seconds: 10 }).toEqual(last10s);
  const { sent, ok, throttled, timedOut, failed, other } = last60s;
  expect(ok + throttled + timedOut + failed + other + inFlight).toBe(sent);
  await clock.advance(70_000);
  expect(handle.snapshot().last60s).toMatchObject({ sent: 0, other: 0 });
});

test.each([5, [], 'llm', null])('apis that are no table of limits are refused: %j', (apis) => {
  const ports = { clock: new FakeClock(), random: seededRandom(1) };
  expect(() => new Throttles({ ...ports, apis: apis as never })).toThrow('apis must be an object');
});

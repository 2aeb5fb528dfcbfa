/** What a throttle goes by: what is declared and what the API says, and what it finds out where asked to. */
import { describe, expect, test } from 'vitest';
import { defineThrottle, type ThrottleOptions, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Pods } from './pods.ts';

const LATENCY_MS = 100;
const CALLER = { isRetry: false, refusals: 0 };
const refusal = (headers = {}) => Object.assign(new Error('no'), { status: 429, headers });

function stage(options?: ThrottleOptions) {
  const clock = new FakeClock();
  const throttles = options ? [defineThrottle('api', options)] : [];
  const pod = new Throttles({ clock, random: seededRandom(1), throttles });
  const after = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  return { clock, api: pod.of('api', CALLER), after };
}

type Stage = ReturnType<typeof stage>;

/** Callers that call one after the other, of which a share is refused by chance. */
function callOn({ api, after }: Stage, callers: number, refusedShare: number, headers = {}) {
  const random = seededRandom(7);
  const seen = { sent: 0 };
  const call = async () => {
    seen.sent++;
    await after(LATENCY_MS);
    if (random.fraction() < refusedShare) throw refusal(headers);
  };
  const caller = async () => {
    for (;;) await api.use(call).catch(() => after(LATENCY_MS));
  };
  for (let count = 0; count < callers; count++) void caller();
  return seen;
}

async function advance(clock: FakeClock, seconds: number): Promise<void> {
  for (let ms = 0; ms < seconds * 1_000; ms += 20) await clock.advance(20);
}

test('one call in twenty that is refused by chance takes nothing from a declared limit', async () => {
  const made = stage({ limits: { inFlight: 40 } });
  const seen = callOn(made, 60, 0.05, { 'retry-after': '1' });
  const counts: number[] = [];
  for (let look = 0; look < 12; look++) {
    const before = seen.sent;
    await advance(made.clock, 10);
    counts.push(seen.sent - before);
  }
  expect(made.api.snapshot().limit).toBe(40);
  expect(Math.min(...counts)).toBeGreaterThan(300);
  expect(Math.min(...counts.slice(6))).toBeGreaterThan(0.8 * Math.max(...counts.slice(0, 6)));
});

test.each([
  ['a declared limit', { limits: { inFlight: 4 } }, 4],
  ['no limit', undefined, 100],
])('refusals without a word of the API leave %s as it is', async (_, options, out) => {
  const made = stage(options as ThrottleOptions | undefined);
  callOn(made, 100, 0.5);
  await advance(made.clock, 30);
  const { inFlight, cooling } = made.api.snapshot();
  expect(inFlight + cooling).toBeGreaterThan(0.4 * out);
  expect(inFlight).toBeLessThanOrEqual(out);
});

test('calls that take longer change nothing of a declared limit', async () => {
  const made = stage({ limits: { inFlight: 30 } });
  let callMs = 50;
  const caller = async () => {
    for (;;) await made.api.use(() => made.after(callMs)).catch(() => made.after(callMs));
  };
  for (let count = 0; count < 60; count++) void caller();
  await advance(made.clock, 10);
  callMs = 2_000;
  await advance(made.clock, 60);
  expect(made.api.snapshot()).toMatchObject({ limit: 30, inFlight: 30 });
});

describe('what an API says of its room in headers', () => {
  test('is the rate at which it is called', async () => {
    const made = stage();
    let sent = 0;
    const headers = { 'x-ratelimit-remaining': '120', 'x-ratelimit-reset': '60' };
    const caller = async () => {
      for (;;) {
        await made.api.use(async () => {
          sent++;
          await made.after(LATENCY_MS);
          return { status: 200, headers };
        });
      }
    };
    for (let count = 0; count < 20; count++) void caller().catch(() => undefined);
    await advance(made.clock, 2);
    const before = sent;
    await advance(made.clock, 2);
    expect(sent - before).toBeLessThanOrEqual(6);
    expect(sent - before).toBeGreaterThanOrEqual(3);
  });
});

test('the limit never falls below one call in a storm of refusals', async () => {
  const made = stage({ adaptive: true });
  callOn(made, 20, 1);
  for (let look = 0; look < 60; look++) {
    await advance(made.clock, 3);
    const { inFlight, cooling, limit } = made.api.snapshot();
    expect(limit).toBeGreaterThanOrEqual(1);
    expect(inFlight + cooling).toBeGreaterThanOrEqual(1);
  }
});

/** Three pods, of which all call until they have learned what there is to learn, and then one now and then. */
async function loneCalls(options: ThrottleOptions, refusedShare: number) {
  const pods = new Pods();
  for (let count = 0; count < 3; count++) {
    pods.join(options);
    await pods.run(1);
  }
  const random = seededRandom(3);
  let isOver = false;
  const call = async () => {
    await pods.after(LATENCY_MS);
    if (!isOver && random.fraction() < refusedShare) throw refusal();
  };
  const callOf = (index: number) => pods.all[index]!.of('api', CALLER);
  const caller = async (index: number) => {
    while (!isOver) {
      await callOf(index)
        .use(call)
        .catch(() => pods.after(LATENCY_MS));
    }
  };
  for (let count = 0; count < 24; count++) void caller(count % 3);
  await pods.run(120);
  isOver = true;
  await pods.run(60);
  // One of them calls, once in a while, and later another one.
  const waits: number[] = [];
  for (const index of [2, 1]) {
    for (let count = 0; count < 12; count++) {
      const begunMs = pods.nowMs;
      const calling = callOf(index)
        .use(() => {
          waits.push(pods.nowMs - begunMs);
          return pods.after(LATENCY_MS);
        })
        .catch(() => waits.push(Number.POSITIVE_INFINITY));
      await pods.run(5 + random.fraction() * 10);
      await calling;
    }
  }
  return { waits, limit: pods.all[0]!.of('api', CALLER).snapshot().fleet?.cap };
}

test.each([
  ['a declared limit', { limits: { inFlight: 40 } }, 0.05],
  ['no limit', {}, 0.05],
  ['a limit that was found in a storm', { adaptive: true }, 0.9],
])(
  'a lone caller among pods without demand has a permit at once: %s',
  async (_, options, share) => {
    const { waits, limit } = await loneCalls(options, share);
    expect(limit).toBeGreaterThanOrEqual(1);
    expect(waits.filter((ms) => ms > 0)).toEqual([]);
  },
);

describe.each([[{}], [{ adaptive: true }]])('with %j', (options: ThrottleOptions) => {
  test('an API that asked to be left alone is not called', async () => {
    const { api, clock } = stage(options);
    const failing = api.use(() => Promise.reject(refusal({ 'retry-after': '3' })));
    await expect(failing).rejects.toThrow('no');
    expect(api.tryAcquire()).toBeUndefined();
    await advance(clock, 5);
    expect(api.tryAcquire()).toBeDefined();
  });

  test('an API that fails is not called until it is asked how it is', async () => {
    const { api } = stage(options);
    for (let count = 0; count < 8; count++) {
      await api
        .use(() => Promise.reject(Object.assign(new Error('ill'), { status: 500 })))
        .catch(() => undefined);
    }
    expect(api.snapshot().breaker).toBe('open');
    expect(api.tryAcquire()).toBeUndefined();
  });
});

test('a snapshot says whether the limit is found out, in a fleet as the leader has it', async () => {
  expect(stage().api.snapshot()).toMatchObject({ isAdaptive: false, learned: undefined });
  expect(stage({ adaptive: true }).api.snapshot().isAdaptive).toBe(true);
  const pods = new Pods();
  const all = [pods.join({}), pods.join({ adaptive: true })];
  const areAdaptive = () => all.map((pod) => pod.of('api', CALLER).snapshot().isAdaptive);
  expect(areAdaptive()).toEqual([false, true]);
  for (const pod of all) void pod.of('api', CALLER).use(() => pods.after(60_000));
  await pods.run(20);
  expect(areAdaptive()).toEqual([true, true]);
});

/** Who gets the next permit: by class, by age, and never nobody while there is one. */
import { describe, expect, test } from 'vitest';
import type { Caller } from '../../src/throttle/caller.ts';
import { Throttles } from '../../src/throttle/index.ts';
import { Waiters } from '../../src/throttle/permits/waiters.ts';
import type { Priority, ThrottleOptions } from '../../src/throttle/policy.ts';
import { defineThrottle } from '../../src/throttle/throttles.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

function stageOf(options: ThrottleOptions) {
  const clock = new FakeClock();
  const throttles = new Throttles({
    clock,
    random: seededRandom(1),
    throttles: [defineThrottle('api', { scope: 'local', ...options })],
  });
  const as = (caller: Partial<Caller> = {}) =>
    throttles.of('api', { isRetry: false, refusals: 0, ...caller });
  return { clock, as, handle: as() };
}

describe('what is kept for a class', () => {
  test('is there for it though others wait', async () => {
    const { clock, handle } = stageOf({ limits: { inFlight: 10 }, adaptive: true, law: 'aimd' });
    (await handle.acquire({ priority: 'high' })).release();
    for (let count = 0; count < 9; count++) await handle.acquire();
    handle.acquire().catch(() => undefined);
    await clock.settle();
    expect(handle.snapshot()).toMatchObject({ inFlight: 9, waiting: 1 });
    expect(handle.tryAcquire()).toBeUndefined();
    const first = handle.tryAcquire({ priority: 'high' });
    expect(first).toBeDefined();
    first?.release();
    const begunMs = clock.monotonicMs();
    await handle.acquire({ priority: 'high' });
    expect(clock.monotonicMs()).toBe(begunMs);
    expect(handle.snapshot()).toMatchObject({ inFlight: 10, waiting: 1 });
  });

  test('is there for it though somebody else has come to the head of the line', async () => {
    const { clock, as, handle } = stageOf({
      limits: { inFlight: 10 },
      adaptive: true,
      law: 'aimd',
    });
    const permits = [await handle.acquire({ priority: 'high' })];
    for (let count = 0; count < 9; count++) permits.push(await handle.acquire());
    // The tenth permit that is waited for is for whoever has waited longest.
    for (let count = 0; count < 9; count++) {
      const next = handle.acquire();
      permits.pop()!.release();
      permits.push(await next);
    }
    const given: string[] = [];
    const old = as({ sinceMs: clock.monotonicMs() - 120_000 });
    old.acquire().then(() => given.push('old'));
    handle.acquire({ priority: 'high' }).then(() => given.push('high'));
    permits[0]!.release();
    await clock.settle();
    expect(given).toEqual(['high']);
    permits[1]!.release();
    await clock.settle();
    expect(given).toEqual(['high', 'old']);
  });

  test('does not let anybody pass who comes after others of the same class', async () => {
    const { handle } = stageOf({ limits: { costPerMinute: 600 } });
    (await handle.acquire({ cost: 100 })).release();
    for (const priority of ['high', 'normal'] as const) {
      handle.acquire({ cost: 45, priority: 'high' }).catch(() => undefined);
      expect(handle.tryAcquire({ cost: 0, priority })).toBeUndefined();
    }
  });
});

test('whoever waits behind one that gives up is let in at once', async () => {
  const { clock, handle } = stageOf({ limits: { costPerMinute: 600 } });
  (await handle.acquire({ cost: 100 })).release();
  const stop = new AbortController();
  handle.acquire({ cost: 45, signal: stop.signal }).catch(() => undefined);
  let isIn = false;
  handle.acquire({ cost: 0.1 }).then(() => {
    isIn = true;
  });
  await clock.advance(100);
  expect(isIn).toBe(false);
  stop.abort();
  await clock.settle();
  expect(isIn).toBe(true);
});

describe('age', () => {
  const at = (priority: Priority, sinceMs: number) => ({
    priority,
    cost: 1,
    sinceMs,
    parkAtMs: 1e9,
  });
  const never = () => false;

  test('comes before the order in which they came here, within a class', () => {
    const waiters = new Waiters();
    const times = [50, 20, 90, 20, 10, 70];
    const all = times.map((sinceMs) => at('normal', sinceMs));
    for (const waiter of all) waiters.add(waiter);
    waiters.delete(all[2]!);
    const order: number[] = [];
    for (let next = waiters.next(100, never); next; next = waiters.next(100, never)) {
      order.push(next.sinceMs);
      waiters.take(next);
    }
    expect(order).toEqual([10, 20, 20, 50, 70]);
    expect(waiters.size).toBe(0);
  });

  test('raises by a class every half minute, beside retries and no higher', () => {
    const waiters = new Waiters();
    const [low, normal, high] = [at('low', 0), at('normal', 30_000), at('high', 3_600_000)];
    waiters.add(low);
    waiters.add(normal);
    expect(waiters.next(29_999, never)).toBe(normal);
    expect(waiters.next(60_000, never)).toBe(low);
    waiters.add(high);
    expect(waiters.next(3_600_000, never)).toBe(high);
  });

  test('has every tenth permit, so that nobody starves beside calls that come first', () => {
    const waiters = new Waiters();
    waiters.add(at('low', 0));
    const given: Priority[] = [];
    for (let count = 0; count < 10; count++) {
      waiters.add(at('high', 40_000 + count));
      const next = waiters.next(50_000, never)!;
      waiters.take(next);
      given.push(next.priority);
    }
    expect(given).toEqual([...Array(9).fill('high'), 'low']);
  });

  test('is not passed in its turn where calls are paced', () => {
    const waiters = new Waiters();
    waiters.add(at('normal', 0));
    for (let count = 0; count < 9; count++) {
      expect(waiters.isFirst('high', 40_000, 40_000, true)).toBe(true);
      const high = at('high', 40_000);
      waiters.add(high);
      waiters.take(high);
    }
    expect(waiters.isFirst('high', 40_000, 40_000, true)).toBe(false);
    expect(waiters.isFirst('high', 40_000, 40_000, false)).toBe(true);
  });

  test('does not keep anybody from being parked in time', () => {
    const waiters = new Waiters();
    const first = { ...at('normal', 500), parkAtMs: 5_000 };
    const back = { ...at('normal', 0), parkAtMs: 6_000 };
    waiters.add(first);
    waiters.add(back);
    expect(waiters.parkAtMs).toBe(5_000);
    expect(waiters.takeLate(5_500)).toEqual([first]);
    expect(waiters.takeLate(6_500)).toEqual([back]);
  });
});

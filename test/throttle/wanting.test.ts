/** How many more runs may come for an API, and when those come back that it had no room for. */
import { expect, test } from 'vitest';
import { defineThrottle, postponementOf, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

function stage(options: Parameters<typeof defineThrottle>[1] = {}, random = seededRandom(1)) {
  const clock = new FakeClock();
  const throttles = [defineThrottle('api', options)];
  const all = new Throttles({ clock, random, throttles });
  const api = all.of('api', { isRetry: false, refusals: 0, route: 'm' });
  const refuse = (retryAfter: string) =>
    api.use(() => {
      const headers = { 'retry-after': retryAfter };
      throw Object.assign(new Error('no'), { status: 429, headers });
    });
  const left = () => all.crowds().map((crowd) => crowd.left);
  return { clock, all, api, refuse, left };
}

const park = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => expect.unreachable(),
    (error: { delayMs: number }) => error.delayMs,
  );

test('nothing more is wanted of an API that asked to be left alone, until that is over', async () => {
  const { clock, api, refuse, left } = stage();
  await refuse('40').catch(() => undefined);
  const delayMs = await park(api.use(() => 1));
  expect(left()).toEqual([0]);

  await clock.advance(39_000);
  expect(left()).toEqual([0]);

  await clock.advance(delayMs - 39_000 + 1);
  expect(left()).toEqual([]);
  expect(await api.use(() => 1)).toBe(1);
});

test('in a long pause some come now and then, since not all of them need call it', async () => {
  const { clock, api, refuse, left } = stage();
  await refuse('7200').catch(() => undefined);
  await park(api.use(() => 1));
  expect(left()).toEqual([0]);

  await clock.advance(6_000);
  expect(left()[0]).toBeGreaterThan(0);
  await park(api.use(() => 1));
  expect(left()).toEqual([0]);
});

test('an API that fails has nobody come but who finds out whether it is well', async () => {
  const { clock, api, left } = stage({ breaker: { inARowMax: 2, cool: '10s' } });
  const fail = () =>
    api.use(() => {
      throw Object.assign(new Error('no'), { status: 500 });
    });
  for (let count = 0; count < 2; count++) await fail().catch(() => undefined);
  await park(api.use(() => 1));
  expect(left()).toEqual([0]);

  await clock.advance(12_000);
  expect(left()).toEqual([2]);
});

test('a machine is held back for as long as its runs have lately had to wait, and no longer', async () => {
  const { clock, all, api, refuse } = stage({ limits: { inFlight: 1 } });
  const held = () => all.crowds().flatMap(({ routes }) => [...routes]);
  const permit = await api.acquire();
  const waiting = api.acquire();
  permit.release();
  (await waiting).release();
  expect(held()).toEqual(['m']);

  await clock.advance(29_000);
  expect(held()).toEqual(['m']);
  await clock.advance(2_000);
  expect(held()).toEqual([]);
  const other = all.of('api', { isRetry: false, refusals: 0, route: 'n' });
  await refuse('50').catch(() => undefined);
  await park(other.use(() => 1));
  expect(held()).toEqual(['n']);
  // Nobody can have come in the pause, so it says nothing of who calls.
  await clock.advance(45_000);
  expect(held()).toEqual(['n']);
});

test('those who wait for the end of a pause come back one by one, and none before it', async () => {
  const { clock, api, refuse } = stage();
  await refuse('60').catch(() => undefined);
  const endMs = clock.monotonicMs() + api.snapshot().pausedMs;
  const toldMs = clock.monotonicMs() + 60_000;
  const counts = new Map<number, number>();
  for (let count = 0; count < 300; count++) {
    await clock.advance(37);
    const atMs = clock.monotonicMs() + (await park(api.use(() => 1)));
    expect(atMs).toBeGreaterThanOrEqual(endMs);
    expect(atMs).toBeLessThanOrEqual(toldMs + 5_000);
    counts.set(Math.round(atMs), (counts.get(Math.round(atMs)) ?? 0) + 1);
  }
  expect(Math.max(...counts.values())).toBeLessThan(5);
});

test('whoever comes in a pause is back 5 s after it at the latest, whatever chance says', async () => {
  const random = Object.assign(seededRandom(1), { fraction: () => 0.999 });
  const { api, refuse } = stage({}, random);
  await refuse('60').catch(() => undefined);
  const delayMs = await park(api.use(() => 1));
  expect(delayMs).toBeGreaterThanOrEqual(api.snapshot().pausedMs);
  expect(delayMs).toBeLessThanOrEqual(65_000);
});

test('those who were told the same moment do not all come back in it', async () => {
  const delays = new Set<number>();
  const { refuse, clock } = stage();
  for (let count = 0; count < 20; count++) {
    delays.add(Math.round(await delayOf(refuse('60'))));
    await clock.advance(90_000);
  }
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(60_000);
  expect(delays.size).toBeGreaterThan(15);
});

const delayOf = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => postponementOf(error)?.delayMs ?? expect.unreachable(),
  );

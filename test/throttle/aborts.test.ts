/** Phases whose many calls wait by one signal. */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CALLER = { isRetry: false, refusals: 0, route: 'm' };

function stage() {
  const clock = new FakeClock();
  const throttles = [defineThrottle('narrow', { limits: { inFlight: 1 } })];
  return { clock, all: new Throttles({ clock, random: seededRandom(1), throttles }) };
}

test('many who wait by one signal listen to it once, and not at all when they are done', async () => {
  const { clock, all } = stage();
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const narrow = all.of('narrow', { ...CALLER, signal });
  const call = () => new Promise<void>((done) => void clock.after(10, done));
  const calls = Array.from({ length: 20 }, () => narrow.use(call));
  expect(listeners()).toBe(1);
  await clock.advance(1_000);
  await Promise.all(calls);
  expect(listeners()).toBe(0);
});

test('all who wait by a signal are told of its end', async () => {
  const { all } = stage();
  const given = new AbortController();
  const narrow = all.of('narrow', { ...CALLER, signal: given.signal });
  narrow.tryAcquire();
  const calls = Array.from({ length: 20 }, () => narrow.use(() => 1));
  given.abort();
  const ends = await Promise.allSettled(calls);
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  expect(narrow.snapshot().waiting).toBe(0);
});

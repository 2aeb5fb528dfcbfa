/** How long a connection keeps its plans. */
import { expect, test } from 'vitest';
import { KeptPlans } from '../../src/store/postgres/kept-statements.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('plans are made anew after 1, 2, 4, 8 … seconds of a connection, and of that one only', async () => {
  const clock = new FakeClock();
  const plans = new KeptPlans(clock);
  const renewed: number[] = [];
  const old = { query: async () => renewed.push(clock.monotonicMs()) };
  const young = { query: () => Promise.reject(new Error('a young connection is left alone')) };
  for (let ms = 0; ms <= 20_000; ms += 500) {
    await plans.renew(old);
    if (ms >= 19_500) await plans.renew(young);
    await clock.advance(500);
  }
  expect(renewed).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
});

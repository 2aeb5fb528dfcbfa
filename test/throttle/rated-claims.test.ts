/** How many runs a process has in hand for an API that is called at a rate, and that none of it is lost. */
import { describe, expect, test } from 'vitest';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

type Options = NonNullable<Parameters<typeof defineThrottle>[1]>;

/** From then on a run leaves the process until it comes back. */
const IN_PLACE_MS = 5_000;

function stage(options: Options) {
  const clock = new FakeClock();
  const throttles = [defineThrottle('api', options)];
  const all = new Throttles({ clock, random: seededRandom(1), throttles });
  const counts = { here: 0, called: 0, parked: 0 };
  const calledMs: number[] = [];
  const sleep = (ms: number) => new Promise<void>((done) => void clock.after(ms, done));
  /** A run: called in the end, and in hand but while it is parked for long. */
  const run = async (cost = 1): Promise<number> => {
    const sinceMs = clock.monotonicMs();
    counts.here++;
    for (;;) {
      const api = all.of('api', { isRetry: false, refusals: 0, route: 'm', sinceMs });
      const parked = await api
        .use(() => sleep(20), { cost })
        .then(
          () => undefined,
          (error: { delayMs: number }) => error.delayMs,
        );
      if (parked === undefined) break;
      counts.parked++;
      if (parked > IN_PLACE_MS) counts.here--;
      await sleep(parked);
      if (parked > IN_PLACE_MS) counts.here++;
    }
    counts.here--;
    counts.called++;
    calledMs.push(clock.monotonicMs());
    return clock.monotonicMs() - sinceMs;
  };
  const left = () => all.crowds()[0]?.left;
  return { clock, run, left, counts, calledMs };
}

describe('of an API with a rate', () => {
  const RATES: [string, Options][] = [
    ['calls', { limits: { perSecond: 0.5, burst: 1 } }],
    ['costs', { limits: { costPerMinute: 30 } }],
    ['its law', { adaptive: true, law: 'token-bucket', start: 0.5 }],
  ];
  test.each(RATES)('no more come than it may call in a moment, by %s', async (_, options) => {
    const { clock, run, left } = stage(options);
    // As many as there may be at once to begin with, and one that waits.
    for (let count = 0; count < 7; count++) run().catch(() => undefined);
    await clock.advance(100);
    expect(left()).toBe(0);
  });

  test('one more comes when one was called, and those who come back soon are counted', async () => {
    const { clock, run, left, counts } = stage({ limits: { perSecond: 2, burst: 1 } });
    const seen: number[] = [];
    for (let count = 0; count < 600; count++) {
      for (let more = left() ?? 30; more > 0; more--) run().catch(() => undefined);
      await clock.advance(100);
      if (count > 120) seen.push(counts.here);
    }
    expect(Math.max(...seen)).toBeLessThanOrEqual(12);
    expect(counts.called).toBeGreaterThanOrEqual(118);
  });
});

test('those who have waited in line leave, and come back for turns of which none is lost', async () => {
  const { clock, run, counts, calledMs } = stage({ limits: { perSecond: 1, burst: 1 } });
  for (let count = 0; count < 40; count++) run().catch(() => undefined);
  await clock.advance(12_000);
  expect(counts.here).toBeLessThanOrEqual(12);
  await clock.advance(60_000);
  expect(counts.called).toBe(40);
  expect(Math.max(...calledMs)).toBeLessThan(43_000);
});

test('nobody comes for a call that is far off, and somebody in time for it', async () => {
  const { clock, run, left, calledMs } = stage({ limits: { perSecond: 0.05, burst: 1 } });
  for (let count = 0; count < 2; count++) run().catch(() => undefined);
  await clock.advance(1_000);
  expect(left()).toBe(0);
  await clock.advance(15_000);
  expect(left()).toBeLessThanOrEqual(1);
  await clock.advance(4_100);
  expect(calledMs.length).toBe(2);
});

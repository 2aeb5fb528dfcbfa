/** A call that costs much comes to its turn beside a stream of calls that cost little. */
import { describe, expect, test } from 'vitest';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const COST_PER_MINUTE = 6_000;

function stage() {
  const clock = new FakeClock();
  const limits = { costPerMinute: COST_PER_MINUTE, inFlight: 50 };
  const throttles = [defineThrottle('api', { limits })];
  const all = new Throttles({ clock, random: seededRandom(1), throttles });
  const sleep = (ms: number) => new Promise<void>((done) => void clock.after(ms, done));
  const spent = { cost: 0 };
  /** A run, which is parked as often as it takes. */
  const run = async (cost: number, priority: 'high' | 'normal' | 'low'): Promise<number> => {
    const sinceMs = clock.monotonicMs();
    for (;;) {
      const api = all.of('api', { isRetry: false, refusals: 0, sinceMs });
      const parked = await api
        .use(() => sleep(50), { cost, priority })
        .then(
          () => undefined,
          (error: { delayMs: number }) => error.delayMs,
        );
      if (parked === undefined) break;
      await sleep(parked);
    }
    spent.cost += cost;
    return clock.monotonicMs() - sinceMs;
  };
  const stream = async (cost: number, priority: 'high' | 'normal' | 'low') => {
    for (;;) await run(cost, priority);
  };
  return { clock, run, stream, spent };
}

/** After half a minute it rises, and then it is saved up for. */
const WITHIN_MS = 60_000;

describe('a costly call', () => {
  const CASES: [number, 'high' | 'normal', 'normal' | 'low'][] = [
    [600, 'normal', 'normal'],
    [900, 'normal', 'normal'],
    [900, 'normal', 'low'],
    [900, 'high', 'normal'],
    [900, 'high', 'low'],
  ];
  test.each(CASES)(
    'of %s comes to its turn beside cheap ones: %s, it: %s',
    async (cost, theirs, its) => {
      const { clock, run, stream, spent } = stage();
      for (let count = 0; count < 40; count++) stream(10, theirs).catch(() => undefined);
      await clock.advance(20_000);
      spent.cost = 0;
      let tookMs: number | undefined;
      run(cost, its).then((ms) => {
        tookMs = ms;
      });
      await clock.advance(120_000);
      expect(tookMs).toBeLessThan(WITHIN_MS);
      // Nothing of the rate is lost while it is saved up for.
      expect(spent.cost).toBeGreaterThan(0.95 * 2 * COST_PER_MINUTE);
      expect(spent.cost).toBeLessThan(1.05 * 2 * COST_PER_MINUTE);
    },
  );

  test('of more than is ever saved up does with a full bucket, and others go on', async () => {
    const { clock, run, stream, spent } = stage();
    for (let count = 0; count < 40; count++) stream(10, 'normal').catch(() => undefined);
    await clock.advance(20_000);
    let tookMs: number | undefined;
    run(3_000, 'normal').then((ms) => {
      tookMs = ms;
    });
    await clock.advance(WITHIN_MS + 30_000);
    expect(tookMs).toBeLessThan(WITHIN_MS);
    spent.cost = 0;
    await clock.advance(60_000);
    expect(spent.cost).toBeGreaterThan(0.95 * COST_PER_MINUTE);
  });
});

/** Calls that take longer than anybody waits in line: who would only be sent away does not come. */
import { expect, test } from 'vitest';
import { defineThrottle, Throttles } from '../../src/throttle/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CALL_MS = 60_000;
const LIMIT = 8;
/** What a pod takes at once of machines that nothing is known of. */
const ROOM = 40;

test('hardly anybody comes in vain, and all permits are out', async () => {
  const clock = new FakeClock();
  const throttles = [defineThrottle('api', { limits: { inFlight: LIMIT } })];
  const all = new Throttles({ clock, random: seededRandom(1), throttles });
  const sleep = (ms: number) => new Promise<void>((done) => void clock.after(ms, done));
  const counts = { here: 0, called: 0, parked: 0 };
  const run = async (): Promise<void> => {
    counts.here++;
    const api = all.of('api', { isRetry: false, refusals: 0, route: 'm' });
    const call = () => {
      counts.called++;
      return sleep(CALL_MS);
    };
    await api.use(call).catch(() => counts.parked++);
    counts.here--;
  };
  const claim = (): void => {
    const crowd = all.crowds()[0];
    const count = Math.min(ROOM - counts.here, crowd?.left ?? ROOM);
    for (let index = 0; index < count; index++) run().catch(() => undefined);
  };
  for (let second = 0; second < 150; second++) {
    claim();
    await clock.advance(1_000);
  }
  const before = { ...counts };
  for (let second = 0; second < 600; second++) {
    claim();
    await clock.advance(1_000);
  }
  const called = counts.called - before.called;
  expect(called).toBeGreaterThanOrEqual(0.95 * LIMIT * 10);
  expect(counts.parked - before.parked).toBeLessThan(1.5 * called);
});

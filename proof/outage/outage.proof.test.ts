/** The small sister of `npm run proof -- outage`: real pods, and a real Postgres that goes away under load. */
import { expect, test } from 'vitest';
import { playOutage } from './outage.ts';

test('Postgres is away under load: what was started meanwhile is there afterwards, nothing is lost or done twice', async () => {
  const report = await playOutage({
    outageMs: 8_000,
    starts: 40,
    pods: 2,
    rate: 40,
    warmMs: 2_000,
    secondsMax: 90,
  });
  expect(report).toMatchObject({ local: 40, lost: 0, open: 0, doubled: 0, violations: 0 });
  expect(report.enqueued).toBeGreaterThan(20);
  expect(report.aloneMs).toBeGreaterThan(2_000);
}, 180_000);

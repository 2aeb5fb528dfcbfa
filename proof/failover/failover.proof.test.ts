/** The small sister of `npm run proof -- failover`: real servers, real pods, one kill. */
import { expect, test } from 'vitest';
import { playFailovers, playLoss } from './failover.ts';

const load = { pods: 2, rate: 40, loadMs: 1_500, secondsMax: 90 };

test('a primary with quorum commit is killed under load: the new one is found, and nothing acknowledged is lost', async () => {
  const report = await playFailovers({ ...load, kills: 1 });
  expect(report).toMatchObject({ lost: 0, open: 0, toldLost: 0, violations: 0 });
  expect(report.enqueued).toBeGreaterThan(20);
}, 180_000);

test('a standby that lagged behind is promoted: pods say what was lost, and write outcomes again', async () => {
  const report = await playLoss(load);
  expect(report).toMatchObject({ open: 0, violations: 0 });
  expect(report.lostEnqueues).toBeGreaterThan(0);
  expect(report.toldLost).toBeGreaterThanOrEqual(report.lostEnqueues);
}, 180_000);

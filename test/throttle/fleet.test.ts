/** Real pods against APIs that count: whoever goes, never more is out at once than the stated bound. */
import { expect, test } from 'vitest';
import { runFaults } from './fleet/faults.ts';

test('a pod killed, the leader killed, the store gone: the API never has more out than the bound', {
  timeout: 500_000,
}, async () => {
  const report = await runFaults({
    pods: 3,
    cap: 12,
    latencyMs: 200,
    callers: 12,
    heartbeatMs: 300,
    silentMs: 1_500,
    lookMs: 1_000,
    withoutStoreMs: 2_500,
    say: () => undefined,
  });
  expect(report.outMost).toBeLessThanOrEqual(report.bound);
  // On a busy machine it says little how much of it is used; that it is used at all, it does.
  expect(report.looks['steady']!.declaredShare).toBeGreaterThan(0);
  expect(report.looks['after']!.declaredShare).toBeGreaterThan(0);
});

/** Real pods against APIs that count: whoever goes, never more is out at once than the stated bound. */
import { expect, test } from 'vitest';
import { runFaults } from './faults.ts';

/**
 * How much is called in a second is up to the host. Who may call how much is not: the shares of the pods that
 * live become the whole limit, with all of them and after all that happened, or the stage says which they were.
 */
test('a pod killed, the leader killed, the store gone: never more out than the bound, and all of it shared again', {
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
  expect(Object.keys(report.sharedMs)).toEqual(['joined', 'storeBack']);
});

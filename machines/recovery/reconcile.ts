/**
 * Puts right what no single pod would notice: tasks that nobody will ever be able to run become dead
 * letters with a reason, and this host's copy of the dead letters is compared with the store.
 */
import { defineMachine, handoff, type Recovery } from 'fleetq';
import * as z from 'zod';

const BATCH_COUNT_MAX = 20;

export const reconcile = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/reconcile',
    version: 1,
    input: z.object({ pod: z.string() }),
    retry: { attemptMax: 3 },
    timeout: { run: '10m' },
    check: async () => {
      const nothing = { failed: 0, deadLetters: 0 };
      if (!recovery.standing()?.isLeader) return handoff(nothing, 'another pod leads');
      return (await recovery.hasHopeless()) ? undefined : handoff(nothing, 'nothing is hopeless');
    },
    work: async () => {
      let failed = 0;
      for (let batch = 0; batch < BATCH_COUNT_MAX; batch++) {
        const found = await recovery.failHopeless();
        failed += found.length;
        if (found.length === 0) break;
      }
      return { failed };
    },
    persist: async ({ work }) => ({
      failed: work.failed,
      deadLetters: await recovery.refreshDeadLetters(),
    }),
  });

/**
 * Removes what has been kept for long enough: ended tasks with their histories, pods long down, and of
 * the audit log what is older than somebody has said.
 */
import { defineMachine, handoff, type Recovery } from 'fleetq';
import * as z from 'zod';

const BATCH_COUNT_MAX = 100;

export const retention = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/retention',
    version: 1,
    input: z.object({ pod: z.string() }),
    retry: { attemptMax: 3 },
    timeout: { run: '10m' },
    check: async () => {
      if (!recovery.standing()?.isLeader) return handoff({ removed: 0 }, 'another pod leads');
      const { hasOld } = await recovery.leftovers();
      return hasOld ? undefined : handoff({ removed: 0 }, 'nothing is old enough');
    },
    work: async ({ signal, progress }) => {
      let removed = 0;
      for (let batch = 0; batch < BATCH_COUNT_MAX; batch++) {
        signal.throwIfAborted();
        const count = await recovery.prune();
        removed += count;
        if (count === 0) break;
        progress(batch / BATCH_COUNT_MAX, `${removed} were removed`);
      }
      return { removed };
    },
  });

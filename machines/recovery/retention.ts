/**
 * Removes what has been kept for long enough: ended tasks with their histories, pods long down, and of
 * the audit log what is older than somebody has said.
 */
import { defineMachine, handoff, type Recovery } from 'fleetq';
import * as z from 'zod';

/** A million tasks: the leader starts the next run at once where there is more. */
const BATCH_COUNT_MAX = 1_000;
const NOTHING = { removed: 0, isMore: false };

export const retention = (recovery: Recovery) =>
  defineMachine({
    name: 'recovery/retention',
    version: 1,
    input: z.object({ pod: z.string() }),
    retry: { attemptMax: 3 },
    timeout: { run: '1h' },
    check: async () => {
      if (!recovery.standing()?.isLeader) return handoff(NOTHING, 'another pod leads');
      return (await recovery.hasOld()) ? undefined : handoff(NOTHING, 'nothing is old enough');
    },
    work: async ({ signal, progress }) => {
      let { removed, isMore } = { ...NOTHING, isMore: true };
      for (let batch = 0; isMore && batch < BATCH_COUNT_MAX; batch++) {
        signal.throwIfAborted();
        const pruned = await recovery.prune();
        removed += pruned.removed;
        isMore = pruned.isMore;
        progress(batch / BATCH_COUNT_MAX, `${removed} were removed`);
      }
      return { removed, isMore };
    },
  });

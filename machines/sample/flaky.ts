/** Fails its first attempts, then succeeds: a throw is a failed attempt, and is tried again. */
import { defineMachine, exponential } from 'fleetq';
import * as z from 'zod';
import { keepOnce } from './ledger.ts';

export const flaky = defineMachine({
  name: 'sample/flaky',
  version: 1,
  input: z.object({ id: z.int().nonnegative(), failures: z.int().min(0).max(4) }),
  retry: { attemptMax: 5, backoff: exponential('100ms', { max: '2s' }) },

  check: 'none',
  work: ({ input, attempt }) => {
    if (attempt <= input.failures) throw new Error(`the line is bad (attempt ${attempt})`);
    return { id: input.id, attempts: attempt };
  },
  persist: ({ work, runId, attempt }) => {
    keepOnce(runId, attempt);
    return work;
  },
});

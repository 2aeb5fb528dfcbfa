/** Hands off where there is nothing to do: every third customer is known already. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine, handoff, proceed } from 'fleetq';
import * as z from 'zod';
import { keepOnce } from './ledger.ts';

export const lookup = defineMachine({
  name: 'sample/lookup',
  version: 1,
  input: z.object({ customer: z.int().nonnegative() }),

  check: ({ input: { customer } }) =>
    customer % 3 === 0 ? handoff({ customer, tier: 'gold' }, 'known already') : proceed,
  work: async ({ input: { customer }, use, signal }) => {
    await use('directory', () => sleep(10 + (customer % 40), undefined, { signal }));
    return { customer, tier: customer % 2 === 0 ? 'silver' : 'bronze' };
  },
  persist: ({ work, runId, attempt }) => {
    keepOnce(runId, attempt);
    return work;
  },
});

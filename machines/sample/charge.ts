/** Fails for good where the request is at fault: to try again would change nothing. */
import { abort, defineMachine } from 'fleetq';
import * as z from 'zod';
import { keepOnce } from './ledger.ts';

const CENTS_MAX = 100_000;

export const charge = defineMachine({
  name: 'sample/charge',
  version: 1,
  input: z.object({ account: z.string().min(1).max(64), cents: z.int().positive() }),

  check: 'none',
  work: ({ input, idempotencyKey }) => {
    if (input.cents > CENTS_MAX) {
      abort(`${input.cents} cents is over the limit of ${CENTS_MAX}`, { kind: 'user' });
    }
    // A real one gives the key to the bank, which then charges once however often it is asked.
    return { account: input.account, cents: input.cents, receipt: idempotencyKey.slice(0, 12) };
  },
  persist: ({ work, runId, attempt }) => {
    keepOnce(runId, attempt);
    return work;
  },
});

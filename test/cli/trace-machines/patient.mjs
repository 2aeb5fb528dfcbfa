/** Fails once, and waits before it tries again. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

export const patient = defineMachine({
  name: 'test/patient',
  version: 1,
  input: z.object({ secret: z.string() }),
  retry: { attemptMax: 2, backoff: () => 300 },
  check: 'none',
  work: ({ input, attempt }) => {
    if (attempt === 1) throw new TypeError(`no luck, ${input.secret}`);
    return { attempt };
  },
});

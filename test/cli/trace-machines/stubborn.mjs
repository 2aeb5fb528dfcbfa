/** Fails until its 300th attempt, and is asked before each whether it has happened. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

export const stubborn = defineMachine({
  name: 'test/stubborn',
  version: 1,
  input: z.object({ secret: z.string() }),
  retry: { attemptMax: 300, backoff: () => 1 },
  check: () => undefined,
  work: ({ input, attempt }) => {
    if (attempt < 300) throw new RangeError(`not yet, ${input.secret}`);
    return { attempt };
  },
});

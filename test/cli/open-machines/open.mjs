/** A machine of a module that leaves a timer running, as one with a pool of connections does. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

setInterval(() => undefined, 1_000);

export const long = defineMachine({
  name: 'test/long',
  version: 1,
  input: z.object({ length: z.number() }),
  check: 'none',
  work: ({ input }) => 'x'.repeat(input.length),
});

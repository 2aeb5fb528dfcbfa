/** The smallest machine that shows all four phases: greets somebody, once. */
import { defineMachine } from 'fleetq';
import * as z from 'zod';

export const hello = defineMachine({
  name: 'hello',
  version: 1,
  input: z.object({ name: z.string().min(1).max(200) }),
  check: 'none',
  work: ({ input }) => ({ greeting: `Hello, ${input.name}!` }),
  validate: ({ work }) => {
    if (work.greeting.length < 3) throw new Error('too short a greeting');
  },
  persist: ({ work }) => work.greeting,
});

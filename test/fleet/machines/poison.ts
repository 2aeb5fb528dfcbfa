/** Machines that do harm: one ends whatever process executes it. */
import { appendFileSync } from 'node:fs';
import * as z from 'zod';
import { defineMachine } from '../../../src/index.ts';

export const poison = defineMachine({
  name: 'poison',
  version: 1,
  input: z.object({ ledger: z.string() }),
  retry: { attemptMax: 10 },
  check: () => undefined,
  work: ({ input }) => {
    appendFileSync(input.ledger, `${process.pid}\n`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise<never>(() => undefined);
  },
});

export const innocent = defineMachine({
  name: 'innocent',
  version: 1,
  input: z.object({ n: z.number() }),
  retry: { attemptMax: 10 },
  check: 'none',
  work: async ({ input }) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return input.n;
  },
});

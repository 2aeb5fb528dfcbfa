/** Machines that do nothing for long, so that what changes a row is a request. */
import * as z from 'zod';
import { defineMachine, exponential } from '../../src/index.ts';

const input = z.object({ n: z.number(), secret: z.string().optional() });
const retry = { attemptMax: 1, backoff: exponential('1ms') };

export const fuzzMachines = [
  defineMachine({
    name: 'fuzz/later',
    version: 1,
    input,
    retry,
    check: 'none',
    work: () => 'done',
  }),
  defineMachine({
    name: 'fuzz/failing',
    version: 1,
    input,
    retry,
    check: 'none',
    work: () => {
      throw new Error('no good');
    },
  }),
];

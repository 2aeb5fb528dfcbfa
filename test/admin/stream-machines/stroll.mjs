/** A run of many steps, some of which fail at first: for those who follow runs while processes die. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine, exponential } from 'fleetq';
import * as z from 'zod';

const STEPS = 16;
const STEPS_PER_ROUND = 2;

/** The file at `gate` says how many rounds may be gone: so nobody is through before it is wanted. */
function isOpen(gate, step) {
  return gate === undefined || Number(readFileSync(gate, 'utf8')) >= step / STEPS_PER_ROUND;
}

export const stroll = defineMachine({
  name: 'test/stroll',
  version: 1,
  input: z.object({ gate: z.string().optional() }),
  retry: { attemptMax: 50, backoff: exponential('10ms') },
  steps: (line) => {
    let made = line;
    for (let step = 1; step <= STEPS; step++) {
      made = made.step(`step-${step}`, {
        check: 'none',
        work: async ({ input, attempt }) => {
          do await sleep(60);
          while (!isOpen(input.gate, step));
          if (step % 5 === 0 && attempt === 1) throw new Error(`step ${step} stumbles`);
          return { step };
        },
        persist: ({ work }) => work,
      });
    }
    return made;
  },
});

/** Load: ends at once. */
export const hop = defineMachine({
  name: 'test/hop',
  version: 1,
  input: z.object({}),
  check: 'none',
  work: () => 'hopped',
});

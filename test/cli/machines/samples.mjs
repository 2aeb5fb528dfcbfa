/** Machines for tests of real processes: quick, failing, stuck until told, crashing, sleeping. */
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine, exponential } from 'fleetq';
import * as z from 'zod';

const retry = { attemptMax: 3, backoff: exponential('1ms') };

export const quick = defineMachine({
  name: 'test/quick',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input, log }) => {
    log.info('doubling', { n: input.n });
    return { doubled: input.n * 2 };
  },
});

export const failing = defineMachine({
  name: 'test/failing',
  version: 1,
  input: z.object({ secret: z.string() }),
  retry: { attemptMax: 2, backoff: exponential('1ms') },
  check: 'none',
  work: () => {
    throw new Error('no luck', { cause: new Error('the moon') });
  },
});

/** Says that it is inside by writing `<gate>.in`, and goes on once `<gate>` is there. */
async function passGate({ gate }, attempt) {
  writeFileSync(`${gate}.in`, `${attempt}`);
  while (!existsSync(gate)) await sleep(5);
}

export const gated = defineMachine({
  name: 'test/gated',
  version: 1,
  input: z.object({ gate: z.string() }),
  retry,
  check: 'none',
  work: async ({ input, attempt }) => {
    await passGate(input, attempt);
    return { attempt };
  },
  persist: ({ work, attempt }) => ({ worked: work.attempt, persisted: attempt }),
});

/** Its first attempt throws where nobody can catch it. */
export const crashing = defineMachine({
  name: 'test/crashing',
  version: 1,
  input: z.object({ how: z.enum(['exception', 'rejection']) }),
  retry,
  check: 'none',
  work: async ({ input, attempt }) => {
    if (attempt > 1) return { attempt };
    if (input.how === 'rejection') Promise.reject(new Error('nobody caught this'));
    else
      setTimeout(() => {
        throw new Error('nobody caught this');
      });
    await sleep(60_000);
  },
});

export const sleeping = defineMachine({
  name: 'test/sleeping',
  version: 1,
  input: z.object({}),
  steps: (line) =>
    line
      .step('before', { check: 'none', work: () => 1 })
      .sleep('rest', '1h')
      .step('after', { check: 'none', work: () => 2 }),
});

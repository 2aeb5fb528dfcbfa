/**
 * A pod to be measured. Plain JavaScript over the built files, so that what is timed is what users run.
 * It says when it is ready, and when phases begin, to whoever started it.
 */
import { createFleet, defineMachine } from 'fleetq';
import * as z from 'zod';

const options = JSON.parse(process.argv[2]);
const input = z.object({ n: z.number() });
const now = () => performance.timeOrigin + performance.now();

const four = defineMachine({
  name: 'bench-four',
  version: 1,
  input,
  check: async () => undefined,
  work: async ({ input }) => ({ url: 'https://example.invalid/image', n: input.n }),
  validate: async () => undefined,
  persist: async ({ work }) => ({ n: work.n }),
});
const trivial = defineMachine({
  name: 'bench-trivial',
  version: 1,
  input,
  check: 'none',
  work: async ({ input }) => input.n,
});
const pickup = defineMachine({
  name: 'bench-pickup',
  version: 1,
  input,
  check: 'none',
  work: async ({ input }) => {
    process.send({ kind: 'began', n: input.n, at: now() });
    return input.n;
  },
});
/** One finished step that is archived, and one that never ends. */
const held = defineMachine({
  name: 'bench-held',
  version: 1,
  input,
  retry: { attemptMax: 100 },
  steps: (line) =>
    line
      .step('first', { check: 'none', work: async ({ input }) => input.n, flush: { work: 'sync' } })
      .step('second', {
        check: async () => undefined,
        work: async ({ input, signal }) => {
          process.send({ kind: 'began', n: input.n, at: now() });
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          });
        },
      }),
});

const fleet = await createFleet({
  ...options,
  machines: [four, trivial, pickup, held],
  socket: false,
});
process.on('disconnect', () => process.exit(0));
process.send({ kind: 'ready', at: now() });
process.on('message', async (message) => {
  if (message !== 'drain') return;
  await fleet.drain({ budget: '5s' });
  process.exit(0);
});

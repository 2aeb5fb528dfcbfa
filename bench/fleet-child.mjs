/**
 * A pod to be measured. Plain JavaScript over the built files, so that what is timed is what users run.
 * It says when it is ready, and when phases begin, to whoever started it.
 */
import { createFleet, defineMachine, listen } from 'fleetq';
import * as z from 'zod';

const options = JSON.parse(process.argv[2]);
const input = z.object({ n: z.number() });
// Whoever started it has gone, perhaps before it was ready.
process.on('disconnect', () => process.exit(0));
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
/** The store has everything up to the second work, which lasts until this process is told to let go. */
const holding = new Set();
const held = defineMachine({
  name: 'bench-held',
  version: 1,
  input,
  retry: { attemptMax: 100 },
  flush: { check: 'sync', work: 'sync' },
  steps: (line) =>
    line
      .step('first', { check: async () => undefined, work: async ({ input }) => input.n })
      .step('second', {
        check: async () => undefined,
        work: async ({ input, signal }) => {
          await new Promise((resolve, reject) => {
            holding.add(resolve);
            signal.addEventListener('abort', () => reject(signal.reason));
          });
          return input.n;
        },
      }),
});
/** Says of every call into a handler which it is and when. */
const telling = ({ run, step, phase }, call) => {
  process.send({ kind: 'phase', run, place: `${step}.${phase}`, at: now() });
  return call();
};

const { tellsPhases, tellsClaims, ...given } = options;
if (tellsClaims) {
  listen('claim.answered', ({ elapsedMs }) => process.send({ kind: 'claim', ms: elapsedMs }));
}
const fleet = await createFleet({
  ...given,
  machines: [four, trivial, pickup, held],
  socket: false,
  ...(tellsPhases ? { around: telling } : {}),
});
process.send({ kind: 'ready', at: now() });
process.on('message', async (message) => {
  if (message === 'letGo') for (const resolve of holding) holding.delete(resolve) && resolve();
  if (message !== 'drain') return;
  await fleet.drain({ budget: '5s' });
  process.exit(0);
});

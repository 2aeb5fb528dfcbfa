/**
 * A process with local runs that sleep, over the built files. It starts as many as it is asked for, and says when
 * it is ready, and after that how many of its runs the fleet knows as its own.
 */
import { createFleet, defineMachine } from 'fleetq';
import * as z from 'zod';

const { count = 0, ...options } = JSON.parse(process.argv[2]);
process.on('disconnect', () => process.exit(0));
const now = () => performance.timeOrigin + performance.now();
const asleep = defineMachine({
  name: 'bench-asleep',
  version: 1,
  input: z.object({ n: z.number() }),
  steps: (line) =>
    line
      .sleep('night', '12h')
      .step('morning', { check: 'none', work: async ({ input }) => input.n }),
});
const fleet = await createFleet({ ...options, machines: [asleep], socket: false });
const say = (kind) => {
  const { held = 0, unflushed = 0 } = fleet.status.pod ?? {};
  process.send({ kind, at: now(), known: held, unflushed, rss: process.memoryUsage.rss() });
};
say('ready');
const BATCH = 500;
for (let n = 0; n < count; n += BATCH) {
  await Promise.all(
    Array.from({ length: BATCH }, (_, index) => fleet.startLocal(asleep, { n: n + index })),
  );
}
setInterval(() => say('status'), 100);

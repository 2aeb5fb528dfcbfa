/**
 * Several pods in one process, over the built files, each with a journal of its own. It says when all are ready,
 * and when a run of `bench-pickup` begins.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, defineMachine } from 'fleetq';
import * as z from 'zod';

const { store, pods, name } = JSON.parse(process.argv[2]);
process.on('disconnect', () => process.exit(0));
const now = () => performance.timeOrigin + performance.now();
const machines = [
  defineMachine({
    name: 'bench-pickup',
    version: 1,
    input: z.object({ n: z.number() }),
    check: 'none',
    work: async ({ input }) => {
      process.send({ kind: 'began', n: input.n, at: now() });
      return input.n;
    },
  }),
  defineMachine({
    name: 'bench-trivial',
    version: 1,
    input: z.object({ n: z.number() }),
    check: 'none',
    work: async ({ input }) => input.n,
  }),
];
const root = mkdtempSync(join(tmpdir(), 'fleetq-bench-'));
const fleets = [];
for (let n = 0; n < pods; n++) {
  const podName = `${name}-${n}`;
  fleets.push(
    await createFleet({
      store,
      machines,
      podName,
      dataDir: join(root, podName),
      socket: false,
      slots: 64,
    }),
  );
}
process.send({ kind: 'ready', at: now(), root });

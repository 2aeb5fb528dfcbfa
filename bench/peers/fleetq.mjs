/** FleetQ as it is built here. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createFleet, defineMachine } from '../../dist/index.js';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const input = z.object({ n: z.number(), at: z.number().optional() });

const machinesOf = (on) => ({
  pickup: defineMachine({
    name: 'pickup',
    version: 1,
    input,
    check: 'none',
    work: async ({ input: job }) => on.pickup?.(job) ?? null,
  }),
  trivial: defineMachine({
    name: 'trivial',
    version: 1,
    input,
    check: 'none',
    work: async () => on.trivial?.() ?? null,
  }),
  four: defineMachine({
    name: 'four',
    version: 1,
    input,
    check: async () => undefined,
    work: async ({ input: job }) => ({ n: job.n }),
    validate: async () => undefined,
    persist: async () => on.four?.() ?? null,
  }),
});

export async function open(store) {
  execFileSync(process.execPath, [BIN, 'migrate', 'up', '--store', store]);
  let fleet;
  const start = async (on, options) => {
    const machines = machinesOf(on);
    const dataDir = mkdtempSync(join(tmpdir(), 'fleetq-peers-'));
    fleet = await createFleet({
      store,
      machines: Object.values(machines),
      dataDir,
      socket: false,
      ...options,
    });
    return machines;
  };
  let known;
  const client = async () => {
    known ??= await start({}, { isClient: true });
    return known;
  };
  return {
    work: (on) => start(on, { slots: 256 }),
    async enqueue(kind, job) {
      const machines = await client();
      await fleet.enqueue(machines[kind], job);
    },
    async enqueueMany(kind, jobs) {
      const machines = await client();
      await fleet.enqueueMany(
        machines[kind],
        jobs.map((job) => ({ input: job })),
      );
    },
  };
}

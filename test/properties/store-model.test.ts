/** The store in memory does what the model of the contract says; FLEETQ_PROPERTY_TIMES tries more. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import { SEED } from '../ground/seed.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { COMMAND_NAMES, fleetCommands, type Real } from './fleet-commands.ts';
import { FleetModel } from './fleet-model.ts';

const RUNS = 300 * Number(process.env['FLEETQ_PROPERTY_TIMES'] ?? 1);

async function compare(model: FleetModel, { store }: Real): Promise<void> {
  const rows = await store.list({ countMax: 1_000 });
  const seen = rows.map(({ id, status, generation, epoch, claimedBy, crashes, retryCount }) => {
    return { id, status, generation, epoch, owner: claimedBy, crashes, retries: retryCount };
  });
  const wanted = [...model.tasks.values()].map((task) => {
    const { id, status, generation, epoch, owner, crashes, retries } = task;
    return { id, status, generation, epoch, owner, crashes, retries };
  });
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  assert.deepEqual(seen.sort(byId), wanted.sort(byId));
  const pods = (await store.pods()).map(({ pod, status, seq }) => ({ pod, status, seq }));
  for (const { pod, status, seq } of pods) {
    const known = model.pods.get(pod);
    assert.deepEqual({ status, seq }, { status: known?.status, seq: known?.seq });
  }
  assert.deepEqual(await store.violations(), []);
}

async function compareArchives(model: FleetModel, { store }: Real): Promise<void> {
  for (const { id, generation, archived } of model.tasks.values()) {
    const runs = Array.from({ length: generation }, (_, at) => ({
      task: id as RunId,
      generation: at + 1,
    }));
    const parts = (await store.histories(runs)).filter(({ state }) => state !== 'outcome');
    const seen = parts.map((part) => [`${part.generation} ${part.epoch}`, part.lastSeq]);
    assert.deepEqual(new Map(seen as [string, number][]), archived);
  }
}

test('whatever is asked, in whatever order, however late: the store does what the contract says', {
  timeout: 600_000,
}, async () => {
  const done = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fleetCommands(compare), async (commands) => {
      const clock = new FakeClock();
      const tables = new MemoryTables({ clock, random: seededRandom(1) });
      const model = new FleetModel();
      const real = { store: new MemoryStore(tables), clock, done };
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await compareArchives(model, real);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  for (const name of COMMAND_NAMES) expect(done.get(name), name).toBeGreaterThan(RUNS / 10);
});

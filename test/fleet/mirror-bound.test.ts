/** Local runs that end while the store is away: their number is bound by the disk, not by memory. */
import { expect, test } from 'vitest';
import type { LiveRun } from '../../src/engine/index.ts';
import { Mirror } from '../../src/fleet/mirror.ts';
import { runIdMint } from '../../src/ground/index.ts';
import { defineMachine } from '../../src/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { anyInput, SILENT_MS, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();
/** More than are kept. */
const COUNT = 5_600;

test('I35: of runs that end without the store only so many are kept in memory', () => {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const mint = runIdMint(clock, random);
  const nothing = {} as never;
  const mirror = new Mirror({
    store: nothing,
    journal: nothing,
    clock,
    random,
    life: () => undefined,
  });
  for (let count = 0; count < 10 * COUNT; count += 1) {
    const state = { startedAt: 1, deadlineAt: undefined, input: {} };
    const run = { id: mint(), state, plan: { name: 'm', version: 1 } } as unknown as LiveRun;
    mirror.shadow(run).ended({ outcome: 'completed', output: 1 } as never);
  }
  expect(mirror.size).toBeLessThan(COUNT);
  mirror.stop();
});

test('all runs that ended without the store are in it afterwards, however many they are', async () => {
  const machine = defineMachine({
    name: 'brief',
    version: 1,
    input: anyInput,
    check: 'none',
    work: () => 'done',
  });
  const { clock, startPod, store } = startFleet();
  const { fleet, wire } = await startPod('alder', { machines: [machine], slots: 500 });
  wire.isCut = true;
  await clock.advance(2 * SILENT_MS);
  const start = () => fleet.startLocal(machine, {});
  const starting = Promise.all(Array.from({ length: COUNT }, start));
  const runs = await whileAdvancing(clock, starting);
  await whileAdvancing(clock, Promise.all(runs.map((run) => run.result())));
  wire.isCut = false;
  await clock.advance(30_000);
  const rows = await store.find(runs.map(({ id }) => id));
  expect(rows).toHaveLength(COUNT);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['completed']));
});

/** Bulk operations in a fleet: whoever leaves hands over, whoever is cut off goes on, and nobody is blamed. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { BulkRow, MemoryTables, NewBulk } from '../../src/store/index.ts';
import { onlyWork, Script } from '../fleet/script.ts';
import { STEADY_MS, type TestFleet, useTestFleets, whileAdvancing } from '../fleet/support.ts';
import { newBulk, orderFor } from '../store/conform-bulk.ts';
import { REDRIVE } from './stage.ts';

const { startFleet } = useTestFleets();
/** Known to the fleet, and on no pod: what is redriven waits. */
const MACHINE = 'test/letter';

function lettersIn(tables: MemoryTables, count: number): RunId[] {
  return Array.from({ length: count }, () => {
    const now = tables.now();
    const ended = { status: 'failed', outcome: 'aborted', error: '{}', finishedAt: now } as const;
    return tables.insert({ machine: MACHINE, payload: '{}', ...ended }).taskId;
  });
}

async function stageOf(fleet: TestFleet, count: number, options: Partial<NewBulk>) {
  await fleet.store.announce([{ route: `${MACHINE}@1`, fingerprint: 'f', shape: 's' }]);
  const letters = lettersIn(fleet.tables, count);
  const machine = onlyWork(new Script());
  const { bulk } = await fleet.store.beginBulk(newBulk({ ...REDRIVE, ...options }));
  return {
    letters,
    machines: [machine],
    id: bulk.id,
    row: (): BulkRow => fleet.tables.bulks.get(bulk.id)!,
  };
}

function expectAllOnce(tables: MemoryTables, row: BulkRow, letters: readonly RunId[]): void {
  const { found, done, refused, already, requested } = row;
  const count = letters.length;
  expect({ found, done, refused, already, requested }).toEqual({
    ...{ found: count, done: count },
    ...{ refused: 0, already: 0, requested: 0 },
  });
  for (const letter of letters) expect(tables.tasks.get(letter)?.generation).toBe(2);
  const audited = [...tables.audit.values()].filter(({ what }) => what === 'redrive');
  expect(audited).toHaveLength(count);
}

test('a pod that drains hands it over at once, and another goes on from there', async () => {
  const fleet = startFleet();
  const { clock, startPod, tables } = fleet;
  const { letters, machines, row } = await stageOf(fleet, 60, { rate: 4 });
  const alder = await startPod('alder', { machines });
  await clock.advance(4_000);
  const before = row();
  expect(before.done).toBeGreaterThan(5);
  const birch = await startPod('birch', { machines });
  const begunMs = clock.monotonicMs();
  await whileAdvancing(clock, alder.fleet.drain({ budget: '25s' }));
  expect(clock.monotonicMs() - begunMs).toBeLessThan(8_000);
  expect(row().shift).toBeGreaterThan(before.shift);
  await clock.advance(30_000);
  expect(row().status).toBe('completed');
  expectAllOnce(tables, row(), letters);
  const shifts = [...tables.tasks.values()].filter(({ machine }) => machine === 'fleet/bulk');
  expect(shifts.map(({ status, crashes }) => ({ status, crashes }))).toEqual(
    shifts.map(() => ({ status: 'completed', crashes: 0 })),
  );
  expect(birch.id).toBeDefined();
});

test('pods that die at it, more often than a run would be forgiven, leave it to the next', async () => {
  const fleet = startFleet();
  const { clock, startPod, tables } = fleet;
  const { letters, machines, row } = await stageOf(fleet, 300, { rate: 3 });
  const pods = [await startPod('alder', { machines }), await startPod('birch', { machines })];
  const owner = () => tables.tasks.get(row().shiftRun)?.claimedBy;
  for (let deaths = 0; deaths < 4; deaths += 1) {
    const before = row().done;
    // Those that are left may judge others by then; and something was done since the last death.
    await clock.advance(STEADY_MS);
    for (let waits = 0; waits < 30 && (!owner() || row().done === before); waits += 1) {
      await clock.advance(1_000);
    }
    const at = pods.findIndex(({ id }) => id === owner());
    expect(at, `who is at it after ${deaths} deaths`).toBeGreaterThanOrEqual(0);
    pods.splice(at, 1)[0]!.crash();
    pods.push(await startPod(`spare-${deaths}`, { machines }));
  }
  for (let waits = 0; waits < 300 && row().endedAt === undefined; waits += 1) {
    await clock.advance(1_000);
  }
  expect(row().status).toBe('completed');
  expectAllOnce(tables, row(), letters);
});

test('a store that is away is no end of it', async () => {
  const fleet = startFleet();
  const { clock, startPod, tables } = fleet;
  const { letters, machines, row } = await stageOf(fleet, 40, { rate: 4 });
  const alder = await startPod('alder', { machines });
  await clock.advance(2_000);
  alder.wire.isBusyFor.set('act', 3);
  alder.wire.losesAnswers.set('act', 2).set('saveBulk', 1).set('takeBulk', 1);
  await clock.advance(60_000);
  expect(row().status).toBe('completed');
  expectAllOnce(tables, row(), letters);
});

test('a pause ends its run, a resume begins another, and a cancellation is seen within a page', async () => {
  const fleet = startFleet();
  const { clock, startPod, store, tables } = fleet;
  const { machines, row, id } = await stageOf(fleet, 60, { rate: 4 });
  await startPod('alder', { machines });
  await clock.advance(3_000);
  await store.orderBulk(orderFor(id, { what: 'pause' }));
  await clock.advance(5_000);
  const paused = row();
  expect(paused.status).toBe('paused');
  expect(tables.tasks.get(paused.shiftRun)).toMatchObject({ status: 'completed' });
  await clock.advance(60_000);
  expect(row()).toEqual(paused);
  await store.orderBulk(orderFor(id, { what: 'resume' }));
  await clock.advance(3_000);
  expect(row().done).toBeGreaterThan(paused.done);
  await store.orderBulk(orderFor(id, { what: 'cancel' }));
  await clock.advance(5_000);
  expect(row()).toMatchObject({ status: 'cancelled', inHand: [] });
  const redriven = [...tables.tasks.values()].filter(({ generation }) => generation === 2);
  expect(redriven).toHaveLength(row().done);
});

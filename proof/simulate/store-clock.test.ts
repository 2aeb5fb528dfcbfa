/** What is known of true time where the clock of the store was set. */
import { expect, test } from 'vitest';
import { MemoryStore } from '../../src/store/index.ts';
import { birthOf, claimRequest, newTask, podOf } from '../../test/store/factories.ts';
import { BEGIN_MS } from './process.ts';
import { TableAudit } from './table-audit.ts';
import { World } from './world.ts';

const HOUR_MS = 3_600_000;

test('a time that the store wrote down is true by the clock that it had then', async () => {
  const world = new World({ seed: 1 });
  const eras = [0, HOUR_MS, 0, HOUR_MS, 7_000];
  const noted: (readonly [number, number])[] = [];
  for (const offMs of eras) {
    world.setStoreClock(offMs);
    await world.schedule.run(world.nowMs + 1_000);
    noted.push([world.nowMs, BEGIN_MS + world.nowMs + offMs]);
    await world.schedule.run(world.nowMs + 1_000);
  }
  for (const [trueMs, storeTime] of noted) expect(world.trueMsOf(storeTime)).toBe(trueMs);
});

test('a pod had died when its tasks were taken, though the clock of the store was set back meanwhile', async () => {
  const world = new World({ seed: 1 });
  const store = new MemoryStore(world.tables);
  const rows = new TableAudit(world);
  const [from, by] = [podOf('alder'), podOf('birch')];
  await store.register(birthOf('alder'));
  await store.register(birthOf('birch'));
  const task = newTask();
  await store.enqueue([task]);
  await store.claim(claimRequest(from));
  rows.lookAt([task.id], 'claim');
  await world.schedule.run(1_000);
  await store.fence(from, by, 'proved');
  world.setStoreClock(-HOUR_MS);
  await world.schedule.run(2_000);
  await store.take({ from, by, to: 'pool', countMax: 9, crashed: 'all', spreadMs: 0 });
  rows.lookAt([task.id], 'take');
  const taken = rows.changes.get(task.id)!.at(-1)!;
  expect(taken).toMatchObject({ wasOwner: from, crashes: 1, at: 2_000 });
  expect(rows.deaths.get(from)).toBeLessThanOrEqual(taken.at);
});

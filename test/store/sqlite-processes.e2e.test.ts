/** Several real processes on one SQLite file: migrating, claiming, and killed while they settle. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrateSqliteStore } from '../../src/store/sqlite/migrate.ts';
import { knownMigrations } from '../../src/store/sqlite/schema.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { newTasks } from './factories.ts';
import { openMigrated, PORTS, prompt } from './sqlite-harness.ts';
import { killChildrenAfterEach, StoreChild } from './sqlite-processes.ts';

const newDir = useTempDirs();
killChildrenAfterEach();

const RACE_COUNT = 3;

test('four processes that migrate at once make one schema, and all say the same', async () => {
  for (let race = 0; race < RACE_COUNT; race++) {
    const file = join(newDir(), 'store.db');
    const names = ['a', 'b', 'c', 'd'];
    const children = names.map((name) => new StoreChild({ mode: 'migrate', file, name }));
    await Promise.all(children.map((child) => child.hears('up')));
    for (const child of children) child.go();
    const said = await Promise.all(children.map((child) => child.hears('migrated')));
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0]);
    const wanted = knownMigrations().map(({ version, name, checksum }) => ({
      version,
      name,
      checksum,
    }));
    for (const answer of said) expect(answer).toMatchObject({ applied: wanted, pending: 0 });
    const count = prompt(file, (database) =>
      database.prepare('select count(*) from schema_version').pluck().get(),
    );
    expect(count).toBe(wanted.length);
    expect((await migrateSqliteStore(file, PORTS)).pending).toEqual([]);
  }
});

const TASK_COUNT = 2_000;

test('four processes that claim at once share the tasks: none is given twice', async () => {
  const file = join(newDir(), 'store.db');
  const store = await openMigrated(file);
  const tasks = newTasks(TASK_COUNT);
  await store.enqueue(tasks);
  const names = ['alder', 'birch', 'cedar', 'dogwood'];
  const children = names.map((name) => new StoreChild({ mode: 'claim', file, name }));
  await Promise.all(children.map((child) => child.hears('up')));
  for (const child of children) child.go();
  await Promise.all(children.map((child) => child.hears('done')));
  const claimed = children.map((child) =>
    child.all('claimed').flatMap(({ tasks }) => tasks as [string, number][]),
  );
  const given = claimed.flat();
  expect(new Set(given.map(([task]) => task)).size).toBe(TASK_COUNT);
  expect(given).toHaveLength(TASK_COUNT);
  expect(new Set(given.map(([, epoch]) => epoch))).toEqual(new Set([1]));
  // All of them had a part in it, or this was no race.
  for (const own of claimed) expect(own.length).toBeGreaterThan(TASK_COUNT / 100);
  expect(await store.violations()).toEqual([]);
  const counts = (await store.pods()).map(({ claimCount }) => claimCount);
  const completed = prompt(file, (database) =>
    database.prepare(`select count(*) from step_tracker where status = 'completed'`).pluck().get(),
  ) as number;
  expect(completed + counts.reduce((sum, count) => sum + count, 0)).toBe(TASK_COUNT);
  await store.close();
});

const KILL_COUNT = 10;
const BATCH_COUNT = 400;

test('a process killed in the middle of settling leaves all of a batch or nothing of it', async () => {
  const file = join(newDir(), 'store.db');
  const store = await openMigrated(file);
  let cut = 0;
  for (let kill = 0; kill < KILL_COUNT; kill++) {
    await store.enqueue(newTasks(BATCH_COUNT * 12));
    const name = `pod-${kill}`;
    const child = new StoreChild({ mode: 'settle', file, name, batchCount: BATCH_COUNT });
    await child.hears('settling');
    await new Promise((resolve) => setTimeout(resolve, 3 + kill * 7));
    await child.kill();
    const settling = child.all('settling').map(({ tasks }) => tasks as string[]);
    const settled = child.all('settled');
    expect(settled.every(({ count }) => count === BATCH_COUNT)).toBe(true);
    if (settled.length < settling.length) cut++;
    for (const [index, batch] of settling.entries()) {
      const found = await store.find(batch as never);
      const ended = found.filter(({ status }) => status === 'completed');
      expect([0, batch.length]).toContain(ended.length);
      if (index < settled.length) expect(ended).toHaveLength(batch.length);
      const runs = ended.map(({ id }) => ({ task: id, generation: 1 }));
      expect(await store.histories(runs)).toHaveLength(ended.length);
    }
    expect(await store.violations()).toEqual([]);
  }
  // Otherwise no kill came in between, and nothing was shown.
  expect(cut).toBeGreaterThan(KILL_COUNT / 4);
  await store.close();
});

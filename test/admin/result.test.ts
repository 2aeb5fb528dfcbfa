/** What is answered of a run's end is of one look: a run that ends meanwhile has not ended twice over. */
import { expect, test } from 'vitest';
import { runRoutes } from '../../src/admin/routes/run.ts';
import type { Asked } from '../../src/admin/table.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { MemoryStore, MemoryTables, type StoreReader } from '../../src/store/index.ts';
import { newTask } from '../store/factories.ts';

test('a result that comes between two looks at the store is 202 and open, or 200 and ended', async () => {
  const store = new MemoryStore(new MemoryTables({ clock: systemClock, random: systemRandom }));
  const task = newTask();
  await store.enqueue([task]);
  const reader = await store.openReader();
  const ending = { status: 'completed', outcome: 'completed', finishedAt: 1 } as const;
  const found = reader.find.bind(reader);
  let looks = 0;
  // The task ends right after it was looked at for the first time.
  const find: StoreReader['find'] = async (ids) => {
    const rows = await found(ids);
    return looks++ === 0 ? rows : rows.map((row) => ({ ...row, ...ending }));
  };
  Object.assign(reader, { find });
  const route = runRoutes.find(({ path }) => path === '/runs/:id/result')!;
  const asked = {
    id: task.id,
    query: {},
    desk: { clock: systemClock, redacted: [], shared: { reader: async () => reader } },
    door: { isMasked: false },
  } as unknown as Asked<never, never>;
  const seen = [];
  for (let turn = 0; turn < 2; turn++) {
    const answer = (await route.answer(asked))!;
    seen.push([answer.status, (answer.body as { status: string }).status]);
  }
  expect(seen).toEqual([
    [202, 'pending'],
    [200, 'completed'],
  ]);
});

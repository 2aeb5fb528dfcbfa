/**
 * Tasks that are new go in by one statement; where an id or a key is in use, they go the careful way. And
 * what an id may look like is said in pieces by the index, and in one by everybody else.
 */
import * as fc from 'fast-check';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { enqueueNewTasks } from '../../src/store/postgres/step-tracker.sql.ts';
import { isMalformed } from '../../src/store/postgres/step-tracker-sweep.sql.ts';
import { TASK_ID_PATTERN } from '../../src/store/reasons.ts';
import type { EnqueueAnswer, NewTask } from '../../src/store/tasks.ts';
import { HOUR, ids, newId, newTask, newTasks } from './factories.ts';
import { usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const keyed = (keys: readonly string[]) => keys.map((key) => newTask({ key }));
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `k-${from + index}`);

/** What is sent to the server meanwhile, hints left out. */
async function statementsOf(act: () => Promise<unknown>): Promise<string[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await act();
    const texts = spy.mock.calls.map(([text]) => String(text).trim());
    return texts.filter((text) => !text.includes('pg_notify'));
  } finally {
    spy.mockRestore();
  }
}

test.each([
  ['without keys', () => newTasks(50)],
  ['with keys that nobody has', () => keyed(numbered(0, 50))],
  ['alone', () => newTasks(1, { key: 'alone' })],
])('new tasks %s go in by one statement', async (_, tasks) => {
  const store = await scene.open();
  const given = tasks();
  expect(await statementsOf(() => store.enqueue(given))).toHaveLength(1);
  expect(ids(await store.find(given.map(({ id }) => id)))).toHaveLength(given.length);
});

test('what differs from task to task and what holds for all of them is stored alike', async () => {
  const store = await scene.open();
  const words = { queue: 'q', priority: 3, retriesMax: 2, deadlineMs: HOUR };
  const same = newTasks(3, words);
  const mixed: NewTask[] = [
    newTask({ ...words, key: 'mixed', due: { afterMs: HOUR } }),
    newTask({ ...words, queue: 'other', serialKey: 's' }),
    newTask({ ...words, payload: '"{\\"quoted\\", \\\\ NULL}"', due: { at: Date.now() - HOUR } }),
  ];
  const answers = await store.enqueue([...same, ...mixed]);
  expect(answers.map(({ status }) => status)).toEqual([
    ...['pending', 'pending', 'pending'],
    ...['waiting', 'waiting', 'pending'],
  ]);
  for (const task of [...same, ...mixed]) {
    const [row] = await store.find([task.id]);
    const { id, queue, priority, retriesMax, payload, key, serialKey } = task;
    expect(row).toMatchObject({ id, queue, priority, retriesMax, payload });
    expect([row!.key, row!.serialKey]).toEqual([key, serialKey]);
    expect(row!.deadlineAt! - Math.max(row!.runAt, row!.createdAt)).toBeGreaterThan(HOUR - 1_000);
  }
});

test('where one of many has a key that is in use, check sees it before any of them is there', async () => {
  const store = await scene.open();
  const [first] = await store.enqueue(keyed(['taken']));
  const batch = keyed([...numbered(100, 20), 'taken']);
  const refusing = store.enqueue(batch, (answers) => {
    if (answers.some(({ isNew }) => !isNew)) throw new Error('one is there');
  });
  await expect(refusing).rejects.toThrow('one is there');
  expect(await store.find(batch.map(({ id }) => id))).toEqual([]);

  const answers = await store.enqueue(batch);
  expect(answers.filter(({ isNew }) => isNew)).toHaveLength(20);
  expect(answers.at(-1)).toMatchObject({ id: first!.id, isNew: false });
});

test('two who give the same keys at once, each in its own order, give each of them once', async () => {
  const stores = [await scene.open(), await scene.open()];
  const keys = numbered(200, 400);
  for (let round = 0; round < 5; round += 1) {
    const named = keys.map((key) => `${round} ${key}`);
    const given = await Promise.all([
      stores[0]!.enqueue(keyed(named)),
      stores[1]!.enqueue(keyed([...named].reverse())),
    ]);
    const idsOf = (answers: readonly EnqueueAnswer[]) => answers.map(({ id }) => id);
    expect(idsOf(given[1]!).reverse()).toEqual(idsOf(given[0]!));
    expect(given.flat().filter(({ isNew }) => isNew)).toHaveLength(keys.length);
  }
});

test('whether a key is in use is asked key by key, whatever crowd there is', async () => {
  await scene.client.query(
    `insert into step_tracker (machine, key, payload)
     select 'sample/one', 'crowd ' || n, '{}' from generate_series(1, 6000) as n`,
  );
  const task = newTask({ key: 'nobody has it' });
  const isList = (index: number) => index === 0 || index === 8;
  const values = [[task.id], 'sample/one', 1, 'default', 0, 0, null, '{}', [task.key], HOUR];
  const text = `explain (analyze, format text) ${enqueueNewTasks(isList, true)}`;
  const { rows } = await scene.client.query(text, [...values, ...Array(6).fill(null)]);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('step_tracker_key');
  expect(plan).not.toContain('Seq Scan on step_tracker');
});

test('an id is well formed to the index where it is to everybody else', async () => {
  const uuid = '0189a5c4-1b2d-7e3f-8a9b-0c1d2e3f4a5b';
  const near = [newId(), uuid].flatMap((id) => [
    ...[
      id,
      id.toLowerCase(),
      id.toUpperCase(),
      `${id}\n`,
      ` ${id}`,
      id.slice(1),
      `8${id.slice(1)}`,
    ],
    ...[...'-ILOUilou_é%😀 '].flatMap((sign) =>
      [0, 1, 8, 13, 18, 25].map((at) => id.slice(0, at) + sign + id.slice(at + 1)),
    ),
  ]);
  const random = fc.sample(
    fc.oneof(
      fc.string({ minLength: 26, maxLength: 26, unit: fc.constantFrom(...'0789ABHIJKLZaf-') }),
      fc.string({ minLength: 36, maxLength: 36, unit: fc.constantFrom(...'0789abfgF-') }),
      fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !text.includes('\0')),
    ),
    { numRuns: 300, seed: 7 },
  );
  const asked = [...near, ...random, ''];
  const { rows } = await scene.client.query(
    `select ${isMalformed} as malformed
       from (select given collate "C" as task_id, place
               from unnest($1::text[]) with ordinality as list (given, place)) asked
      order by place`,
    [asked],
  );
  const pattern = new RegExp(TASK_ID_PATTERN);
  expect(rows.map((row) => row.malformed)).toEqual(asked.map((id) => !pattern.test(id)));
  expect(rows.filter((row) => !row.malformed).length).toBeGreaterThan(1);
});

/** What is committed late is told late, and not never: a transaction may take longer than a look. */
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { newTask } from './factories.ts';
import { usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
let store: Store;

beforeAll(async () => {
  store = await scene.open();
});

const look = (sinceMs: number, mark: string | undefined) =>
  store.watch({ followed: [], others: [], sinceMs, mark, countMax: 100 });

async function begun(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: scene.url });
  await client.connect();
  await client.query('begin');
  return client;
}

const insert = (client: pg.Client, id: string) =>
  client.query("insert into step_tracker (task_id, machine, version) values ($1, 'late', 1)", [id]);

test('a task that was inserted before a look and committed after it is told by the next', async () => {
  const { id } = newTask();
  const client = await begun();
  await insert(client, id);
  const first = await look(Date.now() + 60_000, undefined);
  await client.query('commit');
  // Whoever asks since a time after its own is told of it by the mark alone.
  expect((await look(first.nowMs + 60_000, undefined)).tasks).toEqual([]);
  const second = await look(first.nowMs + 60_000, first.mark);
  expect(second.tasks.map((task) => task.id)).toEqual([id]);
  expect((await look(first.nowMs + 60_000, second.mark)).tasks).toEqual([]);
  await client.end();
});

test('so is one of a transaction that had written nothing when it was looked', async () => {
  const { id } = newTask();
  const client = await begun();
  await client.query('select now()');
  const first = await look(Date.now() + 60_000, undefined);
  await insert(client, id);
  await client.query('commit');
  const second = await look(first.nowMs + 60_000, first.mark);
  expect(second.tasks.map((task) => task.id)).toEqual([id]);
  await client.end();
});

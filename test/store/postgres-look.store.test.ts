/** What a claim of many queues costs on Postgres: what it locks, and what it looks at. */
import { beforeEach, expect, test } from 'vitest';
import { PLANS } from '../../src/store/postgres/connection.ts';
import { claimTasks } from '../../src/store/postgres/step-tracker-claim.sql.ts';
import { explain } from './explained.ts';
import { ROUTE } from './factories.ts';
import { birthOf, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const TASKS = 6_000;
const COUNT = 64;
const values = [podOf('alder'), [ROUTE], 'journal', COUNT, '{}', [], 'token', 1_000, null, COUNT];
const text = claimTasks['skip-locked'].ready;

beforeEach(async () => {
  await emptyTables(scene.client, ['step_tracker', 'pod_health']);
  await (await scene.open()).register(birthOf('alder'));
});

/** As many tasks, one after the other in so many queues. */
async function fill(queues: number): Promise<void> {
  await scene.client.query(
    `insert into step_tracker (machine, payload, queue)
     select 'sample/one', '{}', 'queue-' || lpad((n % ${queues})::text, 5, '0')
       from generate_series(1, ${TASKS}) as n`,
  );
}

test.each([1, 7, 1_000])(
  'a claim locks what it takes and nothing else (%i queues)',
  async (queues) => {
    await fill(queues);
    await scene.client.query('analyze step_tracker');
    const other = await scene.connect();
    await scene.client.query('begin');
    try {
      expect((await scene.client.query(text, values)).rows).toHaveLength(COUNT);
      const { rows } = await other.query(
        `select task_id from step_tracker where status = 'pending' for update skip locked`,
      );
      expect(rows).toHaveLength(TASKS - COUNT);
    } finally {
      await scene.client.query('rollback');
    }
  },
);

test('a claim looks at no more than a few times as many rows, however many queues there are', async () => {
  const looked: number[] = [];
  for (const queues of [1, 30, 1_000]) {
    await emptyTables(scene.client, ['step_tracker']);
    // The statistics know of what has ended, and of nothing that is ready.
    await scene.client.query(
      `insert into step_tracker (machine, payload, status, outcome, result, finished_at)
       select 'sample/one', '{}', 'completed', 'completed', '1', now() from generate_series(1, 20000)`,
    );
    await scene.client.query('analyze step_tracker');
    await fill(queues);
    for (const statistics of ['select 1', 'analyze step_tracker']) {
      const { rows } = await explain(scene.client, 'step_tracker', { text, values }, statistics);
      looked.push(rows);
    }
  }
  expect(Math.max(...looked)).toBeLessThan(8 * COUNT);
});

test.each([
  ['nothing holds', 0, 'select 1'],
  ['a few holds', 20, 'vacuum analyze step_tracker'],
  // What is known to be empty may be read as a whole: see `KeptPlans`.
  ['nothing, as was known, is made anew', 0, 'vacuum analyze step_tracker', 'discard plans'],
])('a plan from when there was %s when there is much', async (...of) => {
  const [, count, statistics, renewal = 'select 1'] = of;
  const { client } = scene;
  const ended = (n: number) => `
    insert into step_tracker (machine, payload, status, outcome, result, finished_at)
    select 'sample/one', '{}', 'completed', 'completed', '1', now() from generate_series(1, ${n})`;
  const forgotten = `update pg_class set reltuples = -1, relpages = 0 where relname = 'step_tracker'`;
  await client.query(ended(count));
  await client.query(forgotten);
  await client.query(statistics);
  // As connections of a store have it.
  const ways = PLANS.map((way) => `set enable_${way} = off`);
  await client.query(['set plan_cache_mode = force_generic_plan', ...ways].join(';'));
  try {
    await client.query(`prepare look as ${text}`);
    const given = values.map((value) => (value === null ? 'null' : `'${asText(value)}'`));
    const execute = `execute look (${given.join()})`;
    await client.query(execute);
    await client.query(ended(20_000));
    await fill(1_000);
    await client.query(renewal);
    const { rows } = await explain(
      client,
      'step_tracker',
      { text: execute, values: [] },
      'select 1',
    );
    expect(rows).toBeLessThan(8 * COUNT);
  } finally {
    await client.query('deallocate all; reset all');
  }
});

function asText(value: unknown): string {
  return Array.isArray(value) ? `{${value.join()}}` : String(value);
}

test('two who claim at once from one queue both get all that they want', async () => {
  await fill(1);
  const other = await scene.connect();
  await scene.client.query('begin');
  const first = await scene.client.query(text, values);
  const second = await other.query(text, values);
  await scene.client.query('rollback');
  const ids = [...first.rows, ...second.rows].map(({ task_id: id }) => id as string);
  expect(new Set(ids).size).toBe(2 * COUNT);
});

/** How a reader of Postgres looks for tasks: by indexes, within its limits, and felt by nobody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVERYTHING, parseFilter } from '../../src/query/index.ts';
import { StoreBusyError, StoreOptionsError } from '../../src/store/errors.ts';
import * as statements from '../../src/store/postgres/reader.sql.ts';
import type { StoreReader } from '../../src/store/reader.ts';
import { type Question, questionOf } from '../../src/store/reading/question.ts';
import type { Store } from '../../src/store/store.ts';
import { explain } from './explained.ts';
import { ids, newTasks } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const CROWD = 20_000;
const alder = podOf('alder');
let store: Store;
let reader: StoreReader;

/** A second apart, the newest last. */
function crowd(prefix: string, columns: string, values: string) {
  return scene.client.query(
    `insert into step_tracker (task_id, machine, payload, created_at, ${columns})
     select '${prefix}' || lpad(n::text, 24, '0'), 'sample/one', '{}', now() - n * interval '1 s',
            ${values}
       from generate_series(1, ${CROWD}) as n`,
  );
}

beforeAll(async () => {
  store = await scene.open();
  reader = await store.openReader();
  await store.register(birthOf('alder'));
  // The statistics know none of what comes.
  await scene.client.query('analyze');
  await crowd('0A', 'status, finished_at, outcome', `'completed', now(), 'completed'`);
  await crowd('0B', 'status, finished_at, outcome, error', `'failed', now(), 'aborted', '{}'`);
  await crowd('0C', 'status, wait_for', `'waiting', 'sleep'`);
  await crowd('0D', 'status, claimed_by, claim_epoch', `'claimed', 'pod-birch', 1`);
  await crowd('0E', 'key', `'key-' || n`);
});
afterAll(() => reader.close());

function asked(text: string): Question {
  return questionOf({ filter: parseFilter(text), nowMs: Date.now(), liveRoutes: ['sample/one@9'] });
}

const FILTERS = [
  ...['', 'status:failed', 'status:failed,completed', 'is:unfinished', 'is:dead-letter'],
  ...['machine:sample/one status:completed', 'queue:nobody', '"no such text"', 'error:NOBODY'],
  ...['created:>1h created:<2h', 'created:>1h status:waiting', 'is:blocked', '-status:failed'],
];

describe.each(['select 1', 'analyze step_tracker'])('once somebody has said [%s]', (analyse) => {
  beforeAll(async () => {
    await scene.client.query(analyse);
  });

  test.each(FILTERS)('a slice of [%s] looks at its own rows and no others', async (text) => {
    const rowsMax = 500;
    // Halfway back, so that it counts where the walk begins.
    const { rows } = await scene.client.query(
      `select to_char(now() at time zone 'UTC' - interval '90 min', 'YYYY-MM-DD HH24:MI:SS.US') as at`,
    );
    const after = { at: rows[0].at as string, id: '' };
    const reach = { question: asked(text), after, rowsMax };
    const slice = statements.selectSlice(reach, 50);
    const found = await explain(scene.client, 'step_tracker', slice, statements.readOnly);
    expect(found.rows, `${text} ${found.nodes}`).toBeLessThan(rowsMax + 10 + 2 * 50);
    expect(found.nodes.join()).not.toMatch(/Seq Scan|Bitmap/);
    expect(found.sortedMax).toBeLessThanOrEqual(rowsMax);
    const tally = statements.selectTally(reach, { fromMs: 0, widthMs: 1e12 });
    const counted = await explain(scene.client, 'step_tracker', tally, statements.readOnly);
    expect(counted.rows, `${text} ${counted.nodes}`).toBeLessThan(rowsMax + 10);
    expect(counted.nodes.join()).not.toMatch(/Seq Scan|Bitmap/);
  });

  test('tasks of a key, of an id or its beginning, and of a pod are gathered by their indexes', async () => {
    const look = (text: string, values: readonly unknown[]) =>
      explain(scene.client, 'step_tracker', { text, values }, statements.readOnly);
    const id = `0A${'17'.padStart(24, '0')}`;
    const spans = [['0B00000000000000000000'], ['0B00000000000000000001']];
    const wanted = [
      await look(statements.gatherIds, [[id], ...spans, 101]),
      await look(statements.gatherHeld, [['pod-birch'], ['pod-b'], ['pod-c'], 101]),
      await look(statements.gatherKeys, [['sample/one'], ['key-1', 'key-2'], 101]),
      await look(statements.selectKeyMachines, [101]),
    ];
    for (const { rows, nodes } of wanted) {
      expect(rows, nodes.join()).toBeLessThan(350);
      expect(nodes.join()).not.toMatch(/Seq Scan|Bitmap/);
    }
    const among = statements.selectAmong([id], { question: asked(''), after: undefined }, 10);
    expect((await explain(scene.client, 'step_tracker', among, statements.readOnly)).rows).toBe(1);
  });
});

test('a page of the audit log looks at its own rows', async () => {
  await scene.client.query(
    `insert into audit_log (id, at, who, what, task_id)
     select 'r' || n, now() - n * interval '1 s', 'alice', 'cancel', 'task-' || n % 1000
       from generate_series(1, ${CROWD}) as n`,
  );
  for (const analyse of ['select 1', 'analyze audit_log']) {
    await scene.client.query(analyse);
    const values = [null, null, 'infinity', '', 100, 11];
    const look = (text: string, task: string | null) =>
      explain(scene.client, 'audit_log', { text, values: [...values, task] }, statements.readOnly);
    expect((await look(statements.selectAudit, null)).rows).toBeLessThan(130);
    expect((await look(statements.selectAuditOfTask, 'task-7')).rows).toBeLessThan(60);
  }
});

test('a word that is nowhere is looked for everywhere, and a rare one is found', async () => {
  const none = await reader.page({ filter: parseFilter('nowhere'), countMax: 5, budgetMs: 60_000 });
  expect(none).toEqual({ tasks: [], cursor: undefined, lookedBackTo: undefined });
  const rare = await reader.page({
    filter: parseFilter('key-19999'),
    countMax: 5,
    budgetMs: 60_000,
  });
  expect(ids(rare.tasks)).toEqual([`0E${'19999'.padStart(24, '0')}`]);
  const some = await reader.page({ filter: parseFilter('nowhere'), countMax: 5, budgetMs: 0 });
  expect(some).toMatchObject({ tasks: [], cursor: expect.any(String) });
  expect(some.lookedBackTo).toBeGreaterThan(Date.now() - CROWD * 1_000 - 600_000);
});

test('counting ends at its bound', async () => {
  const count = (text: string) =>
    reader.count({ filter: parseFilter(text), countMax: 1, budgetMs: 60_000 });
  expect(await count('status:failed')).toEqual({ count: 10_000, isExact: false });
  expect(await count('-"nowhere"')).toEqual({ count: 10_000, isExact: false });
  expect(await count('key:key-7')).toEqual({ count: 1, isExact: true });
});

test('a statement that takes too long is cut and told, and claims go on meanwhile', async () => {
  const hasty = await store.openReader({ statementMs: 400, connectionsMax: 1 });
  const locked = await scene.connect();
  await locked.query('begin; lock table audit_log in access exclusive mode');
  try {
    const asked = hasty.audit({ countMax: 1 }).catch((error: unknown) => error);
    await store.enqueue(newTasks(5));
    expect((await store.claim(claimRequest(alder, { countMax: 5 }))).length).toBe(5);
    const error = await asked;
    expect(error).toBeInstanceOf(StoreBusyError);
    expect(String((error as Error).message)).toMatch(/longer than 400 ms/);
  } finally {
    await locked.query('rollback');
  }
  // It is of use again.
  expect((await hasty.audit({ countMax: 1 })).rows).toHaveLength(1);
  await hasty.close();
});

test('a reader takes no more connections than it was given', async () => {
  const narrow = await store.openReader({ connectionsMax: 2 });
  const pages = Array.from({ length: 12 }, () => narrow.page({ filter: EVERYTHING, countMax: 3 }));
  await Promise.race(pages);
  const { rows } = await scene.client.query(
    `select count(*)::int as count from pg_stat_activity where application_name = 'fleetq-reader'`,
  );
  expect((await Promise.all(pages)).every(({ tasks }) => tasks.length === 3)).toBe(true);
  // The other reader of this file has two of its own.
  expect(rows[0].count).toBeLessThanOrEqual(4);
  expect(rows[0].count).toBeGreaterThan(0);
  await narrow.close();
});

test('a reader cannot write', async () => {
  await scene.client.query('begin');
  await scene.client.query(statements.readOnly);
  await expect(scene.client.query('delete from audit_log')).rejects.toThrow(/read-only/);
  await scene.client.query('rollback');
});

test('a reader reads where it is told to', async () => {
  const elsewhere = await scene.server.createDatabase();
  const away = await store.openReader({ url: elsewhere });
  await expect(away.page({ filter: EVERYTHING, countMax: 1 })).rejects.toThrow(
    /fleetq migrate|tables/,
  );
  await away.close();
  await expect(store.openReader({ url: 'sqlite:./x.db' })).rejects.toThrow(StoreOptionsError);
});

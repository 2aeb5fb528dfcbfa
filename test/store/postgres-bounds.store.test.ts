/**
 * Rows with which nobody can count, as they may be in a table that is older than the constraints: no
 * claim, settle, sweep or view fails for them, and what cannot be mended becomes a dead letter.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { TIME_MS_MAX } from '../../src/store/bounds.ts';
import { knownMigrations, migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import type { Store } from '../../src/store/store.ts';
import { runOn } from '../support/postgres.ts';
import { codeOf, completed, ids, MACHINE, newTask, newTasks, released } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const [alder, birch] = [podOf('alder'), podOf('birch')];
let store: Store;
/** The constraints as the migration says them, not validated. */
let constraints: readonly { readonly name: string; readonly text: string }[];

beforeAll(async () => {
  store = await scene.open();
  const found = await scene.client.query<{ name: string; text: string }>(`
    select conname as name, pg_get_constraintdef(oid) as text from pg_constraint
     where conname in ('times_are_countable', 'counts_are_bounded', 'epoch_is_exact')`);
  constraints = found.rows;
  expect(constraints).toHaveLength(3);
});

beforeEach(async () => {
  await emptyTables(scene.client, ['pod_health', 'step_tracker', 'run_events']);
  await scene.client.query('alter table step_tracker drop constraint if exists no_bad_claims');
  for (const name of ['alder', 'birch']) await store.register(birthOf(name));
});

/** As before the constraints were there. */
async function unconstrained(statement: string): Promise<void> {
  const { client } = scene;
  for (const { name } of constraints) {
    await client.query(`alter table step_tracker drop constraint ${name}`);
  }
  await client.query(statement);
  for (const { name, text } of constraints) {
    await client.query(`alter table step_tracker add constraint ${name} ${text}`);
  }
}

const UNCOUNTABLE = [
  ['an infinite deadline', 'deadline_at', `'infinity'`],
  ['an infinite time of its making', 'created_at', `'-infinity'`],
  ['the greatest epoch there is', 'claim_epoch', '9223372036854775807'],
  ['an epoch that is rounded', 'claim_epoch', '9007199254740994'],
  ['the most claims there are', 'claims', '2147483647'],
  ['the most retries there are', 'retry_count', '2147483647'],
  ['a key for ever', 'key, key_ms', `'k', 9223372036854775807`],
] as const;

test.each(UNCOUNTABLE)('a row with %s is mended, claimed and settled', async (_, column, value) => {
  await unconstrained(
    `insert into step_tracker (machine, priority, ${column}) values ('${MACHINE}', 9, ${value})`,
  );
  await store.enqueue(newTasks(2));
  const claims = await store.claim(claimRequest(alder));
  expect(claims).toHaveLength(3);
  for (const { epoch } of claims) expect(Number.isSafeInteger(epoch)).toBe(true);
  const settled = await store.settle(
    alder,
    claims.map((claim) => completed(claim)),
  );
  expect(settled.map(({ kind }) => kind)).toEqual(['stood', 'stood', 'stood']);
});

/** Makes it so in the last of the tasks that are there. */
const spoil = (column: string, value: string) =>
  unconstrained(`update step_tracker set (${column}) = row (${value})
    where task_id = (select max(task_id) from step_tracker)`);

test.each(UNCOUNTABLE)('a claimed row with %s stops neither sweep nor settle', async (...of) => {
  const [, column, value] = of;
  await store.enqueue(newTasks(3));
  expect(await store.claim(claimRequest(alder))).toHaveLength(3);
  await spoil(column, value);
  const held = await store.held(alder, '', 10);
  for (const { epoch } of held) expect(Number.isSafeInteger(epoch)).toBe(true);
  const [first, second, third] = held;
  const answers = await store.settle(alder, [completed(first!), completed(third!)]);
  expect(answers.map(({ kind }) => kind)).toEqual(['stood', 'stood']);
  await spoil(column.replace('key, ', ''), value.replace(`'k', `, ''));
  await store.settle(alder, [released(second!)]);
  expect(await store.claim(claimRequest(alder))).toHaveLength(1);
});

test.each(UNCOUNTABLE)('the sweep takes a row with %s, and those beside it', async (...of) => {
  const [, column, value] = of;
  await store.enqueue(newTasks(3));
  expect(await store.claim(claimRequest(alder))).toHaveLength(3);
  await spoil(column, value);
  await store.fence(alder, birch, 'proved');
  const how = { to: 'pool', countMax: 10, crashed: 'all', spreadMs: 0 } as const;
  expect(await store.take({ from: alder, by: birch, ...how })).toHaveLength(3);
  expect(await store.retire(alder)).toBe(true);
});

test.each(UNCOUNTABLE)('a hopeless row with %s is failed with the others', async (...of) => {
  const [, column, value] = of;
  const machine = 'sample/nobody';
  await store.enqueue([newTask({ machine }), newTask({ machine })]);
  await spoil(column, value);
  expect(await store.failHopeless(-1_000, 10)).toHaveLength(2);
});

test('a row that its table does not let anybody claim becomes a dead letter', async () => {
  await scene.client.query(`alter table step_tracker add constraint no_bad_claims
    check (claimed_by is null or payload <> '"bad"')`);
  await store.enqueue([newTask({ payload: '"bad"', priority: 9 }), ...newTasks(2)]);
  expect(await store.claim(claimRequest(alder))).toHaveLength(2);
  const [letter] = await store.list({ isDeadLetter: true, countMax: 10 });
  expect(letter).toMatchObject({ payload: '"bad"', outcome: 'aborted' });
  expect(codeOf(letter!.error)).toBe('FLEETQ_ROW_REFUSED');
});

test('a row that its table lets nobody claim nor fail is passed by', async () => {
  await scene.client.query(`alter table step_tracker add constraint no_bad_claims
    check (status = 'pending' or payload <> '"bad"')`);
  await store.enqueue([newTask({ payload: '"bad"', priority: 9 }), ...newTasks(2)]);
  expect(await store.claim(claimRequest(alder))).toHaveLength(2);
});

test('infinite times are shown as the last there are, by the store and by the views', async () => {
  await unconstrained(`insert into step_tracker (machine, run_at, deadline_at)
    values ('${MACHINE}', 'infinity', 'infinity'), ('${MACHINE}', '-infinity', null)`);
  const rows = await store.list({ countMax: 10 });
  expect(rows.map(({ runAt }) => runAt)).toContain(TIME_MS_MAX);
  for (const row of rows) expect(Number.isFinite(row.runAt)).toBe(true);
  const view = await scene.client.query('select tasks::int, oldest_waits_for from queue_now');
  expect(view.rows).toMatchObject([{ tasks: 2 }]);
});

test('the migration mends what is there, and refuses it from then on', async () => {
  const url = await scene.server.createDatabase();
  const known = knownMigrations();
  const before = known.findIndex(({ name }) => name.includes('bound_step_tracker'));
  await migratePostgresStore(url, options, known.slice(0, before));
  const inserts = UNCOUNTABLE.map(
    ([, column, value]) =>
      `insert into step_tracker (machine, ${column}) values ('${MACHINE}', ${value})`,
  );
  for (const insert of inserts) await runOn(url, insert);
  await migratePostgresStore(url, options, known);
  await runOn(url, `alter table step_tracker validate constraint times_are_countable`);
  await runOn(url, `alter table step_tracker validate constraint counts_are_bounded`);
  await runOn(url, `alter table step_tracker validate constraint epoch_is_exact`);
  for (const insert of inserts) await expect(runOn(url, insert)).rejects.toThrow(/constraint/);
});

test('payloads that no answer could carry do not keep the others from being claimed', async () => {
  const megabytes = JSON.stringify('x'.repeat(3_000_000));
  await store.enqueue([...newTasks(20, { payload: megabytes, priority: 9 }), ...newTasks(2)]);
  const brisk = await scene.open({ deadlineMs: 3_000 });
  const claims = await brisk.claim(claimRequest(alder, { payloadBytesMax: 1024 * 1024 }));
  expect(claims.filter(({ oversizeBytes }) => oversizeBytes === 3_000_002)).toHaveLength(20);
  expect(claims.filter(({ payload }) => payload === '{}')).toHaveLength(2);
  expect(ids(claims)).toHaveLength(22);
});

/** Migrations of Postgres: forward only, once, whoever else migrates, and never over something else. */
import { expect, test } from 'vitest';
import { hash } from '../../src/ground/index.ts';
import { StoreSchemaError } from '../../src/store/errors.ts';
import type { Migration } from '../../src/store/migrations.ts';
import {
  knownMigrations,
  migratePostgresStore,
  postgresStoreStatus,
} from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { runOn } from '../support/postgres.ts';
import { options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const known = knownMigrations();

async function tablesOf(url: string, schema = 'public'): Promise<string[]> {
  const text = `select table_name as name from information_schema.tables where table_schema = $1`;
  return (await runOn<{ name: string }>(url, text, [schema])).map(({ name }) => name).sort();
}

function migrationOf(version: number, sql: string): Migration {
  return { version, name: `${version}_test`, sql, checksum: hash(sql) };
}

test('an empty database gets every table and view, and remembers by which migrations', async () => {
  const url = await scene.server.createDatabase();
  expect(await postgresStoreStatus(url, options)).toEqual({ applied: [], pending: known });
  expect(await tablesOf(url)).toEqual([]);
  const { applied, pending } = await migratePostgresStore(url, options);
  expect(pending).toEqual([]);
  expect(applied).toEqual(
    known.map(({ version, name, checksum }) => ({ version, name, checksum })),
  );
  const tables = [
    'audit_log',
    'bulk_operation',
    'machine_registry',
    'pod_health',
    'queue_limits',
    'run_events',
    'schedule',
  ];
  const views = ['dead_letters', 'queue_now', 'stuck_tasks'];
  const expected = [
    ...tables,
    'archive_sink',
    'leader_terms',
    'machine_pauses',
    'schema_version',
    'signals',
    'step_tracker',
    'throttle_state',
    ...views,
  ];
  expect(await tablesOf(url)).toEqual(expected.sort());
  for (const view of views) expect(await runOn(url, `select * from ${view}`)).toEqual([]);
  expect(await migratePostgresStore(url, options)).toEqual({ applied, pending: [], made: [] });
});

test('several that migrate at once give one result, and none of them fails', async () => {
  for (let round = 0; round < 8; round += 1) {
    const url = await scene.server.createDatabase();
    const opened = await Promise.all(
      Array.from({ length: 6 }, () => openPostgresStore(url, { ...options, migrates: true })),
    );
    await Promise.all(opened.map((store) => store.close()));
    const rows = await runOn<{ version: number }>(url, 'select version from schema_version');
    expect(rows.map(({ version }) => version).sort((one, other) => one - other)).toEqual(
      known.map(({ version }) => version),
    );
  }
});

test('a database without tables is refused, with the command that makes them', async () => {
  const url = await scene.server.createDatabase();
  const opening = openPostgresStore(url, options);
  await expect(opening).rejects.toThrow(StoreSchemaError);
  await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining('migrate up') });
});

test('a schema that is newer than this program is refused, and not touched', async () => {
  const url = await scene.server.createDatabase();
  await migratePostgresStore(url, options);
  await runOn(url, `insert into schema_version values (${known.length + 1}, 'later', 'x')`);
  for (const migrates of [false, true]) {
    const opening = openPostgresStore(url, { ...options, migrates });
    await expect(opening).rejects.toThrow(StoreSchemaError);
    await expect(opening).rejects.toThrow(`up to ${known.length}`);
  }
  await expect(postgresStoreStatus(url, options)).rejects.toThrow(StoreSchemaError);
});

test('a migration that was edited after it was applied is refused', async () => {
  const url = await scene.server.createDatabase();
  await migratePostgresStore(url, options);
  await runOn(url, `update schema_version set checksum = 'other' where version = 3`);
  await expect(openPostgresStore(url, options)).rejects.toThrow(/0003_index_step_tracker/);
  await expect(migratePostgresStore(url, options)).rejects.toThrow(StoreSchemaError);
});

test('a migration that fails leaves nothing behind, and those before it stand', async () => {
  const url = await scene.server.createDatabase();
  const bad = migrationOf(known.length + 1, 'create table half (a int); select 1 / 0');
  await expect(migratePostgresStore(url, options, [...known, bad])).rejects.toThrow(/zero/);
  expect(await tablesOf(url)).not.toContain('half');
  expect((await postgresStoreStatus(url, options)).applied).toHaveLength(known.length);
  const good = migrationOf(known.length + 1, 'create table whole (a int)');
  await migratePostgresStore(url, options, [...known, good]);
  expect(await tablesOf(url)).toContain('whole');
});

test('an address may name a schema, and two schemas are two fleets', async () => {
  const url = await scene.server.createDatabase();
  const open = (schema: string) =>
    openPostgresStore(`${url}?schema=${schema}`, { ...options, migrates: true });
  const [one, two] = [await open('one'), await open('two')];
  await one.announce([{ route: 'a@1', fingerprint: 'f', shape: 's' }]);
  expect(await tablesOf(url)).toEqual([]);
  expect(await tablesOf(url, 'two')).toContain('step_tracker');
  expect(await runOn(url, 'select * from one.machine_registry')).toHaveLength(1);
  expect(await runOn(url, 'select * from two.machine_registry')).toEqual([]);
  await Promise.all([one.close(), two.close()]);
});

const pgBouncer = findPgBouncer();
test.skipIf(pgBouncer === undefined)('migrating works through a pooler too', async () => {
  const url = await scene.server.createDatabase();
  await scene.client.query(`create role fleetq_pooled superuser login`);
  await scene.client.query(`alter role fleetq_pooled set statement_timeout = '5s'`);
  const pooler = await startPgBouncer(pgBouncer!, scene.server);
  const address = `${pooler.through(url).replace(/\/\/[^@]*@/, '//fleetq_pooled@')}?pooled=true`;
  try {
    await Promise.all([
      migratePostgresStore(address, options),
      migratePostgresStore(address, options),
    ]);
    expect((await postgresStoreStatus(url, options)).applied).toHaveLength(known.length);
  } finally {
    await pooler.stop();
  }
});

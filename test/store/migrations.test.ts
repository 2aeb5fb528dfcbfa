/** Which migrations a database lacks, and when none may be applied to it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StoreSchemaError } from '../../src/store/errors.ts';
import {
  migrationsDirectory,
  notMigrated,
  planMigrations,
  readMigrations,
} from '../../src/store/migrations.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();

function directoryOf(files: Readonly<Record<string, string>>): string {
  const directory = newDir();
  mkdirSync(directory);
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql);
  return directory;
}

const THREE = {
  '0001_create_tables.sql': 'create table a (b);\n',
  '0002_add_column.sql': 'alter table a add column c;\n',
  '0003_add_index.sql': 'create index a_c on a (c);\n',
};
const known = () => readMigrations(directoryOf(THREE));

test('migrations are read in order, each with its number, name and checksum', () => {
  const migrations = known();
  expect(migrations.map(({ version, name }) => [version, name])).toEqual([
    [1, '0001_create_tables'],
    [2, '0002_add_column'],
    [3, '0003_add_index'],
  ]);
  expect(migrations[0]!.sql).toBe('create table a (b);\n');
  expect(new Set(migrations.map(({ checksum }) => checksum)).size).toBe(3);
  expect(readMigrations(migrationsDirectory('sqlite'))[0]).toMatchObject({ version: 1 });
});

test('line ends make no other migration', () => {
  const [turned] = readMigrations(
    directoryOf({ '0001_create_tables.sql': 'create table a (b);\r\n' }),
  );
  expect(turned).toEqual(known()[0]);
});

test('a gap, a number used twice and a strange name are defects, said at once', () => {
  const sql = 'select 1;';
  const read = (...names: string[]) =>
    readMigrations(directoryOf(Object.fromEntries(names.map((name) => [name, sql]))));
  expect(() => read('0001_a.sql', '0003_b.sql')).toThrow(/0003_b is not number 2/);
  expect(() => read('0001_a.sql', '0001_b.sql')).toThrow(/0001_b is not number 2/);
  expect(() => read('first.sql')).toThrow(/NNNN_verb_noun/);
});

test('what is pending is what comes after the last that was applied', () => {
  const migrations = known();
  for (const count of [0, 1, 2, 3]) {
    const applied = migrations.slice(0, count).reverse();
    expect(planMigrations(applied, migrations)).toEqual(migrations.slice(count));
  }
});

test('a schema that is newer than this program is refused', () => {
  const migrations = known();
  const plan = planMigrations(migrations, migrations.slice(0, 2));
  expect(plan).toBeInstanceOf(StoreSchemaError);
  expect((plan as StoreSchemaError).message).toMatch(/version 3.*up to 2/);
});

test('a migration that was applied with other content is refused', () => {
  const migrations = known();
  const applied = [migrations[0]!, { ...migrations[1]!, checksum: 'other' }];
  const plan = planMigrations(applied, migrations);
  expect(plan).toBeInstanceOf(StoreSchemaError);
  expect((plan as StoreSchemaError).message).toMatch(/0002_add_column/);
});

test('a hole in what was applied is refused', () => {
  const migrations = known();
  const plan = planMigrations([migrations[0]!, migrations[2]!], migrations);
  expect(plan).toBeInstanceOf(StoreSchemaError);
  expect((plan as StoreSchemaError).message).toMatch(/migration 2 was never applied/);
});

test('a database that is not migrated says what it lacks and what to do', () => {
  const migrations = known();
  expect(notMigrated(migrations, 'store.db').message).toMatch(/no tables of FleetQ/);
  const behind = notMigrated(migrations.slice(1), 'store.db');
  expect(behind.message).toMatch(/lacks 0002_add_column, 0003_add_index/);
  expect(behind.hint).toMatch(/fleetq migrate/);
});

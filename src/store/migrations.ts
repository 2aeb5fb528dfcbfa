/**
 * What every SQL store shares about its schema: the migration files of a dialect, and which of them
 * a database still lacks. Files are numbered without gaps and never edited once landed, so a schema
 * is known by the numbers and checksums that were applied to it. How they are applied, and what keeps
 * two processes from doing it at once, is each store's own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, hash } from '../ground/index.ts';
import { StoreSchemaError } from './errors.ts';

export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** '0001_create_tables'. */
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration as the database remembers it. */
export type AppliedMigration = Pick<Migration, 'version' | 'name' | 'checksum'>;

/** What `fleetq migrate` shows. */
export interface MigrationStatus {
  readonly applied: readonly AppliedMigration[];
  readonly pending: readonly Migration[];
}

/** The same, after migrating: `made` is what this process applied, and nobody else. */
export interface Migrated extends MigrationStatus {
  readonly made: readonly Migration[];
}

const NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** A directory of migrations; an account that has no hybrid tables has other ones. */
export type Dialect =
  | 'postgres'
  | 'sqlite'
  | 'snowflake/hybrid'
  | 'snowflake/standard'
  | 'snowflake/sink';

/** Where the migrations of a dialect are, in the tree and in the package. */
export function migrationsDirectory(dialect: Dialect): string {
  return fileURLToPath(new URL(`../../migrations/${dialect}/`, import.meta.url));
}

/** The migrations in `directory`, in order. */
export function readMigrations(directory: string): Migration[] {
  const migrations = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const number = NAME.exec(file)?.[1];
      assert(number !== undefined, `the migration ${file} is not named NNNN_verb_noun.sql`);
      // A checkout that turns line ends does not make another schema.
      const sql = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n');
      return {
        version: Number(number),
        name: file.slice(0, -'.sql'.length),
        sql,
        checksum: hash(sql),
      };
    });
  migrations.forEach(({ version, name }, index) => {
    assert(version === index + 1, `the migration ${name} is not number ${index + 1}`);
  });
  return migrations;
}

/**
 * What is to be applied, in order, to a database that has `applied`; or why nothing may be: it is
 * newer than this program, or was made by other migrations than these.
 */
export function planMigrations(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly Migration[] | StoreSchemaError {
  const done = [...applied].sort((one, other) => one.version - other.version);
  const newest = done.at(-1)?.version ?? 0;
  if (newest > known.length) {
    return new StoreSchemaError(
      `the schema has version ${newest}; this FleetQ knows versions up to ${known.length}`,
      { hint: 'start the newer FleetQ that migrated it; an older one could misread it' },
    );
  }
  for (const [index, { version, name, checksum }] of done.entries()) {
    const migration = known[index];
    if (version !== index + 1 || migration === undefined) {
      return new StoreSchemaError(
        `the schema has version ${newest}, but migration ${index + 1} was never applied to it`,
        { hint: 'restore schema_version from a backup: rows of it have been removed' },
      );
    }
    if (checksum !== migration.checksum) {
      return new StoreSchemaError(
        `migration ${name} was applied with other content than this FleetQ has (${migration.name})`,
        { hint: 'use the FleetQ that migrated this database, or a database of its own' },
      );
    }
  }
  return known.slice(done.length);
}

/** What a store says that was opened without being asked to migrate. */
export function notMigrated(pending: readonly Migration[], place: string): StoreSchemaError {
  const names = pending.map((migration) => migration.name).join(', ');
  const isEmpty = pending[0]?.version === 1;
  return new StoreSchemaError(
    isEmpty ? `${place} has no tables of FleetQ yet` : `${place} lacks ${names}`,
    { hint: 'run: fleetq migrate up' },
  );
}

/** Statements on schema_version, which remembers what was done to the tables. */
import { sql } from './sql.ts';

/** Before any migration, so that there is something to lock. */
export const createSchemaVersion = sql`
  create table if not exists schema_version (
    version    integer primary key,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default clock_timestamp())`;

/** A name that was checked when the address was read; names cannot be bound. */
export function createSchema(name: string): string {
  return sql`create schema if not exists "${name}"`;
}

export const selectHasVersions = sql`select to_regclass('schema_version') is not null as is_there`;

/** One migrates, the others wait and find it done. Reading goes on. */
export const lockSchemaVersion = sql`lock table schema_version in exclusive mode`;

export const selectVersions = sql`
  select version, name, checksum from schema_version order by version`;

/** $1 version, $2 name, $3 checksum. */
export const insertVersion = sql`
  insert into schema_version (version, name, checksum) values ($1, $2, $3)`;

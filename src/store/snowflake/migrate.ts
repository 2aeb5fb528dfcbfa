/**
 * Brings the tables up to date, forward only. Statements that make tables commit by themselves here, so
 * each is one that may be sent again; a process that dies half way leaves the rest to the next, and of
 * several at once each finds what the others have made.
 */
import { StoreOptionsError, StoreSchemaError } from '../errors.ts';
import {
  type AppliedMigration,
  type Migrated,
  type Migration,
  type MigrationStatus,
  migrationsDirectory,
  notMigrated,
  planMigrations,
  readMigrations,
} from '../migrations.ts';
import type { Run } from './sessions.ts';
import { sql } from './sql.ts';

/** Hybrid tables lock rows and keep keys; standard ones lock themselves, and are everywhere. */
export type TableKind = 'hybrid' | 'standard';

const createVersions = sql`create table if not exists schema_version (
  version number(9,0) not null, name varchar not null, checksum varchar not null,
  table_kind varchar(12) not null)`;

const selectVersions = sql`select v.version, v.name, v.checksum, v.table_kind
  from schema_version v order by v.version`;

/** ? version, ? name, ? checksum, ? kind: once, however many migrate. */
const insertVersion = sql`
  merge into schema_version using (select ?::number(9,0) as version, ?::varchar as name,
      ?::varchar as checksum, ?::varchar as table_kind) s on schema_version.version = s.version
  when not matched then insert (version, name, checksum, table_kind)
    values (s.version, s.name, s.checksum, s.table_kind)`;

export function knownMigrations(kind: TableKind): readonly Migration[] {
  return readMigrations(migrationsDirectory(`snowflake/${kind}`));
}

interface Versions {
  readonly applied: readonly AppliedMigration[];
  /** Undefined where there is nothing yet. */
  readonly kind: TableKind | undefined;
}

export async function readVersions(run: Run): Promise<Versions> {
  try {
    const { rows } = await run(selectVersions);
    const applied = rows.map((row) => ({
      version: Number(row['version']),
      name: String(row['name']),
      checksum: String(row['checksum']),
    }));
    return { applied, kind: rows[0]?.['table_kind'] as TableKind | undefined };
  } catch (error) {
    if (!(error instanceof StoreSchemaError)) throw error;
    return { applied: [], kind: undefined };
  }
}

/** `wanted` undefined: hybrid where the account has them. */
export async function migrateUp(run: Run, wanted: TableKind | undefined): Promise<Migrated> {
  const before = await readVersions(run);
  if (wanted !== undefined && before.kind !== undefined && before.kind !== wanted) {
    throw new StoreOptionsError(
      `the tables are ${before.kind} ones, and ${wanted} ones are asked for`,
      { hint: 'leave tables= out of the address, or use another schema' },
    );
  }
  const kind = before.kind ?? wanted ?? (await probeKind(run));
  const known = knownMigrations(kind);
  await run(createVersions);
  const made: Migration[] = [];
  for (const migration of pendingOf(before.applied, known)) {
    for (const statement of statementsIn(migration.sql)) await run(statement);
    const { version, name, checksum } = migration;
    const { count } = await run(insertVersion, [version, name, checksum, kind]);
    if (count > 0) made.push(migration);
  }
  const { applied } = await readVersions(run);
  return { applied, pending: pendingOf(applied, known), made };
}

export async function readStatus(run: Run, wanted: TableKind = 'hybrid'): Promise<MigrationStatus> {
  const { applied, kind } = await readVersions(run);
  return { applied, pending: pendingOf(applied, knownMigrations(kind ?? wanted)) };
}

export async function refuseUnmigrated(run: Run): Promise<void> {
  const { pending } = await readStatus(run);
  if (pending.length > 0) throw notMigrated(pending, 'the schema');
}

const PROBE = 'fleetq_probe_hybrid';

/** The account itself says whether it has hybrid tables: there is nothing else to ask. */
export async function probeKind(run: Run): Promise<TableKind> {
  try {
    await run(
      `create hybrid table if not exists ${PROBE} (id number(9,0) not null, primary key (id))`,
    );
    await run(`drop table if exists ${PROBE}`);
    return 'hybrid';
  } catch (error) {
    if (error instanceof StoreOptionsError) return 'standard';
    throw error;
  }
}

function pendingOf(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly Migration[] {
  const plan = planMigrations(applied, known);
  if (plan instanceof Error) throw plan;
  return plan;
}

/** One at a time is what an account takes. */
export function statementsIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

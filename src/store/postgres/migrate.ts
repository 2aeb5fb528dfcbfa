/**
 * Brings the tables up to date, forward only. Each migration and its line in schema_version are one
 * transaction under a lock on that table: a process that dies leaves it undone, and of several that
 * migrate at once each finds what the others have done.
 */
import { StoreRefusedError } from '../errors.ts';
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
import type { FilledStoreOptions } from '../options.ts';
import { sqlStateOf } from './driver-errors.ts';
import { readPostgresWay } from './options.ts';
import { Pool, type Row, type Send } from './pool.ts';
import * as statements from './schema-version.sql.ts';

/** An index on a large table takes its time. */
const LIMITS = { deadlineMs: 1_800_000, serverMs: 1_790_000 } as const;
const CREATE_ATTEMPTS = 5;

export function knownMigrations(): readonly Migration[] {
  return readMigrations(migrationsDirectory('postgres'));
}

/** Applies what is pending. Of several processes at once each answers the same but for `made`. */
export function migratePostgresStore(
  address: string,
  options: FilledStoreOptions,
  known: readonly Migration[] = knownMigrations(),
): Promise<Migrated> {
  return withPool(address, options, async (pool) => {
    const made = await migrateUp(pool, known);
    return { ...(await readStatus(pool, known)), made };
  });
}

/** What has been applied and what is pending; changes nothing. */
export function postgresStoreStatus(
  address: string,
  options: FilledStoreOptions,
  known: readonly Migration[] = knownMigrations(),
): Promise<MigrationStatus> {
  return withPool(address, options, (pool) => readStatus(pool, known));
}

async function withPool<Answer>(
  address: string,
  { clock, random, ...options }: FilledStoreOptions,
  act: (pool: Pool) => Promise<Answer>,
): Promise<Answer> {
  const way = readPostgresWay(address, { clock, random, ...options });
  const pool = new Pool(way, clock, random);
  try {
    return await act(pool);
  } finally {
    await pool.close();
  }
}

export async function migrateUp(
  pool: Pool,
  known: readonly Migration[] = knownMigrations(),
): Promise<readonly Migration[]> {
  const made: Migration[] = [];
  if ((await readStatus(pool, known)).pending.length === 0) return made;
  await createSchemaVersion(pool);
  // One more than there are: the last round finds nothing to do.
  for (let round = 0; round <= known.length; round += 1) {
    const next = await pool.transaction((send) => applyNext(send, known), LIMITS);
    if (!next) break;
    made.push(next);
  }
  return made;
}

async function applyNext(send: Send, known: readonly Migration[]): Promise<Migration | undefined> {
  await send(statements.lockSchemaVersion);
  const [next] = pendingOf(await send(statements.selectVersions), known);
  if (!next) return undefined;
  await send(next.sql);
  await send(statements.insertVersion, [next.version, next.name, next.checksum]);
  return next;
}

/** Two that create one table at once collide in the catalogue; then one of them looks again. */
async function createSchemaVersion(pool: Pool): Promise<void> {
  const { schema } = pool.way;
  for (let attempts = 1; ; attempts += 1) {
    try {
      if (schema !== undefined) await pool.query(statements.createSchema(schema));
      await pool.query(statements.createSchemaVersion);
      return;
    } catch (error) {
      if (!isCollision(error) || attempts >= CREATE_ATTEMPTS) throw error;
    }
  }
}

function isCollision(error: unknown): boolean {
  return (
    error instanceof StoreRefusedError &&
    /^(23505|42710|42P0[67])$/.test(sqlStateOf(error.cause) ?? '')
  );
}

export async function readStatus(
  pool: Pool,
  known: readonly Migration[] = knownMigrations(),
): Promise<MigrationStatus> {
  const [row] = await pool.query(statements.selectHasVersions);
  const rows = row?.['is_there'] ? await pool.query(statements.selectVersions) : [];
  return { applied: rows.map(appliedOf), pending: pendingOf(rows, known) };
}

/** Refuses tables that are not those this program knows. */
export async function refuseUnmigrated(pool: Pool): Promise<void> {
  const { pending } = await readStatus(pool);
  if (pending.length > 0) throw notMigrated(pending, 'the database');
}

function pendingOf(rows: readonly Row[], known: readonly Migration[]): readonly Migration[] {
  const plan = planMigrations(rows.map(appliedOf), known);
  if (plan instanceof Error) throw plan;
  return plan;
}

function appliedOf(row: Row): AppliedMigration {
  return {
    version: row['version'] as number,
    name: row['name'] as string,
    checksum: row['checksum'] as string,
  };
}

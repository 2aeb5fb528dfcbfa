/**
 * The schema of the shared file: which migrations it has, applying the others, and refusing a file
 * that is foreign, damaged or newer. All pending migrations are one transaction under the file's lock,
 * so of processes that migrate at once one does it and the others find it done.
 */
import { openDatabase } from '../../ground/index.ts';
import { StoreSchemaError } from '../errors.ts';
import {
  type AppliedMigration,
  type Migration,
  type MigrationStatus,
  migrationsDirectory,
  notMigrated,
  planMigrations,
  readMigrations,
} from '../migrations.ts';
import type { Connection } from './connection.ts';
import { insertApplied, selectApplied, selectObjects } from './schema.sql.ts';
import { beginRead, beginWrite, commit, rollback } from './session.sql.ts';

/** Marks the file as ours, 'FLTS'; a journal has another mark. */
const APPLICATION_ID = 0x464c5453;

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

let known: readonly Migration[] | undefined;
export function knownMigrations(): readonly Migration[] {
  known ??= readMigrations(migrationsDirectory('sqlite'));
  return known;
}

/** What has been applied and what has not; throws where the file is not one we may touch. */
export function readStatus(connection: Connection): MigrationStatus {
  return within(connection, beginRead, () => statusOf(connection));
}

/** Throws where the file is not one we may touch. */
export function refuseForeign(connection: Connection): void {
  readStatus(connection);
}

/** Larger files are not read through, it would take too long; their damage is noticed where it is met. */
const CHECKED_BYTES_MAX = 4 * 1024 * 1024;

export function refuseDamaged(connection: Connection): void {
  const ask = (pragma: string) => connection.pragma(pragma, { simple: true }) as number;
  if (ask('page_count') * ask('page_size') > CHECKED_BYTES_MAX) return;
  const [found] = connection.pragma('quick_check(1)') as { quick_check: string }[];
  if (found === undefined || found.quick_check === 'ok') return;
  throw new StoreSchemaError(`${connection.name} is damaged: ${found.quick_check}`, {
    hint: 'stop every process that uses it, keep a copy, and restore it from a backup',
  });
}

/** Applies what is pending, all or nothing. Answers what it applied. */
export function migrateUp(connection: Connection): readonly Migration[] {
  if (readStatus(connection).pending.length === 0) return [];
  return within(connection, beginWrite, () => {
    const { pending } = statusOf(connection);
    for (const migration of pending) {
      const { version, name, checksum } = migration;
      apply(connection, migration);
      connection.prepare(insertApplied).run({ version, name, checksum });
    }
    if (pending.length > 0) connection.pragma(`application_id = ${APPLICATION_ID}`);
    return pending;
  });
}

/** A migration may rewrite what the schema says of a table, which is forbidden otherwise. */
function apply(connection: Connection, { sql }: Migration): void {
  connection.unsafeMode(true);
  try {
    connection.exec(sql);
  } finally {
    connection.unsafeMode(false);
  }
}

/** Refuses a file that lacks migrations, or whose tables are not those that migrations make. */
export function refuseUnmigrated(connection: Connection): void {
  const { pending } = readStatus(connection);
  if (pending.length > 0) throw notMigrated(pending, connection.name);
  const found = new Map(objectsOf(connection).map((object) => [nameOf(object), object.sql]));
  for (const object of wantedObjects()) {
    if (found.get(nameOf(object)) === object.sql) continue;
    throw new StoreSchemaError(
      `${connection.name}: the ${nameOf(object)} is not as FleetQ made it, or is missing`,
      { hint: 'restore the file from a backup, or export what is in it into a new one' },
    );
  }
}

function statusOf(connection: Connection): MigrationStatus {
  const mark = connection.pragma('application_id', { simple: true });
  const objects = objectsOf(connection);
  if (mark !== APPLICATION_ID && !(mark === 0 && objects.length === 0)) {
    throw new StoreSchemaError(`${connection.name} is a SQLite file, but not a store of FleetQ`, {
      hint: 'name another file: what is in this one belongs to something else',
    });
  }
  const applied = mark === 0 ? [] : appliedTo(connection);
  const plan = planMigrations(applied, knownMigrations());
  if (plan instanceof StoreSchemaError) throw plan;
  return { applied, pending: plan };
}

function appliedTo(connection: Connection): readonly AppliedMigration[] {
  const applied = connection.prepare(selectApplied).all() as AppliedMigration[];
  if (applied.length > 0) return applied;
  throw new StoreSchemaError(`${connection.name} has tables, but no version of them`, {
    hint: 'restore schema_version from a backup: rows of it have been removed',
  });
}

function objectsOf(connection: Connection): SchemaObject[] {
  return connection.prepare(selectObjects).all() as SchemaObject[];
}

function nameOf({ type, name }: SchemaObject): string {
  return `${type} ${name}`;
}

let wanted: readonly SchemaObject[] | undefined;
/** What the migrations make of an empty file. More may be there: people add indexes of their own. */
function wantedObjects(): readonly SchemaObject[] {
  if (wanted) return wanted;
  const memory = openDatabase(':memory:');
  try {
    for (const migration of knownMigrations()) apply(memory, migration);
    wanted = objectsOf(memory);
    return wanted;
  } finally {
    memory.close();
  }
}

function within<T>(connection: Connection, begin: string, act: () => T): T {
  connection.exec(begin);
  try {
    const answer = act();
    connection.exec(commit);
    return answer;
  } finally {
    if (connection.inTransaction) connection.exec(rollback);
  }
}

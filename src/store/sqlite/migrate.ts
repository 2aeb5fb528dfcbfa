/** The way to the shared file, and the command that shows and changes how far its schema has come. */
import { existsSync } from 'node:fs';
import { type Migrated, type Migration, type MigrationStatus, notMigrated } from '../migrations.ts';
import type { FilledStoreOptions } from '../options.ts';
import { type Connection, openConnection, openToRead } from './connection.ts';
import { inspectPlace, keepPrivate, makePlace, type Place, placeOf } from './place.ts';
import { knownMigrations, migrateUp, readStatus, refuseDamaged, refuseForeign } from './schema.ts';
import { unlessBusy } from './session.ts';

export type SqliteOptions = Pick<FilledStoreOptions, 'clock' | 'random' | 'migrates'>;

/** Applies what is pending. Of several processes at once one does it, and says so by `made`. */
export async function migrateSqliteStore(path: string, options: SqliteOptions): Promise<Migrated> {
  const place = placeOf(path);
  const made: Migration[] = [];
  const connection = await connect(place, { ...options, migrates: true }, made);
  try {
    const status = await unlessBusy(place.file, options, () => readStatus(connection));
    return { ...status, made };
  } finally {
    connection.close();
  }
}

/** What has been applied and what is pending; makes nothing. */
export async function sqliteStoreStatus(
  path: string,
  options: SqliteOptions,
): Promise<MigrationStatus> {
  const place = placeOf(path);
  inspectPlace(place);
  if (!existsSync(place.file)) return { applied: [], pending: knownMigrations() };
  return unlessBusy(place.file, options, () => {
    const connection = openToRead(place.file);
    try {
      return readStatus(connection);
    } finally {
      connection.close();
    }
  });
}

/**
 * Makes the file where it may; otherwise that is left to `fleetq migrate`. A file that is there is
 * looked at before anything about it is changed: it may be somebody else's. `made` is added to.
 */
export async function connect(
  place: Place,
  options: SqliteOptions,
  made: Migration[] = [],
): Promise<Connection> {
  inspectPlace(place);
  if (!existsSync(place.file)) {
    if (!options.migrates) throw notMigrated(knownMigrations(), place.file);
    makePlace(place);
  }
  const open = () => openConnection(place.file, refuseForeign);
  const connection = await unlessBusy(place.file, options, open);
  try {
    keepPrivate(place);
    await unlessBusy(place.file, options, () => refuseDamaged(connection));
    if (options.migrates) {
      made.push(...(await unlessBusy(place.file, options, () => migrateUp(connection))));
    }
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens the store that an address of an account names. */

import { StoreSchemaError } from '../errors.ts';
import type { Migrated, MigrationStatus } from '../migrations.ts';
import type { FilledStoreOptions } from '../options.ts';
import { openerOf } from './driver.ts';
import type { OpenSession } from './executor.ts';
import { migrateUp, readStatus, readVersions, type TableKind } from './migrate.ts';
import { readSnowflakeWay, type SnowflakeWay } from './options.ts';
import { type Run, type SessionLimits, Sessions } from './sessions.ts';
import { SnowflakeStore } from './snowflake-store.ts';

export async function openSnowflakeStore(
  address: string,
  options: FilledStoreOptions,
): Promise<SnowflakeStore> {
  const way = readSnowflakeWay(address, options);
  const { deadlineMs, sessionCountMax: countMax, tables } = way;
  return openOver(await openerOf(way), { deadlineMs, countMax }, options, tables);
}

/** Applies what is pending. Of several processes at once each answers the same but for `made`. */
export function migrateSnowflakeStore(
  address: string,
  options: FilledStoreOptions,
): Promise<Migrated> {
  return withRun(address, { ...options, deadlineMs: MIGRATION_MS }, (run, { tables }) =>
    migrateUp(run, tables),
  );
}

/** What has been applied and what is pending; changes nothing. */
export function snowflakeStoreStatus(
  address: string,
  options: FilledStoreOptions,
): Promise<MigrationStatus> {
  return withRun(address, options, (run, { tables }) => readStatus(run, tables));
}

/** An index on a large table takes its time. */
const MIGRATION_MS = 1_800_000;

/** One session, for what needs no store. */
export async function withRun<Result>(
  address: string,
  options: FilledStoreOptions,
  act: (run: Run, way: SnowflakeWay) => Promise<Result>,
): Promise<Result> {
  const way = readSnowflakeWay(address, options);
  const limits = { deadlineMs: way.deadlineMs, countMax: 1 };
  const sessions = new Sessions(await openerOf(way), limits, options.clock, options.random);
  try {
    return await sessions.use(({ run }) => act(run, way));
  } finally {
    await sessions.close();
  }
}

/** The same over sessions that come from elsewhere. */
export async function openOver(
  open: OpenSession,
  limits: SessionLimits,
  { clock, random, migrates }: FilledStoreOptions,
  tables?: TableKind,
): Promise<SnowflakeStore> {
  const sessionsOf = (given: SessionLimits) => new Sessions(open, given, clock, random);
  const sessions = sessionsOf(limits);
  try {
    const kind = await sessions.use(async ({ run }) => {
      if (migrates) await migrateUp(run, tables);
      return (await readVersions(run)).kind;
    });
    if (kind === undefined) {
      throw new StoreSchemaError('the schema has no tables of FleetQ yet', {
        hint: 'run: fleetq migrate up',
      });
    }
    return new SnowflakeStore({ kind, sessions, readers: sessionsOf });
  } catch (error) {
    await sessions.close();
    throw error;
  }
}

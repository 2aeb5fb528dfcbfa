/** Opens the store that an address of an account names. */

import { StoreSchemaError } from '../errors.ts';
import type { FilledStoreOptions } from '../options.ts';
import { openerOf } from './driver.ts';
import type { OpenSession } from './executor.ts';
import { migrateUp, readVersions, type TableKind } from './migrate.ts';
import { readSnowflakeWay } from './options.ts';
import { type SessionLimits, Sessions } from './sessions.ts';
import { SnowflakeStore } from './snowflake-store.ts';

export async function openSnowflakeStore(
  address: string,
  options: FilledStoreOptions,
): Promise<SnowflakeStore> {
  const way = readSnowflakeWay(address, options);
  const { deadlineMs, sessionCountMax: countMax, tables } = way;
  return openOver(await openerOf(way), { deadlineMs, countMax }, options, tables);
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

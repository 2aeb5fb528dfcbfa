/**
 * One Postgres for all files that need one and never crash it: started before them, gone after them. It
 * holds a database with the newest schema, from which each file gets a copy.
 */
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import { GivenPostgres, runOn, startPostgres, type TestPostgres } from './postgres.ts';

const ADDRESS = 'FLEETQ_TEST_SHARED_POSTGRES_URL';
const TEMPLATE = 'fleetq_migrated';
/** Tests kill no kernel, which keeps what a server has written. Files run side by side. */
const SETTINGS = [
  'fsync=off',
  'max_connections=500',
  'max_wal_size=2GB',
  // A plan, or a count of pages, is then what the test made it.
  'autovacuum=off',
  'deadlock_timeout=20ms',
];

/** Before all test files of the project `store`. */
export async function setup(): Promise<() => Promise<void>> {
  const server = await startPostgres(SETTINGS);
  const url = await server.createDatabase();
  await migratePostgresStore(url, { clock: systemClock, random: systemRandom });
  const admin = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  await runOn(admin, `alter database ${new URL(url).pathname.slice(1)} rename to ${TEMPLATE}`);
  process.env[ADDRESS] = admin;
  return () => server.remove();
}

/** The shared server; a server of its own where a single file is run without the setup above. */
export async function sharedPostgres(): Promise<TestPostgres> {
  const url = process.env[ADDRESS];
  return url === undefined ? startPostgres(SETTINGS) : new GivenPostgres(url);
}

/** Makes a database with the newest schema and returns its address. */
export async function migratedDatabase(server: TestPostgres): Promise<string> {
  if (process.env[ADDRESS] !== undefined && !server.canCrash)
    return server.createDatabase(TEMPLATE);
  const url = await server.createDatabase();
  await migratePostgresStore(url, { clock: systemClock, random: systemRandom });
  return url;
}

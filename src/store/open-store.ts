/**
 * Opens the store that an address names. The drivers are loaded only when one of their addresses
 * comes, so that a program without a database pays for none.
 *
 *   memory:                        tables of their own, gone with the process
 *   sqlite:./fleet.db              one host; sqlite:/var/lib/fleet.db, sqlite:///var/lib/fleet.db
 *   postgres://user@host/database  as many hosts as you like; postgresql:// is the same
 *   snowflake://user@account/database/schema   the same, in the tables of an account
 */
import { show } from '../ground/index.ts';
import { StoreOptionsError } from './errors.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { MemoryTables } from './memory/tables.ts';
import { filled, refuseWrongStoreOptions, type StoreOptions } from './options.ts';
import type { Store } from './store.ts';

const WANTED =
  'postgres://user@host/database, snowflake://user@account/database/schema, sqlite:./file.db or memory:';

export async function openStore(url: string, given: StoreOptions = {}): Promise<Store> {
  refuseWrongStoreOptions(given);
  const options = filled(given);
  if (/^postgres(ql)?:\/\//i.test(url)) {
    const { openPostgresStore } = await import('./postgres/postgres-store.ts');
    return openPostgresStore(url, options);
  }
  if (/^sqlite:/i.test(url)) {
    const path = sqlitePath(url);
    const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
    return openSqliteStore(path, options);
  }
  if (/^snowflake:\/\//i.test(url)) {
    const { openSnowflakeStore } = await import('./snowflake/open.ts');
    return openSnowflakeStore(url, options);
  }
  if (/^memory:$/i.test(url)) {
    return new MemoryStore(new MemoryTables(options));
  }
  throw new StoreOptionsError(
    `the address of the store must be ${WANTED}; got ${withoutSecrets(url)}`,
  );
}

/** The path within a sqlite: address, with or without the two slashes of a URL. */
export function sqlitePath(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '' || path.startsWith('//')) {
    throw new StoreOptionsError(
      'the address of the store must name a file, like sqlite:./file.db or sqlite:///path/to/file.db',
    );
  }
  return path;
}

/**
 * Only what comes before the first colon is told, and only where it looks like a scheme: an address
 * may hold a password anywhere after it, and a mistyped one at places where no parser expects it.
 */
function withoutSecrets(url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]{0,29}:(?=\/\/|$)/i.exec(url)?.[0];
  if (url === '') return 'nothing';
  return scheme === undefined ? 'something else' : `one that begins with ${show(scheme)}`;
}

/**
 * The door to SQLite: no other file names the driver. The driver comes with the first database that is
 * opened, so that a process which opens none does not wait for it. What can go wrong before SQLite
 * itself runs, a missing binary or one of another platform, is one error here, and never a fault of the
 * file that was to be opened.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type Driver from 'better-sqlite3';
import { describeError, FleetqError } from './errors.ts';
import { runtimeName } from './node-floor.ts';

export type SqliteDatabase = Driver.Database;
export type SqliteStatement = Driver.Statement;
export type SqliteClass = typeof Driver;

/** SQLite does not load here, or its version is one that can corrupt a file. */
export class SqliteUnavailableError extends FleetqError {
  readonly code = 'FLEETQ_SQLITE_UNAVAILABLE';
  readonly verdict = 'abort';
}

export function openDatabase(file: string, options?: Driver.Options): SqliteDatabase {
  return new (sqlite().Database)(file, options);
}

export function sqliteVersion(): string {
  return sqlite().version;
}

interface Sqlite {
  readonly Database: SqliteClass;
  readonly version: string;
}

let loaded: Sqlite | undefined;

/** The driver's class, once a database in memory has shown that its binary runs here. */
export function sqlite(): Sqlite {
  loaded ??= load();
  return loaded;
}

function load(): Sqlite {
  const found = loadDriver(pathOfDriver());
  if (!isFit(found.version)) {
    throw new SqliteUnavailableError(`SQLite ${found.version} can corrupt a file`, {
      hint: `install a better-sqlite3 with SQLite ${VERSION_MIN.join('.')} or newer, not 3.52.0`,
    });
  }
  return found;
}

/** The package that users install has a copy of its own; a clone and an image have the dependency. */
function pathOfDriver(): string {
  // A directory `migrations` a program that FleetQ was merged into may have too.
  if (!isThere('../../migrations/journal/0001_create_journal.sql')) {
    throw new SqliteUnavailableError('FleetQ does not find its own files, SQLite among them', {
      hint: 'where a bundler has merged FleetQ into another file, name fleetq as external',
    });
  }
  const own = '../vendor/better-sqlite3/lib/index.js';
  return isThere(own) ? fileURLToPath(new URL(own, import.meta.url)) : 'better-sqlite3';
}

function isThere(path: string): boolean {
  try {
    return existsSync(new URL(path, import.meta.url));
  } catch {
    // A bundler that writes CommonJS leaves no address of this file.
    return false;
  }
}

function loadDriver(path: string): Sqlite {
  try {
    const Database = createRequire(import.meta.url)(path) as SqliteClass;
    const memory = new Database(':memory:');
    const version = memory.prepare('select sqlite_version()').pluck().get() as string;
    memory.close();
    return { Database, version };
  } catch (cause) {
    const [reason] = describeError(cause).message.split('\n');
    throw new SqliteUnavailableError(`SQLite does not load in ${runtimeName()}: ${reason}`, {
      cause,
      hint: 'install FleetQ again, by the Node and on the platform that run it',
    });
  }
}

/** Below this, two connections could corrupt a WAL file; 3.52.0 was withdrawn. */
const VERSION_MIN = [3, 51, 3] as const;

function isFit(version: string): boolean {
  const parts = version.split('.').map(Number);
  const order = VERSION_MIN.map((wanted, index) => (parts[index] ?? 0) - wanted);
  const isOld = (order.find((difference) => difference !== 0) ?? 0) < 0;
  return !isOld && version !== '3.52.0';
}

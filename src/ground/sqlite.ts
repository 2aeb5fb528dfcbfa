/**
 * The door to SQLite: no other file names the driver. The driver comes with the first database that is
 * opened, so that a process which opens none does not wait for it. What can go wrong before SQLite
 * itself runs, a missing binary or one of another platform, is one error here, and never a fault of the
 * file that was to be opened.
 */
import { createRequire } from 'node:module';
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
  const found = loadDriver();
  if (!isFit(found.version)) {
    throw new SqliteUnavailableError(`SQLite ${found.version} can corrupt a file`, {
      hint: `install a better-sqlite3 with SQLite ${VERSION_MIN.join('.')} or newer, not 3.52.0`,
    });
  }
  return found;
}

function loadDriver(): Sqlite {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3') as SqliteClass;
    const memory = new Database(':memory:');
    const version = memory.prepare('select sqlite_version()').pluck().get() as string;
    memory.close();
    return { Database, version };
  } catch (cause) {
    const [reason] = describeError(cause).message.split('\n');
    throw new SqliteUnavailableError(`SQLite does not load in ${runtimeName()}: ${reason}`, {
      cause,
      hint: HINT,
    });
  }
}

const HINT =
  'install FleetQ again, by the Node and on the platform that run it; where a bundler has merged ' +
  'FleetQ into a file of yours, name fleetq as external';

/** Below this, two connections could corrupt a WAL file; 3.52.0 was withdrawn. */
const VERSION_MIN = [3, 51, 3] as const;

function isFit(version: string): boolean {
  const parts = version.split('.').map(Number);
  const order = VERSION_MIN.map((wanted, index) => (parts[index] ?? 0) - wanted);
  const isOld = (order.find((difference) => difference !== 0) ?? 0) < 0;
  return !isOld && version !== '3.52.0';
}

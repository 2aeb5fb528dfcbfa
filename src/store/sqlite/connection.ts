/**
 * One connection to the shared file, opened so that a commit means an fsync: WAL, synchronous=FULL.
 * Other processes have connections of their own; whoever finds the file locked waits a little inside
 * SQLite, which holds the event loop, and longer outside of it: see session.ts.
 */
import {
  assert,
  describeError,
  openDatabase,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../ground/index.ts';
import {
  StoreBusyError,
  StoreRefusedError,
  StoreSchemaError,
  StoreUnreachableError,
} from '../errors.ts';

export type Connection = SqliteDatabase;
export type Statement = SqliteStatement;

/** How long one statement may hold the event loop while a rival commits. */
const BUSY_HOLD_MS = 20;
const WAL_BYTES_KEPT = 64 * 1024 * 1024;

/** `inspect` sees the file as it was found. Where that is locked, the whole may be tried again. */
export function openConnection(
  file: string,
  inspect: (connection: Connection) => void,
): Connection {
  const connection = openDatabase(file, { timeout: BUSY_HOLD_MS, fileMustExist: true });
  try {
    inspect(connection);
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    connection.pragma('cell_size_check = ON');
    connection.pragma('trusted_schema = OFF');
    assertFullSync(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** For looking only: leaves the file as it is. */
export function openToRead(file: string): Connection {
  return openDatabase(file, { timeout: BUSY_HOLD_MS, fileMustExist: true, readonly: true });
}

/** The driver's own default is NORMAL, and comes back with the first write; so it is asked after one. */
export function assertFullSync(connection: Connection): void {
  const ask = (pragma: string) => connection.pragma(pragma, { simple: true });
  assert(ask('synchronous') === 2, 'synchronous is not FULL');
  assert(ask('journal_mode') === 'wal', 'journal_mode is not WAL');
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.some((code) => codeOf(error).startsWith(code));
}

export function isBusy(error: unknown): boolean {
  return hasCode(error, 'SQLITE_BUSY', 'SQLITE_LOCKED');
}

/** The values are at fault, not the file: the statement changed nothing and the rest may go on. */
export function isRefusal(error: unknown): boolean {
  return (
    hasCode(error, 'SQLITE_CONSTRAINT', 'SQLITE_TOOBIG', 'SQLITE_MISMATCH', 'SQLITE_RANGE') ||
    error instanceof StoreRefusedError ||
    error instanceof RangeError
  );
}

/** What SQLite threw, as one of the errors every store has; anything else as it is. */
export function storeError(error: unknown, file: string): unknown {
  const { message } = describeError(error);
  if (isBusy(error)) {
    return new StoreBusyError(`${file} stayed locked by another process`, {
      cause: error,
      hint: 'find out which process holds a transaction open on it, a person at a prompt perhaps',
    });
  }
  if (hasCode(error, 'SQLITE_CORRUPT', 'SQLITE_NOTADB')) {
    return new StoreSchemaError(`${file} is damaged, or no SQLite file: ${message}`, {
      cause: error,
      hint: 'stop every process that uses it, keep a copy, and restore it from a backup',
    });
  }
  if (codeOf(error) === 'SQLITE_ERROR' || codeOf(error) === 'SQLITE_SCHEMA') {
    return new StoreSchemaError(`the tables in ${file} are not those of FleetQ: ${message}`, {
      cause: error,
      hint: 'run: fleetq migrate status',
    });
  }
  if (!(error instanceof StoreRefusedError) && isRefusal(error)) {
    return new StoreRefusedError(`the store cannot hold this: ${message}`, { cause: error });
  }
  if (hasCode(error, 'SQLITE_') || /connection is not open/.test(message)) {
    return new StoreUnreachableError(`${file} cannot be used: ${message}`, {
      cause: error,
      hint: 'see that its disk has space left, works, and is not mounted read-only',
    });
  }
  return error;
}

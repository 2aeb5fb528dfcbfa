/**
 * One connection to the journal's file, opened so that a commit means an fsync and nobody else can
 * open it: WAL, synchronous=FULL, locking_mode=EXCLUSIVE.
 */
import {
  assert,
  openDatabase,
  type SqliteDatabase,
  type SqliteStatement,
} from '../ground/index.ts';

export type Connection = SqliteDatabase;
export type Statement = SqliteStatement;

const WAL_BYTES_KEPT = 64 * 1024 * 1024;

export function openConnection(file: string): Connection {
  const connection = openDatabase(file, { timeout: 0 });
  try {
    // Before anything touches the WAL, or SQLite would share it with others.
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`);
    connection.pragma('cell_size_check = ON');
    connection.pragma('trusted_schema = OFF');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The driver's own default is NORMAL, and comes back with the first write; so it is asked for after one. */
export function assertFullSync(connection: Connection): void {
  const ask = (pragma: string) => connection.pragma(pragma, { simple: true });
  assert(ask('synchronous') === 2, 'synchronous is not FULL');
  assert(ask('journal_mode') === 'wal', 'journal_mode is not WAL');
  assert(ask('locking_mode') === 'exclusive', 'locking_mode is not EXCLUSIVE');
}

/** A file that SQLite can read and that still cannot be what was written. */
export function corrupt(message: string): Error {
  return Object.assign(new Error(message), { code: 'SQLITE_CORRUPT' });
}

const PROBLEMS_MAX = 10;

/** What SQLite itself finds wrong with the file; empty when nothing. */
export function integrityProblems(connection: Connection): string[] {
  const rows = connection.pragma(`integrity_check(${PROBLEMS_MAX})`) as {
    integrity_check: string;
  }[];
  const problems = rows.map((row) => row.integrity_check);
  return problems[0] === 'ok' ? [] : problems;
}

/** Small beside the events, and what decides which runs there are, under which keys, and when. */
const CRITICAL_TABLES = ['sqlite_schema', 'journal', 'runs', 'timers'] as const;

/** The same of what a boot relies on, for a file that is too large to be read through. */
export function criticalProblems(connection: Connection): string[] {
  return CRITICAL_TABLES.flatMap((table) => {
    const rows = connection.pragma(`integrity_check('${table}')`) as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((problem) => problem !== 'ok');
  }).slice(0, PROBLEMS_MAX);
}

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error).startsWith('SQLITE_LOCKED');
}

export function isSqlite(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_');
}

export function isCorrupt(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CORRUPT') || codeOf(error) === 'SQLITE_NOTADB';
}

/** What a record is refused for itself: the next one may well be written. */
const OF_ONE_RECORD = ['SQLITE_CONSTRAINT', 'SQLITE_TOOBIG', 'SQLITE_MISMATCH', 'SQLITE_RANGE'];

/** Whether what was written is at fault. Any other failure of SQLite is the journal's, and no run's. */
export function isRefusal(error: unknown): boolean {
  return !isSqlite(error) || OF_ONE_RECORD.some((code) => codeOf(error).startsWith(code));
}

/** Failures of the disk that may pass: no space, no quota, read-only for a while, an I/O error. */
export function isDiskFailure(error: unknown): boolean {
  return ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_NOMEM'].some(
    (code) => codeOf(error).startsWith(code),
  );
}

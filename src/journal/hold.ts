/**
 * Holding a data directory, by the lock on a file that serves for nothing else. The lock on the
 * journal's own file is not enough: the kernel drops it as soon as this process closes any handle on
 * that file, and a copy for a backup, or a second thread that looks at it, does just that. The lock
 * file stays empty, is never removed, and is opened by nothing but SQLite, which knows across all
 * threads of a process what it has locked.
 */
import { chmodSync, lstatSync, statSync } from 'node:fs';
import { openDatabase, SqliteUnavailableError } from '../ground/index.ts';
import { type Connection, isBusy } from './connection.ts';
import { JournalHeldError, JournalPlaceError } from './errors.ts';
import { describeHolder, type Place, readHolder } from './place.ts';

export interface Hold {
  /**
   * Locks again what this process may have unlocked by copying the whole directory; false where
   * somebody else has the lock by now.
   */
  renew(): boolean;
  letGo(): void;
}

/** Holds the directory for one journal alone. */
export function takeHold(place: Place): Hold {
  const connection = openLock(place);
  try {
    // Made by SQLite, since closing a handle of our own could drop the lock of another thread.
    if ((lstatSync(place.lock).mode & 0o077) !== 0) chmodSync(place.lock, 0o600);
    // The transaction is never committed: in memory, it leaves no trace beside the file.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('begin exclusive');
  } catch (error) {
    connection.close();
    if (isBusy(error)) throw new JournalHeldError(place.directory, describeHolder(place));
    throw cannotLock(place, error);
  }
  return { renew: () => lockAgain(connection), letGo: () => connection.close() };
}

function openLock(place: Place): Connection {
  try {
    return openDatabase(place.lock, { timeout: 0 });
  } catch (error) {
    throw cannotLock(place, error);
  }
}

function cannotLock({ lock }: Place, cause: unknown): Error {
  // Nothing is wrong with the file then, and nothing must be done to it.
  if (cause instanceof SqliteUnavailableError) return cause;
  return new JournalPlaceError(`the lock file ${lock} cannot be locked`, {
    cause,
    hint: 'it must be an empty file that can be written: stop FleetQ, remove it, start again',
  });
}

/** Who asks at that moment has the lock until it finds the journal's own file locked. */
const AGAIN_COUNT_MAX = 25;
const AGAIN_MS = 2;
const clockwork = new Int32Array(new SharedArrayBuffer(4));

/** SQLite asks the kernel only for what it believes it has not: so it lets go first. */
function lockAgain(connection: Connection): boolean {
  if (connection.inTransaction) connection.exec('rollback');
  for (let count = 1; count <= AGAIN_COUNT_MAX; count++) {
    try {
      connection.exec('begin exclusive');
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      Atomics.wait(clockwork, 0, 0, AGAIN_MS);
    }
  }
  return false;
}

/** Keeps holders away while somebody reads, and leaves the lock file as it is, there or not. */
export function shareHold(place: Place): () => void {
  // Where it is missing, nobody holds the directory; whoever reads must not make it.
  if (!lstatSync(place.lock, { throwIfNoEntry: false })?.isFile()) return () => undefined;
  let connection: Connection | undefined;
  try {
    connection = openDatabase(place.lock, { readonly: true, timeout: 0 });
    connection.exec('begin');
    connection.prepare('select count(*) from sqlite_schema').get();
  } catch (error) {
    // The lock is asked for before the file is looked at: anything else is no holder.
    if (isBusy(error)) {
      connection?.close();
      throw new JournalHeldError(place.directory, describeHolder(place));
    }
  }
  return () => connection?.close();
}

/**
 * Answers a question about a file that is open: is it still what its path leads to? What is written
 * to a file that was deleted, or replaced, is read by nobody.
 */
export function watchPath(path: string): () => Error | undefined {
  const open = identityOf(path);
  return () => (open !== undefined && identityOf(path) === open ? undefined : gone(path));
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Answers why the place can no longer be taken for held by this process. */
export function watchHolder(place: Place, hold: Hold): () => Error | undefined {
  const own = readHolder(place);
  let final: Error | undefined;
  return () => {
    if (final) return final;
    const isHeld = hold.renew();
    const name = readHolder(place);
    // A name that is missing says nothing; another one is of somebody who has written since.
    if (name === undefined || name === own) {
      return isHeld ? undefined : lost(`${place.directory} is locked by another process`);
    }
    hold.letGo();
    final = lost(`${place.directory} was taken over by ${describeHolder(place)}`);
    return final;
  };
}

/** SQLite's own word for it, which it has only where it keeps no WAL. */
const GONE = 'SQLITE_READONLY_DBMOVED';

function gone(path: string): Error {
  return lost(`the journal file is gone from ${path}`);
}

function lost(message: string): Error {
  return Object.assign(new Error(message), {
    code: GONE,
    hint: 'put the same file back, or restart: what was in hand goes on from its last record on disk',
  });
}

export function isGone(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === GONE;
}

/**
 * Keeps everybody from opening a journal to write, without touching it. SQLite has the lock, on the
 * file's inode; but it also recovers, and even deletes, a WAL that it finds beside the file. So the
 * file is opened by a second name, in a directory where no WAL is.
 */
import { linkSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from '../ground/index.ts';
import { type Connection, isBusy } from './connection.ts';
import { JournalHeldError } from './errors.ts';
import { bytesOf } from './file-header.ts';
import { shareHold } from './hold.ts';
import { describeHolder, type Place } from './place.ts';

const DIRECTORY_NAME = 'journal.lock-';

/** Answers how to let go; throws where somebody holds the journal, before its file is opened. */
export function shareLock(place: Place): () => void {
  const letGoOfPlace = shareHold(place);
  try {
    const letGoOfFile = shareFileLock(place);
    return () => {
      letGoOfFile();
      letGoOfPlace();
    };
  } catch (error) {
    letGoOfPlace();
    throw error;
  }
}

/** The lock on the journal's own file, for whoever has a hold on the place already. */
export function shareFileLock(place: Place): () => void {
  const other = otherName(place);
  // Without another name an empty file cannot be asked: SQLite would delete the WAL beside it.
  if (other === undefined && bytesOf(place.journal) === 0) return () => undefined;
  let connection: Connection | undefined;
  const letGo = () => {
    connection?.close();
    if (other) rmSync(dirname(other), { recursive: true, force: true });
  };
  try {
    connection = openDatabase(other ?? place.journal, { readonly: true, timeout: 0 });
    connection.exec('begin');
    connection.prepare('select count(*) from sqlite_schema').get();
  } catch (error) {
    // The lock is asked for before the file is looked at: anything else is damage, and no holder.
    if (isBusy(error)) {
      letGo();
      throw new JournalHeldError(place.directory, describeHolder(place));
    }
  }
  return letGo;
}

/** Undefined where there can be none: read-only, or a file system without hard links. */
function otherName(place: Place): string | undefined {
  let directory: string | undefined;
  try {
    directory = mkdtempSync(join(place.directory, DIRECTORY_NAME));
    const name = join(directory, 'journal.db');
    linkSync(place.journal, name);
    return name;
  } catch {
    if (directory) rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
}

/** Clears away what a process left that died while it had the lock. */
export function removeLeftLocks(place: Place): void {
  for (const name of readdirSync(place.directory)) {
    if (!name.startsWith(DIRECTORY_NAME)) continue;
    rmSync(join(place.directory, name), { recursive: true, force: true });
  }
}

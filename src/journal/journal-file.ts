/**
 * A journal that nobody holds, for reading only. It is read from a private copy: SQLite changes a
 * file by opening it, and whoever looks at evidence must not touch it. The lock is taken while the
 * copy is made, so that no process can begin to write meanwhile.
 */
import { copyFileSync, existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../ground/index.ts';
import { type Codec, identityCodec } from './codec.ts';
import { type Connection, codeOf } from './connection.ts';
import {
  JournalDamagedError,
  JournalFormatError,
  JournalHeldError,
  JournalPlaceError,
} from './errors.ts';
import { bytesOf, headerProblem, mendHeader } from './file-header.ts';
import { JournalReader } from './journal-reader.ts';
import { migrate } from './migrate.ts';
import { describeHolder, isHeldHere, type Place, placeOf, refuseUnfit } from './place.ts';
import { shareLock } from './share-lock.ts';

export interface FileOptions {
  readonly codec?: Codec | undefined;
}

/** The copy, open; whatever is wrong with it so far. */
export interface JournalCopy {
  readonly connection: Connection;
  /** The mark, copied too; the file may not exist. */
  readonly mark: string;
  readonly format: number;
  readonly problems: readonly string[];
  readonly bytes: number;
  readonly walBytes: number;
  close(): void;
}

export interface JournalFile {
  readonly reader: JournalReader;
  close(): void;
}

/** Opens the journal of `dataDir` to read it; a damaged one is an error that says so. */
export function openJournalFile(dataDir: string, options: FileOptions = {}): JournalFile {
  const copy = openCopy(dataDir);
  if (copy.problems.length > 0) {
    copy.close();
    throw new JournalDamagedError(`the journal in ${dataDir} is damaged: ${copy.problems[0]}`, {
      hint: 'see all of it with: fleetq journal verify',
    });
  }
  const reader = new JournalReader(copy.connection, options.codec ?? identityCodec);
  return { reader, close: () => copy.close() };
}

export function openCopy(dataDir: string): JournalCopy {
  const place = placeOf(dataDir);
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-journal-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    copyUnheld(place, directory);
    const file = join(directory, 'journal.db');
    const sizes = { bytes: bytesOf(file), walBytes: bytesOf(`${file}-wal`) };
    const opened = openDamagedOrNot(file);
    const close = () => {
      opened.connection.close();
      remove();
    };
    return { ...opened, ...sizes, mark: join(directory, 'journal.mark'), close };
  } catch (error) {
    remove();
    throw error;
  }
}

function copyUnheld(place: Place, directory: string): void {
  if (isHeldHere(place)) throw new JournalHeldError(place.directory, describeHolder(place));
  refuseUnfit(place);
  const found = lstatSync(place.journal, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    throw new JournalPlaceError(`there is no journal in ${place.directory}`, {
      hint: 'name the directory with --data-dir or FLEETQ_DATA_DIR',
    });
  }
  const letGo = shareLock(place);
  try {
    // The file itself last: closing it drops this process's lock on it.
    for (const name of ['journal.db-wal', 'journal.mark', 'journal.db']) {
      const from = join(place.directory, name);
      if (existsSync(from)) copyFileSync(from, join(directory, name));
    }
  } finally {
    letGo();
  }
}

function openDamagedOrNot(file: string): Pick<JournalCopy, 'connection' | 'format' | 'problems'> {
  const problems: string[] = [];
  if (bytesOf(file) > 0 || bytesOf(`${file}-wal`) > 0) {
    const problem = headerProblem(file);
    if (problem !== undefined) {
      problems.push(problem);
      mendHeader(file);
    }
  }
  const connection = openDatabase(file, { timeout: 0 });
  let format = 0;
  try {
    connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('trusted_schema = OFF');
    connection.pragma('cell_size_check = ON');
    // It is a copy: an older format may be brought up to date in it.
    format = migrate(connection);
  } catch (error) {
    if (error instanceof JournalFormatError || !codeOf(error).startsWith('SQLITE_')) {
      connection.close();
      throw error;
    }
    problems.push((error as Error).message);
  }
  return { connection, format, problems };
}

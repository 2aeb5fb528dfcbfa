/**
 * The data directory: private to its owner, never reached through a link, and held by one process,
 * whose name is left beside the journal for the next one that comes and finds it locked.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { isoTime } from '../ground/index.ts';
import { JournalPlaceError } from './errors.ts';

export interface Place {
  readonly directory: string;
  readonly journal: string;
  readonly mark: string;
  readonly holder: string;
  readonly ballast: string;
  readonly socket: string;
  readonly quarantine: string;
}

export function placeOf(directory: string): Place {
  const root = resolve(directory);
  return {
    directory: root,
    journal: join(root, 'journal.db'),
    mark: join(root, 'journal.mark'),
    holder: join(root, 'holder.json'),
    ballast: join(root, 'ballast'),
    socket: join(root, 'fleetq.sock'),
    quarantine: join(root, 'quarantine'),
  };
}

/** Makes the directory fit to hold a journal, or says why it is not. */
export function preparePlace(place: Place): void {
  refuseLink(place.directory);
  try {
    mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new JournalPlaceError(`cannot make the data directory ${place.directory}`, {
      cause,
      hint: 'choose a place that can be written, with --data-dir or FLEETQ_DATA_DIR',
    });
  }
  keepPrivate(place);
  for (const file of [place.journal, `${place.journal}-wal`, place.mark, place.holder]) {
    refuseLink(file);
  }
  // SQLite would make it readable for everybody; its other files take over the mode of this one.
  closeSync(
    openSync(place.journal, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
  );
  chmodSync(place.journal, 0o600);
}

function keepPrivate(place: Place): void {
  const mode = lstatSync(place.directory).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  // A directory of ours, or an empty one, may be closed; anybody else's is not ours to change.
  const isOurs = existsSync(place.journal) || readdirSync(place.directory).length === 0;
  if (!isOurs) {
    throw new JournalPlaceError(
      `the data directory ${place.directory} is open to others (mode ${mode.toString(8)}) and holds other files`,
      { hint: 'give FleetQ a directory of its own' },
    );
  }
  chmodSync(place.directory, 0o700);
}

function refuseLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new JournalPlaceError(`${path} is a symbolic link`, {
      hint: 'name the real place: whoever can change a link could make FleetQ write elsewhere',
    });
  }
}

export function writeHolder(place: Place, now: number): void {
  const holder = { pid: process.pid, host: hostname(), since: isoTime(now) };
  writeFileSync(place.holder, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
}

/** Who holds the directory, in words. */
export function describeHolder(place: Place): string {
  try {
    const holder = JSON.parse(readFileSync(place.holder, 'utf8')) as Record<string, unknown>;
    return `process ${holder['pid']} on ${holder['host']}, since ${holder['since']}`;
  } catch {
    return 'another process';
  }
}

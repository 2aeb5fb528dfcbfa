/**
 * Where the shared file lies: readable by its owner only, in a directory that nobody else can write
 * to, and never reached through a link. SQLite's locks, and its shared memory, work between the
 * processes of one host; on a network file system they do not, so the file must be on a local one.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreOptionsError } from '../errors.ts';

export interface Place {
  readonly directory: string;
  readonly file: string;
  /** Touched when something has become ready, or has ended: see hints.ts. */
  readonly readyHint: string;
  readonly endedHint: string;
}

export function placeOf(path: string): Place {
  const file = resolve(path);
  return {
    directory: dirname(file),
    file,
    readyHint: `${file}-ready`,
    endedHint: `${file}-ended`,
  };
}

/** Everything that lies at the place, the main file first. */
function filesOf(place: Place): string[] {
  const { file, readyHint, endedHint } = place;
  return [file, `${file}-wal`, `${file}-shm`, readyHint, endedHint];
}

/** Refuses a place that cannot be trusted, whether or not there is a file yet. */
export function inspectPlace(place: Place): void {
  refuseUnless('isDirectory', place.directory);
  for (const file of filesOf(place)) refuseUnless('isFile', file);
  const directory = lstatSync(place.directory, { throwIfNoEntry: false });
  if (directory && (directory.mode & 0o022) !== 0) {
    throw new StoreOptionsError(`the directory ${place.directory} can be written to by others`, {
      hint: `give FleetQ a directory of its own, or run: chmod 700 ${place.directory}`,
    });
  }
}

/** Makes the directory and an empty file where there are none. */
export function makePlace(place: Place): void {
  orRefuse(place, () => {
    makeDirectory(place.directory);
    // SQLite would make the file readable for everybody; its other files take over this one's mode.
    makeFile(place.file);
    syncDirectory(place.directory);
  });
}

/** Closes the files of a store to others, those for hints included. */
export function keepPrivate(place: Place): void {
  orRefuse(place, () => {
    for (const hint of [place.readyHint, place.endedHint]) makeFile(hint);
    for (const file of filesOf(place)) closeToOthers(file);
  });
}

function orRefuse(place: Place, act: () => void): void {
  try {
    act();
  } catch (cause) {
    throw new StoreOptionsError(`the directory ${place.directory} cannot hold a store`, {
      cause,
      hint: 'choose a place that can be written to, on a disk with space left',
    });
  }
}

/** Names the very file behind the path, so that one put in its place is noticed. */
export function identityOf(place: Place): string | undefined {
  const found = lstatSync(place.file, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}

function makeDirectory(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  const above = dirname(path);
  makeDirectory(above);
  try {
    mkdirSync(path, 0o700);
    syncDirectory(above);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function makeFile(path: string): void {
  // Never opened where it is there: closing a file drops every lock this process has on it.
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    closeSync(openSync(path, flags, 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function closeToOthers(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function refuseUnless(kind: 'isDirectory' | 'isFile', path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new StoreOptionsError(`${path} is a symbolic link`, {
      hint: 'name the real place: whoever can change a link could make FleetQ write elsewhere',
    });
  }
  if (found && !found[kind]()) {
    throw new StoreOptionsError(`${path} is not a ${kind === 'isFile' ? 'file' : 'directory'}`, {
      hint: 'name a file in a directory of its own, such as .fleetq/store.db',
    });
  }
}

/**
 * The data directory: private to its owner, never reached through a link, and held by one process,
 * whose name is left beside the journal for the next one that comes and finds it locked.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { JournalPlaceError } from './errors.ts';

export interface Place {
  readonly directory: string;
  readonly journal: string;
  readonly mark: string;
  readonly lock: string;
  /** Locked by whoever waits to hold the directory next. */
  readonly next: string;
  readonly holder: string;
  readonly ballast: string;
  readonly socket: string;
  /** What dead letters of the fleet are kept in. */
  readonly deadLetters: string;
  readonly quarantine: string;
  /** Left by a process that met damage in the journal: the next start puts the file aside. */
  readonly damaged: string;
}

export function placeOf(directory: string): Place {
  const root = resolve(directory);
  return {
    directory: root,
    journal: join(root, 'journal.db'),
    mark: join(root, 'journal.mark'),
    lock: join(root, 'journal.lock'),
    next: join(root, 'journal.next'),
    holder: join(root, 'holder.json'),
    ballast: join(root, 'ballast'),
    socket: join(root, 'fleetq.sock'),
    deadLetters: join(root, 'dead-letters.sqlite'),
    quarantine: join(root, 'quarantine'),
    damaged: join(root, 'journal.damaged'),
  };
}

/** What may lie in a data directory before there is a journal in it: pods have theirs below it. */
const KNOWN_NAMES = new RegExp(
  `^(${[
    ...['journal\\..*', 'holder\\.json', 'ballast', 'fleetq\\.sock', 'quarantine', 'lost\\+found'],
    ...['pod-\\d+', 'fleet\\.db.*', 'dead-letters\\..*', 'dev-.*'],
  ].join('|')})$`,
);

/** Makes the directory fit to hold a journal, or says why it is not. */
export function preparePlace(place: Place): void {
  try {
    refuseUnless('isDirectory', place.directory);
    const made = makeDirectory(place.directory);
    if (made !== undefined) syncDirectories(place.directory, dirname(made));
    refuseForeign(place);
    refuseOddFiles(place);
    refuseOpen(place);
    keepPrivate(place);
  } catch (cause) {
    if (cause instanceof JournalPlaceError) throw cause;
    throw cannotHold(place, cause);
  }
}

/** The same for whoever only looks, and makes nothing: one that is not there yet is fine. */
export function refuseUnfit(place: Place): void {
  try {
    refuseUnless('isDirectory', place.directory);
    if (!existsSync(place.directory)) return;
    accessSync(place.directory, constants.R_OK | constants.X_OK);
    refuseOddFiles(place);
  } catch (cause) {
    if (cause instanceof JournalPlaceError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const isClosed = code === 'EACCES' || code === 'EPERM';
    throw new JournalPlaceError(
      `the data directory ${place.directory} cannot be read: ${message}`,
      {
        cause,
        hint: `${isClosed ? 'ask as its owner, or ' : ''}name another with --data-dir or FLEETQ_DATA_DIR`,
      },
    );
  }
}

function refuseOddFiles(place: Place): void {
  for (const file of filesOf(place)) refuseUnless('isFile', file);
  refuseUnless('isDirectory', place.quarantine);
}

function cannotHold(place: Place, cause: unknown): JournalPlaceError {
  return new JournalPlaceError(`the data directory ${place.directory} cannot hold a journal`, {
    cause,
    hint: 'choose a place that can be written, with --data-dir or FLEETQ_DATA_DIR',
  });
}

/** Answers the topmost that was made. Node's own recursion never ends where /proc refuses a name. */
function makeDirectory(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const made = makeDirectory(dirname(path));
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return made ?? path;
}

/** A directory is as durable as its name in the one above it. */
function syncDirectories(from: string, upTo: string): void {
  for (let path = from; path.length >= upTo.length; path = dirname(path)) {
    syncDirectory(path);
    if (path === dirname(path)) return;
  }
}

export function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function filesOf(place: Place): string[] {
  const { journal, mark, lock, next, holder, ballast, damaged } = place;
  const beside = ['', '-wal', '.new', '.building'].map((suffix) => journal + suffix);
  return [...beside, mark, `${mark}.new`, lock, next, holder, ballast, damaged];
}

/** A journal among other people's files would be deleted, or read, by whoever owns those. */
function refuseForeign(place: Place): void {
  const foreign = readdirSync(place.directory).find((name) => !KNOWN_NAMES.test(name));
  if (foreign === undefined || existsSync(place.journal)) return;
  throw new JournalPlaceError(
    `the data directory ${place.directory} holds no journal, but other files, such as ${foreign}`,
    { hint: 'give FleetQ a directory of its own' },
  );
}

const STICKY_OR_FOR_ALL_TO_WRITE = 0o1002;

/** One that others use too is not ours to close to them, nor safe to be used as it is. */
function refuseOpen({ directory }: Place): void {
  const { mode, uid } = lstatSync(directory);
  if ((mode & 0o077) === 0) return;
  const isOurs = process.getuid === undefined || process.getuid() === uid;
  if (isOurs && (mode & STICKY_OR_FOR_ALL_TO_WRITE) === 0) return;
  const shown = (mode & 0o7777).toString(8);
  const why = isOurs ? 'can be written by everybody' : 'belongs to another user';
  throw new JournalPlaceError(
    `the data directory ${directory} is open to others (mode ${shown}) and ${why}`,
    {
      hint: `name one below it, which will be made; or, if it is for FleetQ alone, close it first`,
    },
  );
}

function keepPrivate(place: Place): void {
  closeToOthers(place.directory, 0o700);
  closeToOthers(place.quarantine, 0o700);
  for (const file of filesOf(place)) closeToOthers(file, 0o600);
}

/**
 * Makes an empty journal where there is none; only by who holds the place. SQLite would make it
 * readable for everybody, and its other files take over the mode of this one.
 */
export function makeJournal(place: Place): void {
  // Never opened where it is there: closing a file drops the lock that this process has on it.
  if (existsSync(place.journal)) return;
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    closeSync(openSync(place.journal, flags, 0o600));
  } catch (cause) {
    throw cannotHold(place, cause);
  }
}

function closeToOthers(path: string, mode: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && (found.mode & 0o077) !== 0) chmodSync(path, mode);
}

function refuseUnless(kind: 'isDirectory' | 'isFile', path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    throw new JournalPlaceError(`${path} is a symbolic link`, {
      hint: 'name the real place: whoever can change a link could make FleetQ write elsewhere',
    });
  }
  if (found && !found[kind]()) {
    throw new JournalPlaceError(`${path} is not a ${kind === 'isFile' ? 'file' : 'directory'}`, {
      hint: 'give FleetQ a directory of its own',
    });
  }
}

/** What the last one who came to hold the directory has left; undefined where that is gone. */
export function readHolder(place: Place): string | undefined {
  try {
    return readFileSync(place.holder, 'utf8');
  } catch {
    return undefined;
  }
}

/** Who holds the directory, in words. */
export function describeHolder(place: Place): string {
  try {
    const holder = JSON.parse(readHolder(place) ?? '') as Record<string, unknown>;
    return `process ${holder['pid']} on ${holder['host']}, since ${holder['since']}`;
  } catch {
    return 'another process';
  }
}

/** The journals that this thread holds: asked first, so that a refusal touches no file at all. */
const HELD = Symbol.for('fleetq.journals.held');
const held: Set<string> =
  ((globalThis as Record<symbol, unknown>)[HELD] as Set<string>) ?? new Set();
(globalThis as Record<symbol, unknown>)[HELD] = held;

/** Must be asked before any file of the place is opened: closing one would drop our own lock on it. */
export function isHeldHere(place: Place): boolean {
  const key = placeKey(place);
  return key !== undefined && held.has(key);
}

/** Answers how to let go. */
export function holdHere(place: Place): () => void {
  const key = placeKey(place);
  if (key === undefined) return () => undefined;
  held.add(key);
  return () => held.delete(key);
}

function placeKey(place: Place): string | undefined {
  const found = lstatSync(place.directory, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

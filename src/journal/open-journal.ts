/**
 * From a directory to a journal that can be trusted: opened for this process alone, of a known
 * format, sealed, whole, and held against the mark of the process before. A file that fails any of
 * that is put aside, and a new one takes its place with every run that still proves itself.
 */
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { type Clock, FleetqError, isoTime, type Random } from '../ground/index.ts';
import type { Codec } from './codec.ts';
import {
  type Connection,
  corrupt,
  criticalProblems,
  integrityProblems,
  isBusy,
  isDiskFailure,
  isSqlite,
  openConnection,
} from './connection.ts';
import { type CopyOf, judgeCopy } from './copy.ts';
import { notedDamage } from './damage.ts';
import {
  JournalDamagedError,
  JournalFormatError,
  JournalHeldError,
  JournalPlaceError,
} from './errors.ts';
import { bytesOf, headerProblem, isBlank, isNamedOurs } from './file-header.ts';
import { type Head, readHead } from './head.ts';
import { type Hold, takeHold } from './hold.ts';
import * as sql from './journal.sql.ts';
import type { Alarm } from './journal.ts';
import type { Mark } from './mark-format.ts';
import { migrate } from './migrate.ts';
import { describeHolder, isHeldHere, makeJournal, type Place, preparePlace } from './place.ts';
import { finishReplacing, freeName, replaceBroken } from './put-aside.ts';
import { readMark } from './read-mark.ts';
import { removeLeftLocks, shareFileLock } from './share-lock.ts';

export interface OpenPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly codec: Codec;
  /** Of larger files only the critical tables are read, unless something is known to be missing. */
  readonly checkBytesMax: number;
  /** What a copy is taken for: the journal itself, or another one, whose runs are the original's. */
  readonly copies: 'own' | 'aside';
}

export interface Opened {
  readonly connection: Connection;
  /** As it was found; a new journal's has boot 0. */
  readonly head: Head;
  /** What it is called from now on. */
  readonly id: string;
  readonly copyOf: CopyOf | undefined;
  /** What the process before has left; undefined where it left none, or is about another file. */
  readonly mark: Mark | undefined | 'damaged';
  /** Where the WAL is kept, as it was found, if something in it could not be reached. */
  readonly keptWal: string | undefined;
  readonly alarms: readonly Alarm[];
  /** False where it is too large for that, and only what a start relies on was. */
  readonly areEventsChecked: boolean;
  /** On the directory; to be let go when the connection is closed. */
  readonly hold: Hold;
}

type Found = Omit<Opened, 'hold' | 'id' | 'copyOf'>;

export function openJournal(place: Place, ports: OpenPorts): Opened {
  if (isHeldHere(place)) throw new JournalHeldError(place.directory, describeHolder(place));
  preparePlace(place);
  const hold = takeHold(place);
  try {
    makeJournal(place);
    const opened = openHeld(place, ports);
    return { ...opened, ...identify(place, ports, opened), hold };
  } catch (error) {
    hold.letGo();
    throw error;
  }
}

/** One that nothing was written to is no copy. */
function identify(
  place: Place,
  { copies, random }: OpenPorts,
  { head, alarms }: Found,
): Pick<Opened, 'id' | 'copyOf' | 'alarms'> {
  const asItIs = { id: head.id, copyOf: undefined, alarms };
  if (copies === 'own' || head.boot === 0) return asItIs;
  const { copyOf, isNew } = judgeCopy(place, head);
  if (!isNew) return { ...asItIs, copyOf };
  const id = random.hex(16);
  const message =
    `the data directory is a copy of journal ${head.id}, which may be alive elsewhere: this is ` +
    `journal ${id} now, and local runs of the original stay as they are; if the original is gone ` +
    'for good, stop this process and run `fleetq journal adopt`';
  return { id, copyOf, alarms: [...alarms, { kind: 'copied', message }] };
}

function openHeld(place: Place, ports: OpenPorts): Found {
  removeLeftLocks(place);
  const alarms: Alarm[] = finishReplacing(place);
  try {
    return { ...openWhole(place, ports), alarms };
  } catch (error) {
    if (isBusy(error)) throw new JournalHeldError(place.directory, describeHolder(place));
    if (!isSqlite(error)) throw error;
    if (isDiskFailure(error)) {
      throw new JournalPlaceError(`the journal ${place.journal} cannot be opened`, {
        cause: error,
        hint: 'look at free space and permissions of the data directory',
      });
    }
    refuseForeignFile(place, error as Error);
    alarms.push(replaceOrSay(place, ports, error as Error));
    return { ...openWhole(place, ports), alarms };
  }
}

function replaceOrSay(place: Place, ports: OpenPorts, damage: Error): Alarm {
  try {
    return replaceBroken(place, ports, damage);
  } catch (cause) {
    if (cause instanceof FleetqError) throw cause;
    throw new JournalDamagedError(
      `the journal ${place.journal} is damaged (${damage.message.slice(0, 200)}) and cannot be replaced`,
      { cause, hint: 'free space in the data directory and start again; nothing was changed' },
    );
  }
}

function openWhole(place: Place, ports: OpenPorts): Omit<Found, 'alarms'> {
  const problem = headerProblem(place.journal);
  if (problem !== undefined) {
    shareFileLock(place)();
    throw corrupt(problem);
  }
  const connection = openConnection(place.journal);
  try {
    const format = migrate(connection);
    const head = headOf(connection, format, ports);
    // Read under the lock: until then the one who held the journal may still have written it.
    const mark = readMark(place.mark);
    const isBehind = typeof mark === 'object' && mark.journalId === head.id && mark.lsn > head.lsn;
    const isSmall = statSync(place.journal).size <= ports.checkBytesMax;
    const areEventsChecked = isBehind || isSmall;
    const noted = notedDamage(place);
    if (noted !== undefined) throw corrupt(noted);
    refuseBroken(areEventsChecked ? integrityProblems(connection) : criticalProblems(connection));
    const keptWal = isBehind ? keepWal(place, ports) : undefined;
    return { connection, head, mark, keptWal, areEventsChecked };
  } catch (error) {
    if (isSqlite(error) && !isBusy(error) && !isDiskFailure(error)) keepWal(place, ports);
    connection.close();
    throw error;
  }
}

/**
 * What SQLite cannot reach in the WAL it overwrites, or deletes when it closes: a copy is kept. Only
 * of the WAL: the lock is on the database file, and closing that would drop it.
 */
function keepWal(place: Place, { clock }: OpenPorts): string | undefined {
  const wal = `${place.journal}-wal`;
  if (bytesOf(wal) === 0) return undefined;
  const to = `${freeName(place, isoTime(clock.now()))}-wal.found`;
  try {
    copyFileSync(wal, to);
    return to;
  } catch {
    return undefined;
  }
}

function headOf(connection: Connection, format: number, { clock, random }: OpenPorts): Head {
  const head = readHead(connection, format);
  if (head === 'damaged') throw corrupt('the head does not match its seal');
  if (head !== undefined) return head;
  const { has_content } = connection.prepare(sql.selectHasContent).get() as { has_content: number };
  if (has_content) throw corrupt('there are runs, and no head');
  return { id: random.hex(16), boot: 0, lsn: 0, createdAt: clock.now(), format };
}

function refuseBroken(problems: readonly string[]): void {
  if (problems.length > 0) throw corrupt(problems.join('; '));
}

/** Somebody's file of the same name is not ours to move. */
function refuseForeignFile(place: Place, cause: Error): void {
  if (isNamedOurs(place.journal) || existsSync(place.mark) || isBlank(place.journal)) return;
  throw new JournalFormatError(`the file ${place.journal} is not a FleetQ journal`, {
    cause,
    hint: 'choose another data directory',
  });
}

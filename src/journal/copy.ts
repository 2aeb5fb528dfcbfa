/**
 * Tells a data directory from a copy of it: put back from a backup, or carried to another host. The
 * original may be alive, or may have gone on since, so in a fleet a copy becomes a journal of its own,
 * and what it holds of local runs waits until somebody says that the original is gone for good.
 */
import { statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isoTime } from '../ground/index.ts';
import { takeHold } from './hold.ts';
import { type Place, placeOf, readHolder } from './place.ts';

/** The journal that this one was copied from, and how far it had come. */
export interface CopyOf {
  readonly journal: string;
  readonly lsn: number;
}

interface Holder {
  readonly file?: unknown;
  readonly copyOf?: CopyOf | undefined;
}

/**
 * A copy has neither the number nor the birth of the file it was made from; a moved disk has both.
 * Where the system knows no births, it says nothing, or the time of the last change.
 */
function fileMark(path: string): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `${ino}:${birthtimeNs === ctimeNs ? 0 : birthtimeNs}`;
}

function isOther(file: unknown, now: string): boolean {
  if (typeof file !== 'string') return false;
  const [[inode, born], [inodeNow, bornNow]] = [file.split(':'), now.split(':')];
  return inode !== inodeNow || (born !== bornNow && born !== '0' && bornNow !== '0');
}

function lastHolder(place: Place): Holder {
  try {
    const holder = JSON.parse(readHolder(place) ?? '') as Holder | null;
    return typeof holder === 'object' && holder ? holder : {};
  } catch {
    return {};
  }
}

/** What the journal is a copy of, found out now or before; `isNew` where it was found out now. */
export function judgeCopy(
  place: Place,
  head: { readonly id: string; readonly lsn: number },
): { readonly copyOf: CopyOf | undefined; readonly isNew: boolean } {
  const { file, copyOf } = lastHolder(place);
  if (!isOther(file, fileMark(place.journal))) return { copyOf, isNew: false };
  return { copyOf: { journal: head.id, lsn: head.lsn }, isNew: true };
}

/** Leaves the name of this process for the next one that comes and finds the place locked. */
export function writeHolder(place: Place, now: number, copyOf?: CopyOf | undefined): void {
  const who = { pid: process.pid, host: hostname(), since: isoTime(now) };
  const holder = { ...who, file: fileMark(place.journal), copyOf };
  try {
    writeFileSync(place.holder, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch {
    // On a full disk the lock stands without a name beside it.
  }
}

/** Says that there is no original any more: what is here goes on here. Answers whether it was a copy. */
export function ownJournal(directory: string, now: number): boolean {
  const place = placeOf(directory);
  const hold = takeHold(place);
  try {
    const { file, copyOf } = lastHolder(place);
    writeHolder(place, now);
    return copyOf !== undefined || isOther(file, fileMark(place.journal));
  } finally {
    hold.letGo();
  }
}

/**
 * Tells a data directory from a copy of it: put back from a backup, or carried to another host. The
 * original may be alive, or may have gone on since, so in a fleet a copy becomes a journal of its own,
 * and what it holds of local runs waits until somebody says that the original is gone for good.
 */
import { statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isoTime } from '../ground/index.ts';
import { takeHold, watchHolder } from './hold.ts';
import { kernelBoot } from './mark-format.ts';
import type { Opened } from './open-journal.ts';
import { type Place, placeOf, readHolder } from './place.ts';

/**
 * Which pods the lock of this disk proves dead: those that earlier processes here were. The lock says nothing
 * of a pod that had this journal on another disk, such as a clone of the volume, or on another host.
 */
export class Owners {
  /** Why the directory can no longer be taken for held by this process. */
  whyLost: () => Error | undefined;
  readonly #place: Place;
  readonly #now: number;
  readonly #opened: Pick<Opened, 'copyOf' | 'head' | 'hold'>;
  /** Nothing is known of the earlier processes, as in a directory that a backup has put back. */
  readonly #knowsNone: boolean;
  #pods: readonly string[];

  constructor(place: Place, now: number, opened: Pick<Opened, 'copyOf' | 'head' | 'hold'>) {
    this.#place = place;
    this.#now = now;
    this.#opened = opened;
    const { disk, pods = [] } = lastHolder(place);
    this.#knowsNone = disk === undefined && opened.head.boot > 0;
    this.#pods = disk && isSameDisk(disk, diskOf(place)) ? pods : [];
    this.whyLost = this.#write();
  }

  provesDead(pod: string): boolean {
    return this.#knowsNone || this.#pods.includes(pod);
  }

  /** From now on this disk proves the pod dead, once its process has ended. */
  add(pod: string): void {
    this.#pods = [...this.#pods, pod].slice(-PODS_MAX);
    this.whyLost = this.#write();
  }

  #write() {
    const { copyOf, hold } = this.#opened;
    writeHolder(this.#place, this.#now, { copyOf, pods: this.#pods });
    return watchHolder(this.#place, hold);
  }
}

/** More lives than anybody adopts from: of an older pod the store knows by its silence. */
const PODS_MAX = 64;

interface Disk {
  readonly device: string;
  readonly file: string;
  readonly host: string;
  readonly boot: string;
}

function diskOf({ journal }: Place): Disk {
  const device = String(statSync(journal, { bigint: true }).dev);
  return { device, file: fileMark(journal), host: hostname(), boot: kernelBoot() };
}

/** The same file, on a host that has been up since, or that bears the same name after it was started again. */
function isSameDisk(before: Disk, now: Disk): boolean {
  const isSameHost = before.boot === now.boot || before.host === now.host;
  return isSameHost && before.device === now.device && !isOther(before.file, now.file);
}

/** The journal that this one was copied from, and how far it had come. */
export interface CopyOf {
  readonly journal: string;
  readonly lsn: number;
}

interface Holder {
  readonly file?: unknown;
  readonly disk?: Disk | undefined;
  readonly pods?: readonly string[] | undefined;
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
export function writeHolder(place: Place, now: number, more: Omit<Holder, 'file'>): void {
  const who = { pid: process.pid, host: hostname(), since: isoTime(now) };
  const holder = { ...who, file: fileMark(place.journal), disk: diskOf(place), ...more };
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
    // Without its disk: the next process takes all that others were for dead.
    writeHolder(place, now, { disk: undefined });
    return copyOf !== undefined || isOther(file, fileMark(place.journal));
  } finally {
    hold.letGo();
  }
}

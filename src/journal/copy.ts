/**
 * Tells a data directory from a copy of it: put back from a backup, or carried to another host. The
 * original may be alive, or may have gone on since, so in a fleet a copy becomes a journal of its own,
 * and what it holds of local runs waits until somebody says that the original is gone for good.
 */
import { statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isoTime } from '../ground/index.ts';
import { type Hold, takeHold, watchHolder } from './hold.ts';
import type { JournalOwners } from './journal.ts';
import { kernelBoot } from './mark-format.ts';
import type { Opened } from './open-journal.ts';
import { type Place, placeOf, readHolder } from './place.ts';

/**
 * Which pods the lock of this disk proves dead: those that earlier processes here were. The lock says nothing
 * of a pod that had this journal on another disk, such as a clone of the volume, or on another host.
 */
export class Owners implements JournalOwners {
  /** Why the directory can no longer be taken for held by this process. */
  whyLost: () => Error | undefined;
  readonly #place: Place;
  readonly #holder: Holder;
  readonly #hold: Hold;
  /** Another process was seen at work with this journal: this one is a clone until a person adopts it. */
  #rival: Rival | undefined;
  /** Nothing is known of the earlier processes, as in a directory that a backup has put back. */
  readonly #knowsNone: boolean;
  #pods: readonly string[];

  constructor(place: Place, now: number, opened: Pick<Opened, 'copyOf' | 'head' | 'hold'>) {
    this.#place = place;
    this.#hold = opened.hold;
    this.#holder = { ...holderOf(place, now), copyOf: opened.copyOf };
    const last = lastHolder(place);
    this.#knowsNone = last.disk === undefined && opened.head.boot > 0;
    const isSame = isSameDisk(last, this.#holder);
    this.#pods = isSame ? (last.pods ?? []) : [];
    this.#rival = isSame ? last.rival : undefined;
    this.whyLost = this.#write();
  }

  provesDead(pod: string): boolean {
    return this.#knowsNone || this.#pods.includes(pod);
  }

  get rival(): Rival | undefined {
    return this.#rival;
  }

  noteRival(rival: Rival): void {
    if (this.#rival?.pod === rival.pod || this.whyLost()) return;
    this.#rival = rival;
    this.whyLost = this.#write();
  }

  /** From now on this disk proves these pods dead, once their processes have ended. */
  add(pods: readonly string[]): void {
    const added = pods.filter((pod) => !this.#pods.includes(pod));
    // The name of a process that has taken the directory over is not written over.
    if (added.length === 0 || this.whyLost()) return;
    this.#pods = [...this.#pods, ...added].slice(-PODS_MAX);
    this.whyLost = this.#write();
  }

  #write() {
    writeHolder(this.#place, { ...this.#holder, pods: this.#pods, rival: this.#rival });
    return watchHolder(this.#place, this.#hold);
  }
}

/** More lives than anybody adopts from: of an older pod the store knows by its silence. */
const PODS_MAX = 64;

/** The same file, on a host that has been up since, or that has the same name after a restart. */
function isSameDisk(before: Holder, now: Holder): boolean {
  const [was, is] = [before.disk, now.disk];
  if (!was || !is || was.device !== is.device) return false;
  const isSameHost = was.boot === is.boot || before.host === now.host;
  return isSameHost && !isCopy(before, now.file);
}

/** The journal that this one was copied from, and how far it had come. */
export interface CopyOf {
  readonly journal: string;
  readonly lsn: number;
}

interface Holder {
  readonly host?: string;
  readonly file?: unknown;
  /** What is about to take the place of that file, which is damaged. */
  readonly successor?: unknown;
  /** Where the file is: the device that it is on, and the start of the host's kernel. */
  readonly disk?: { readonly device: string; readonly boot: string } | undefined;
  /** The pods that processes on this disk have been. */
  readonly pods?: readonly string[] | undefined;
  readonly copyOf?: CopyOf | undefined;
  readonly rival?: Rival | undefined;
}

/** A pod that was seen at work with this journal, in another process. */
export interface Rival {
  readonly pod: string;
  readonly name: string;
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

/** A file that neither the last holder had nor made to take the place of its own. */
function isCopy({ file, successor }: Holder, now: unknown): boolean {
  const found = String(now);
  return isOther(file, found) && (successor === undefined || isOther(successor, found));
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
  const last = lastHolder(place);
  if (!isCopy(last, fileMark(place.journal))) return { copyOf: last.copyOf, isNew: false };
  return { copyOf: { journal: head.id, lsn: head.lsn }, isNew: true };
}

/** The journal's file is about to be replaced by this one, which is no copy unless the journal is one. */
export function noteSuccessor(place: Place, file: string): void {
  const last = lastHolder(place);
  if (last.file === undefined || isCopy(last, fileMark(place.journal))) return;
  writeHolder(place, { ...last, file: fileMark(place.journal), successor: fileMark(file) });
}

/** What this process leaves for the next one that comes and finds the place locked. */
function holderOf({ journal }: Place, now: number): Holder {
  const disk = { device: String(statSync(journal, { bigint: true }).dev), boot: kernelBoot() };
  const who = { pid: process.pid, host: hostname(), since: isoTime(now) };
  return { ...who, file: fileMark(journal), disk };
}

function writeHolder({ holder: path }: Place, holder: Holder): void {
  try {
    writeFileSync(path, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch {
    // On a full disk the lock stands without a name beside it.
  }
}

/** Says that there is no original any more: what is here goes on here. Answers whether it was a copy. */
export function adoptJournal(directory: string, now: number): boolean {
  const place = placeOf(directory);
  const hold = takeHold(place);
  try {
    const last = lastHolder(place);
    // Without its disk: the next process takes all that others were for dead.
    writeHolder(place, { ...holderOf(place, now), disk: undefined });
    const isKnown = last.copyOf !== undefined || last.rival !== undefined;
    return isKnown || isCopy(last, fileMark(place.journal));
  } finally {
    hold.letGo();
  }
}

/**
 * A disk as a file system may treat it: what was synced is there; of what came after, each write is
 * there, not there, or there in some of its sectors; names change in the order they were changed in,
 * up to some point. Two files do not wait for each other.
 */
import type { Op } from './recording.ts';

export type Files = ReadonlyMap<string, Buffer>;
type Change = Extract<Op, { op: 'write' | 'truncate' }>;
type Rename = { readonly name: string; readonly inode: Inode | undefined };

interface Inode {
  /** What has been synced. */
  bytes: Buffer;
  pending: Change[];
}

/** What becomes of the things that were not synced. */
export interface Fate {
  /** Of the nth change of the file, counted over all that is pending: which sectors of it are there. */
  readonly keeps: (
    file: string,
    index: number,
    count: number,
  ) => boolean | ((sector: number) => boolean);
  /** How many of the pending changes of names are there. */
  readonly names: (count: number) => number;
  /** Whether a file has the size that its missing writes would have given it, filled with zeros. */
  readonly isGrown?: boolean;
}

export const SECTOR_BYTES = 512;

export class Disk {
  /** As the process sees it. */
  readonly #now = new Map<string, Inode>();
  /** As it is once power is lost, and what would change it. */
  readonly #synced = new Map<string, Inode>();
  #pendingNames: Rename[][] = [];

  apply(op: Op): void {
    switch (op.op) {
      case 'write':
      case 'truncate':
        this.#inode(op.file).pending.push(op);
        break;
      case 'sync': {
        const inode = this.#inode(op.file);
        inode.bytes = inode.pending.reduce((bytes, change) => changed(bytes, change), inode.bytes);
        inode.pending = [];
        break;
      }
      case 'create': {
        const there = this.#now.get(op.file);
        if (there) there.pending.push({ op: 'truncate', file: op.file, bytes: 0 });
        else this.#name([{ name: op.file, inode: { bytes: Buffer.alloc(0), pending: [] } }]);
        break;
      }
      case 'unlink':
        this.#name([{ name: op.file, inode: undefined }]);
        break;
      case 'rename':
        this.#name([
          { name: op.to, inode: this.#inode(op.file) },
          { name: op.file, inode: undefined },
        ]);
        break;
      case 'syncNames':
        for (const change of this.#pendingNames) put(this.#synced, change);
        this.#pendingNames = [];
        break;
      case 'ack':
        break;
    }
  }

  get hasPending(): boolean {
    const inodes = [...this.#now.values(), ...this.#synced.values()];
    return this.#pendingNames.length > 0 || inodes.some(({ pending }) => pending.length > 0);
  }

  /** The files after a loss of power now. */
  image({ keeps, names, isGrown = false }: Fate): Files {
    const found = new Map(this.#synced);
    for (const change of this.#pendingNames.slice(0, names(this.#pendingNames.length))) {
      put(found, change);
    }
    const files = new Map<string, Buffer>();
    for (const [name, { bytes, pending }] of found) {
      files.set(
        name,
        pending.reduce((before, change, index) => {
          const kept = keeps(name, index, pending.length);
          if (kept === true) return changed(before, change);
          if (change.op === 'truncate' || kept === false)
            return isGrown ? grown(before, change) : before;
          return torn(before, change, kept);
        }, bytes),
      );
    }
    return files;
  }

  #inode(file: string): Inode {
    const inode = this.#now.get(file);
    if (!inode) throw new Error(`${file} was never created`);
    return inode;
  }

  #name(change: Rename[]): void {
    put(this.#now, change);
    this.#pendingNames.push(change);
  }
}

function put(names: Map<string, Inode>, change: readonly Rename[]): void {
  for (const { name, inode } of change) {
    if (inode) names.set(name, inode);
    else names.delete(name);
  }
}

function changed(before: Buffer, change: Change): Buffer {
  if (change.op === 'write') return torn(before, change, () => true);
  const after = Buffer.alloc(change.bytes);
  before.copy(after);
  return after;
}

function grown(before: Buffer, change: Change): Buffer {
  const size = change.op === 'write' ? change.at + change.bytes.length : change.bytes;
  return Buffer.concat([before, Buffer.alloc(Math.max(0, size - before.length))]);
}

function torn(
  before: Buffer,
  { at, bytes }: Extract<Change, { op: 'write' }>,
  isKept: (sector: number) => boolean,
): Buffer {
  let after = Buffer.from(before);
  const end = at + bytes.length;
  for (let from = at; from < end; ) {
    const sector = Math.floor(from / SECTOR_BYTES);
    const to = Math.min(end, (sector + 1) * SECTOR_BYTES);
    if (isKept(sector)) {
      if (after.length < to) after = Buffer.concat([after, Buffer.alloc(to - after.length)]);
      bytes.copy(after, from, from - at, to - at);
    }
    from = to;
  }
  return after;
}

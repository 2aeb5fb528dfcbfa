/**
 * One run that somebody follows: its records as they count now, and a window of them in memory, which
 * all who follow it are served from. Whoever is before the window needs another look at the source.
 *
 *   0 1 2 3 4 5 6 7 8 9      the run's records; the last is its head
 *         [3 4 5 6]          the window
 *   ^a      ^b        ^c     a and c need a look from there on, b is told 5 next
 *
 * Records may cease to count: whoever takes a run over goes on from what the store has of it. Who was
 * told others is told to go back to where the two part, or to the beginning where nobody knows that.
 */
import type { RunId } from '../../ground/index.ts';
import { CHAIN_START, type StoredRecord } from '../../journal/index.ts';
import type { TaskGlance } from '../../store/index.ts';
import { HASH_LENGTH, type Position } from './cursor.ts';
import { FIRST_GENERATION } from './sources.ts';

export type Step =
  | { readonly kind: 'tell'; readonly record: StoredRecord; readonly position: Position }
  /** Forget what came after this record. */
  | { readonly kind: 'rewind'; readonly to: Position; readonly why: 'redriven' | 'replaced' }
  /** What comes next is not in memory. */
  | { readonly kind: 'look' }
  /** It has everything, or more than is known here. */
  | { readonly kind: 'wait' };

/** The last record, as far as it has to be known. */
type Head = Pick<StoredRecord, 'seq' | 'hash' | 'epoch'>;

/** So many records that no longer count are remembered, to know where they parted. */
const LEFT_MAX = 5_000;

export class RunLine {
  readonly run: RunId;
  generation = FIRST_GENERATION;
  /** As the store told it last; undefined where it knows none. */
  task: TaskGlance | undefined;
  /** Nothing was read yet, or something has changed that is not in memory. */
  isStale = true;
  #head: Head | undefined;
  #hasEnded = false;
  #window: StoredRecord[] = [];
  #windowPrevHash: string = CHAIN_START;
  #windowBytes = 0;
  /** Of records that no longer count: the last one before them that does. */
  readonly #left = new Map<string, number>();

  constructor(run: RunId) {
    this.run = run;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get start(): Position {
    return { generation: this.generation, epoch: 0, seq: -1, hash: '' };
  }

  /** A record that was just written behind the head. False where it does not follow. */
  append(record: StoredRecord, prevHash: string, hasEnded: boolean, bytesMax: number): boolean {
    const { hash = CHAIN_START, seq = -1 } = this.#head ?? {};
    if (this.isStale || prevHash !== hash || record.seq !== seq + 1) return false;
    const isWindowAtHead = this.#windowEnd === seq;
    this.#head = record;
    this.#hasEnded = hasEnded;
    if (!isWindowAtHead) return true;
    if (this.#window.length === 0) this.#windowPrevHash = prevHash;
    this.#keep(record);
    while (this.#windowBytes > bytesMax && this.#window.length > 1) this.#dropFirst();
    return true;
  }

  /**
   * What the source has: the records after `from`, behind one of that hash, and how the run stands. The
   * window begins there, and ends where it is large enough.
   */
  replace(
    found: {
      readonly generation: number;
      readonly prevHash: string;
      readonly records: readonly StoredRecord[];
      readonly head: Head | undefined;
      readonly hasEnded: boolean;
    },
    bytesMax: number,
  ): void {
    if (found.generation === this.generation) this.#rememberLeft(found);
    else this.#left.clear();
    this.generation = found.generation;
    this.#head = found.head;
    this.#hasEnded = found.hasEnded;
    this.isStale = false;
    this.#window = [];
    this.#windowBytes = 0;
    this.#windowPrevHash = found.prevHash;
    for (const record of found.records) {
      this.#keep(record);
      if (this.#windowBytes > bytesMax) break;
    }
  }

  /** What whoever is there is told next. */
  after(position: Position): Step {
    if (position.generation !== this.generation && position.seq >= 0) {
      const isNewer = this.generation > position.generation;
      return isNewer ? { kind: 'rewind', to: this.start, why: 'redriven' } : { kind: 'wait' };
    }
    const { seq = -1, epoch = 0 } = this.#head ?? {};
    if (position.seq > seq) {
      // A later owner has written less than that, or nobody will write any more.
      const isLeft = this.#left.has(position.hash) || epoch > position.epoch || this.#hasEnded;
      return isLeft ? this.#rewind(position) : { kind: 'wait' };
    }
    const hash = this.#hashAt(position.seq);
    if (hash === undefined) return { kind: 'look' };
    if (!isSame(hash, position.hash)) return this.#rewind(position);
    if (position.seq === seq) return { kind: 'wait' };
    const record = this.#window[position.seq + 1 - this.#windowStart];
    return record
      ? { kind: 'tell', record, position: positionOf(this.generation, record) }
      : { kind: 'look' };
  }

  #rewind({ hash }: Position): Step {
    const seq = this.#left.get(hash) ?? -1;
    const known = this.#hashAt(seq);
    // Where that record is not in memory, the beginning is.
    if (seq < 0 || known === undefined) return { kind: 'rewind', to: this.start, why: 'replaced' };
    const record = this.#window[seq - this.#windowStart];
    const to = record ? positionOf(this.generation, record) : this.start;
    return { kind: 'rewind', to, why: 'replaced' };
  }

  get #windowStart(): number {
    return this.#window[0]?.seq ?? (this.#head?.seq ?? -1) + 1;
  }

  get #windowEnd(): number {
    return this.#window.at(-1)?.seq ?? this.#head?.seq ?? -1;
  }

  /** Of a record in the window, or of the one before it; undefined elsewhere. */
  #hashAt(seq: number): string | undefined {
    if (seq === -1) return this.#windowStart === 0 || !this.#head ? CHAIN_START : undefined;
    if (seq === this.#head?.seq) return this.#head.hash;
    if (seq === this.#windowStart - 1) return this.#windowPrevHash;
    return this.#window[seq - this.#windowStart]?.hash;
  }

  /**
   * What was told from here and does not count any more parted behind the last record that both have.
   * So did, at the latest, whatever had parted before: where both have none, nobody knows.
   */
  #rememberLeft(found: {
    readonly prevHash: string;
    readonly records: readonly StoredRecord[];
  }): void {
    const { prevHash, records } = found;
    const now = new Map(records.map(({ seq, hash }) => [seq, hash]));
    if (records[0]) now.set(records[0].seq - 1, prevHash);
    const common = this.#window.findLast(({ seq, hash }) => now.get(seq) === hash)?.seq;
    if (common === undefined || this.#left.size > LEFT_MAX) this.#left.clear();
    if (common === undefined) return;
    for (const [hash, seq] of this.#left) this.#left.set(hash, Math.min(seq, common));
    const last = records.at(-1)?.seq ?? -1;
    for (const { seq, hash } of this.#window) {
      const isGone = seq > common && (now.has(seq) || seq > last);
      if (isGone) this.#left.set(hash.slice(0, HASH_LENGTH), common);
    }
    for (const { hash } of records) this.#left.delete(hash.slice(0, HASH_LENGTH));
  }

  #keep(record: StoredRecord): void {
    this.#window.push(record);
    this.#windowBytes += sizeOf(record);
  }

  #dropFirst(): void {
    const first = this.#window.shift()!;
    this.#windowBytes -= sizeOf(first);
    this.#windowPrevHash = first.hash;
  }
}

export function positionOf(
  generation: number,
  { epoch, seq, hash }: Pick<StoredRecord, 'epoch' | 'seq' | 'hash'>,
): Position {
  return { generation, epoch, seq, hash: hash.slice(0, HASH_LENGTH) };
}

/** Who names only a number is believed. */
function isSame(hash: string, told: string): boolean {
  return told === ANY_HASH || hash.slice(0, HASH_LENGTH) === told;
}

/** Of a client that knows no hashes. */
export const ANY_HASH = '*';

const sizes = new WeakMap<StoredRecord, number>();

function sizeOf(record: StoredRecord): number {
  let size = sizes.get(record);
  if (size === undefined) {
    size = JSON.stringify(record).length;
    sizes.set(record, size);
  }
  return size;
}

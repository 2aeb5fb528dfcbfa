/**
 * The disk of a simulated host: what a journal has made durable, and the mark beside it. It outlives
 * processes; it can be full, lose its last transactions, and its host can lose power, which leaves the
 * transactions and makes the mark worthless.
 */
import type { RunId } from '../../src/ground/index.ts';
import type { Rival } from '../../src/journal/copy.ts';
import type { EventRow, Occupancy } from '../../src/journal/index.ts';
import type { JournalOwners } from '../../src/journal/journal.ts';
import type { Inherited, Mark } from '../../src/journal/mark-format.ts';
import type { RawRunRow } from '../../src/journal/run-row.ts';

/** How many of its last transactions a disk can be made to lose. */
const UNDO_COUNT_MAX = 40;

/** `tears`: half of it is written when the power goes; its checksums end the file before it. */
export type CommitFate = 'fine' | 'diesBefore' | 'diesAfter' | 'tears';

/** The pods that processes on this disk have been, and who was seen at work with the same journal. */
class Owners implements JournalOwners {
  readonly #pods = new Set<string>();
  rival: Rival | undefined;

  provesDead(pod: string): boolean {
    return this.#pods.has(pod);
  }

  add(pods: readonly string[]): void {
    for (const pod of pods) this.#pods.add(pod);
  }

  noteRival(rival: Rival): void {
    this.rival = rival;
  }
}

export class Disk {
  readonly id: string;
  readonly createdAt: number;
  boot = 0;
  lsn = 0;
  readonly runs = new Map<string, RawRunRow>();
  readonly events = new Map<string, EventRow[]>();
  readonly timers = new Map<string, number>();
  readonly owners = new Owners();
  #mark: Omit<Mark, 'slots' | 'lsn'> | undefined;
  #markLsn = 0;
  readonly #slots = new Map<number, Occupancy>();
  #undo: (() => void)[] = [];
  /** By run and hash, all that was ever on it, and not lost. */
  #had = new Set<string>();
  #added: EventRow[] = [];
  /** How often it has lost what it had acknowledged. */
  lossCount = 0;
  /** Whether nobody could tell any more what its processes were doing when they ended. */
  hasLostMark = false;
  isFull = false;
  /** No commit succeeds until a start has put the file aside. */
  isDamaged = false;
  /** So many syncs to come are answered with an error. */
  failingSyncs = 0;
  /** The process does not outlive the first of those. */
  diesOfSync = false;
  /** What was written when a sync failed: a process that dies now may leave it behind, or not. */
  unsynced: (() => void) | undefined;
  /** A file lock: one process has the journal at a time. */
  isHeld = false;
  /** What becomes of the process at its next commit. */
  nextFate: CommitFate = 'fine';

  constructor(id: string, createdAt: number) {
    this.id = id;
    this.createdAt = createdAt;
  }

  /** All of what `act` does to it, as one transaction that can be lost later. */
  transact(act: () => void): void {
    const [lsn, boot] = [this.lsn, this.boot];
    const touched = new Map<
      string,
      readonly [RawRunRow | undefined, EventRow[], number | undefined]
    >();
    this.#touch = (run) => {
      if (touched.has(run)) return;
      const events = [...(this.events.get(run) ?? [])];
      touched.set(run, [this.runs.get(run), events, this.timers.get(run)]);
    };
    const undo = () => {
      this.lsn = lsn;
      this.boot = boot;
      for (const [run, [row, events, timer]] of touched) {
        put(this.runs, run, row);
        put(this.events, run, events.length > 0 ? events : undefined);
        put(this.timers, run, timer);
      }
    };
    this.#added = [];
    try {
      act();
    } catch (error) {
      undo();
      throw error;
    }
    for (const { run, hash } of this.#added) this.#had.add(`${run} ${hash}`);
    this.#undo.push(undo);
    if (this.#undo.length > UNDO_COUNT_MAX) this.#undo.shift();
  }

  #touch: (run: string) => void = () => undefined;

  setRow(row: RawRunRow): void {
    this.#touch(row.id);
    this.runs.set(row.id, row);
  }

  addEvent(row: EventRow): void {
    this.#touch(row.run);
    const events = this.events.get(row.run) ?? [];
    if (row.seq !== events.length) throw new Error(`record ${row.seq} of ${row.run} does not fit`);
    this.events.set(row.run, [...events, row]);
    this.#added.push(row);
  }

  hadRecord(run: string, hash: string): boolean {
    return this.#had.has(`${run} ${hash}`);
  }

  setTimer(run: string, dueAt: number | undefined): void {
    this.#touch(run);
    put(this.timers, run, dueAt);
  }

  removeEvents(run: string): void {
    this.#touch(run);
    this.events.delete(run);
  }

  removeRun(run: string): void {
    this.#touch(run);
    this.events.delete(run);
    this.runs.delete(run);
  }

  /** It acknowledged what it did not keep, or was put back to an earlier state. */
  loseLast(count: number): number {
    const lost = this.#undo.splice(Math.max(0, this.#undo.length - count));
    for (const undo of lost.reverse()) undo();
    // What came after them, and was never known to be there, cannot have stayed.
    this.unsynced = undefined;
    this.lossCount += 1;
    this.#had = new Set([...this.events.values()].flat().map(({ run, hash }) => `${run} ${hash}`));
    return lost.length;
  }

  /** What was in the page cache is gone, and the mark was never synced. */
  losePower(): void {
    this.hasLostMark = true;
    if (this.#mark) this.#mark = { ...this.#mark, isComplete: false };
  }

  /** A start puts a damaged file aside, and keeps what it can read of it. */
  putAside(lost: number): void {
    this.isDamaged = false;
    this.loseLast(lost);
    this.losePower();
  }

  /** As a snapshot of its volume is, on another device: that proves no pod dead. */
  cloned(): Disk {
    const clone = new Disk(this.id, this.createdAt);
    Object.assign(clone, { boot: this.boot, lsn: this.lsn });
    for (const [run, row] of this.runs) clone.runs.set(run, row);
    for (const [run, events] of this.events) clone.events.set(run, events);
    for (const [run, dueAt] of this.timers) clone.timers.set(run, dueAt);
    clone.#mark = this.#mark;
    clone.#markLsn = this.#markLsn;
    for (const [slot, occupancy] of this.#slots) clone.#slots.set(slot, occupancy);
    clone.#had = new Set(this.#had);
    return clone;
  }

  get mark(): Mark | undefined {
    if (!this.#mark) return undefined;
    const slots = new Map<RunId, number>();
    for (const { run, seq } of this.#slots.values()) {
      slots.set(run, Math.max(seq, slots.get(run) ?? 0));
    }
    return { ...this.#mark, slots, lsn: this.#markLsn };
  }

  renewMark(unknownUntil: number, inherited: readonly Inherited[]): void {
    this.#mark = { journalId: this.id, isComplete: true, unknownUntil, inherited };
    this.#markLsn = this.lsn;
    this.#slots.clear();
  }

  advanceMark(): void {
    this.#markLsn = this.lsn;
  }

  occupy(occupancies: readonly Occupancy[]): void {
    for (const occupancy of occupancies) this.#slots.set(occupancy.slot, occupancy);
  }

  vacate(slots?: readonly number[]): void {
    if (!slots) this.#slots.clear();
    for (const slot of slots ?? []) this.#slots.delete(slot);
  }
}

function put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

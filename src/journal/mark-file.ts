/**
 * A small file beside the journal, written without fsync after every commit: how far the journal had
 * come, and what was being executed. It survives the death of the process, so the next one can tell
 *  - that the journal has lost records it once had (a truncated or damaged file), and
 *  - which runs were really inside a phase, and which were merely waiting for a slot.
 * After the death of the machine it may be older than the journal; then it proves nothing, says so by
 * the kernel's boot id, and the journal's own order of writes has to do.
 *
 * Who takes the file over carries forward what it has not dealt with yet: it may die before it does.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { shortId } from '../ground/index.ts';
import type { Occupancy } from './journal.ts';
import {
  BOOT_AT,
  CRC_AT,
  HEADER_BYTES,
  INHERITED_AT,
  type Inherited,
  kernelBoot,
  LSN_AT,
  MAGIC,
  type Mark,
  SLOT_BYTES,
  SLOT_USED,
  SLOTS_AT,
  sumOf,
  UNKNOWN_AT,
} from './mark-format.ts';
import { syncDirectory } from './place.ts';

export type NewMark = Pick<Mark, 'journalId' | 'lsn' | 'unknownUntil' | 'inherited'>;

export class MarkFile {
  readonly #file: string;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #slotsFrom: number;
  #fd: number | undefined;
  #slots: Buffer = Buffer.alloc(0);
  #slotCount = 0;

  /** Takes the file's place at once, so that no moment is without evidence. */
  constructor(file: string, { journalId, lsn, unknownUntil, inherited }: NewMark) {
    this.#file = file;
    this.#slotsFrom = HEADER_BYTES + inherited.length * SLOT_BYTES;
    this.#header.write(MAGIC, 0, 'latin1');
    this.#header.write(journalId, 8, 32, 'latin1');
    this.#header.write(kernelBoot(), BOOT_AT, 36, 'latin1');
    this.#header.writeBigUInt64LE(BigInt(unknownUntil), UNKNOWN_AT);
    this.#header.writeUInt32LE(inherited.length, INHERITED_AT);
    this.#seal(lsn);
    try {
      this.#fd = this.#replace(wholeOf(this.#header, inherited));
    } catch {
      this.#giveUp();
    }
  }

  #replace(bytes: Buffer): number {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const fd = openSync(`${this.#file}.new`, flags, 0o600);
    try {
      if (writeSync(fd, bytes, 0, bytes.length, 0) < bytes.length) throw new Error('no space');
      fsyncSync(fd);
      renameSync(`${this.#file}.new`, this.#file);
      // A mark whose name a power loss has taken would be missed, and cause an alarm.
      syncDirectory(dirname(this.#file));
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #seal(lsn: number): void {
    this.#header.writeBigUInt64LE(BigInt(lsn), LSN_AT);
    this.#header.writeUInt32LE(this.#slotCount, SLOTS_AT);
    this.#header.writeUInt32LE(crc32(this.#header.subarray(0, CRC_AT)), CRC_AT);
  }

  advance(lsn: number): void {
    this.#seal(lsn);
    // A mark that cannot be written stays behind, which weakens what it proves and is no lie.
    this.#write(this.#header, 0, HEADER_BYTES, 0);
  }

  /** Writes the stretch of slots that these lie in, all at once. */
  occupy(occupancies: readonly Occupancy[]): void {
    let first = Number.POSITIVE_INFINITY;
    let last = -1;
    for (const { slot, run: id, seq } of occupancies) {
      const run = shortId(id);
      this.#makeRoom(slot);
      const at = slot * SLOT_BYTES;
      this.#slots.write(run, at, 26, 'latin1');
      this.#slots.writeUInt32LE(seq, at + 26);
      this.#slots.writeUInt32LE(sumOf(run, seq), at + SLOT_USED);
      first = Math.min(first, slot);
      last = Math.max(last, slot);
    }
    if (last < 0) return;
    const from = first * SLOT_BYTES;
    const bytes = (last - first + 1) * SLOT_BYTES;
    if (!this.#write(this.#slots, from, bytes, this.#slotsFrom + from)) return this.#giveUp();
    if (last < this.#slotCount) return;
    // Counted after they are there, so that a file which was cut short is told from a short one.
    this.#slotCount = last + 1;
    this.#seal(Number(this.#header.readBigUInt64LE(LSN_AT)));
    if (!this.#write(this.#header, 0, HEADER_BYTES, 0)) this.#giveUp();
  }

  #makeRoom(slot: number): void {
    if ((slot + 1) * SLOT_BYTES <= this.#slots.length) return;
    const larger = Buffer.alloc(Math.max(64, (slot + 1) * 2) * SLOT_BYTES);
    this.#slots.copy(larger);
    this.#slots = larger;
  }

  /** Empties these slots, or all; what was inherited says by itself whether it still counts. */
  vacate(slots?: readonly number[] | undefined): void {
    if (this.#fd === undefined) return;
    for (const slot of slots ?? []) {
      const at = slot * SLOT_BYTES;
      this.#slots.fill(0, at, at + SLOT_BYTES);
      if (!this.#write(this.#slots, at, SLOT_BYTES, this.#slotsFrom + at)) return this.#giveUp();
    }
    if (slots) return;
    this.#slots.fill(0);
    this.#slotCount = 0;
    this.advance(Number(this.#header.readBigUInt64LE(LSN_AT)));
    try {
      ftruncateSync(this.#fd, this.#slotsFrom);
    } catch {
      this.#giveUp();
    }
  }

  #write(bytes: Buffer, from: number, count: number, at: number): boolean {
    if (this.#fd === undefined) return true;
    try {
      return writeSync(this.#fd, bytes, from, count, at) === count;
    } catch {
      return false;
    }
  }

  /** A slot could not be noted: no mark at all is better than one that is believed to be whole. */
  #giveUp(): void {
    this.close();
    this.#fd = undefined;
    try {
      unlinkSync(this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function wholeOf(header: Buffer, inherited: readonly Inherited[]): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + inherited.length * SLOT_BYTES);
  header.copy(bytes);
  let at = HEADER_BYTES;
  for (const { run: id, seq, lastSeq } of inherited) {
    const run = shortId(id);
    bytes.write(run, at, 26, 'latin1');
    bytes.writeUInt32LE(seq, at + 26);
    bytes.writeUInt32LE(sumOf(run, seq, lastSeq), at + SLOT_USED);
    bytes.writeUInt32LE(lastSeq, at + SLOT_USED + 4);
    at += SLOT_BYTES;
  }
  return bytes;
}

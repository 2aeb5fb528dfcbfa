/**
 * A small file beside the journal, written without fsync after every commit: how far the journal had
 * come, and what was being executed. It survives the death of the process, so the next one can tell
 *  - that the journal has lost records it once had (a truncated or damaged file), and
 *  - which runs were really inside a phase, and which were merely waiting for a slot.
 * After the death of the machine it may be older than the journal; then it proves nothing, says so by
 * the kernel's boot id, and the journal's own order of writes has to do.
 *
 *   header  magic 8 · journal id 32 · kernel boot 36 · lsn 8 · crc 4
 *   slot n  run id 26 · seq 4 · crc 4, each in 48 bytes
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { isRunId, type RunId } from '../ground/index.ts';
import type { Evidence } from './journal.ts';

const MAGIC = 'FQMARK1\n';
const HEADER_BYTES = 128;
const HEADER_USED = 8 + 32 + 36 + 8;
const SLOT_BYTES = 48;
const SLOT_USED = 26 + 4;
const SLOT_COUNT_MAX = 1_000_000;

export interface Mark {
  readonly journalId: string;
  readonly lsn: number;
  readonly evidence: Evidence;
}

export class MarkFile {
  readonly #fd: number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #slot = Buffer.alloc(SLOT_BYTES);

  /** Takes over the file for the journal `journalId`; what it said before is read beforehand. */
  constructor(file: string, journalId: string) {
    this.#fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    ftruncateSync(this.#fd, HEADER_BYTES);
    this.#header.write(MAGIC, 0, 'latin1');
    this.#header.write(journalId, 8, 32, 'latin1');
    this.#header.write(kernelBoot(), 40, 36, 'latin1');
  }

  advance(lsn: number): void {
    this.#header.writeBigUInt64LE(BigInt(lsn), 76);
    this.#header.writeUInt32LE(crc32(this.#header.subarray(0, HEADER_USED)), HEADER_USED);
    writeSync(this.#fd, this.#header, 0, HEADER_BYTES, 0);
  }

  occupy(slot: number, run: RunId, seq: number): void {
    this.#slot.write(run, 0, 26, 'latin1');
    this.#slot.writeUInt32LE(seq, 26);
    this.#slot.writeUInt32LE(crc32(this.#slot.subarray(0, SLOT_USED)), SLOT_USED);
    writeSync(this.#fd, this.#slot, 0, SLOT_BYTES, HEADER_BYTES + slot * SLOT_BYTES);
  }

  vacate(): void {
    ftruncateSync(this.#fd, HEADER_BYTES);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** What the mark says; undefined where there is none, 'damaged' where it cannot be read. */
export function readMark(file: string): Mark | undefined | 'damaged' {
  let bytes: Buffer;
  try {
    bytes = readWhole(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // Made, but never written: the process died between the two.
  if (bytes.length === 0 || bytes.subarray(0, HEADER_BYTES).every((byte) => byte === 0))
    return undefined;
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 8) !== MAGIC) return 'damaged';
  if (bytes.readUInt32LE(HEADER_USED) !== crc32(bytes.subarray(0, HEADER_USED))) return 'damaged';
  return {
    journalId: bytes.toString('latin1', 8, 40),
    lsn: Number(bytes.readBigUInt64LE(76)),
    evidence: readSlots(bytes, isThisBoot(bytes.toString('latin1', 40, 76))),
  };
}

function readSlots(bytes: Buffer, isSameBoot: boolean): Evidence {
  const occupied = new Map<RunId, number>();
  let isComplete = isSameBoot;
  const count = Math.min(SLOT_COUNT_MAX, Math.floor((bytes.length - HEADER_BYTES) / SLOT_BYTES));
  for (let slot = 0; slot < count; slot++) {
    const at = HEADER_BYTES + slot * SLOT_BYTES;
    const used = bytes.subarray(at, at + SLOT_USED);
    if (used.every((byte) => byte === 0)) continue;
    const run = used.toString('latin1', 0, 26);
    if (bytes.readUInt32LE(at + SLOT_USED) !== crc32(used) || !isRunId(run)) isComplete = false;
    else occupied.set(run, Math.max(used.readUInt32LE(26), occupied.get(run) ?? 0));
  }
  return { isComplete, occupied };
}

function readWhole(file: string): Buffer {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    readSync(fd, bytes, 0, bytes.length, 0);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

let boot: string | undefined;
/** An id of this boot of the kernel: page cache written before another boot may be lost. */
function kernelBoot(): string {
  boot ??= readBootId();
  return boot;
}

function isThisBoot(written: string): boolean {
  return written === kernelBoot() && written.trim() !== 'unknown';
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().padEnd(36).slice(0, 36);
  } catch {
    return 'unknown'.padEnd(36);
  }
}

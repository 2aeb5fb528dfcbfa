/** Reads what the process before has left in its mark. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { longId, type RunId } from '../ground/index.ts';
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
  NO_BOOT,
  SLOT_BYTES,
  SLOT_USED,
  SLOTS_AT,
  sumOf,
  UNKNOWN_AT,
} from './mark-format.ts';

const SLOT_COUNT_MAX = 1_000_000;
const NOBODY = Buffer.alloc(SLOT_USED + 4);

/** What the mark says; undefined where there is none, 'damaged' where it cannot be read. */
export function readMark(file: string): Mark | undefined | 'damaged' {
  let bytes: Buffer;
  try {
    bytes = readWhole(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 8) !== MAGIC) return 'damaged';
  if (bytes.readUInt32LE(CRC_AT) !== crc32(bytes.subarray(0, CRC_AT))) return 'damaged';
  const unknownUntil = Number(bytes.readBigUInt64LE(UNKNOWN_AT));
  // One text for all ids in it: to ask for each of ten thousand takes its time before a start.
  const text = bytes.toString('latin1');
  const inherited = readInherited(bytes, text);
  const slots = readSlots(bytes, text);
  return {
    journalId: bytes.toString('latin1', 8, BOOT_AT),
    lsn: Number(bytes.readBigUInt64LE(LSN_AT)),
    isComplete: isThisBoot(bytes) && inherited !== undefined && slots !== undefined,
    unknownUntil,
    inherited: inherited ?? [],
    slots: slots ?? new Map(),
  };
}

/** Undefined where one of them is damaged: then nobody knows which run it was about. */
function readInherited(bytes: Buffer, text: string): Inherited[] | undefined {
  const inherited: Inherited[] = [];
  const count = bytes.readUInt32LE(INHERITED_AT);
  if (bytes.length < HEADER_BYTES + count * SLOT_BYTES) return undefined;
  for (let index = 0; index < count; index++) {
    const at = HEADER_BYTES + index * SLOT_BYTES;
    const run = text.slice(at, at + 26);
    const [seq, lastSeq] = [bytes.readUInt32LE(at + 26), bytes.readUInt32LE(at + SLOT_USED + 4)];
    if (bytes.readUInt32LE(at + SLOT_USED) !== sumOf(run, seq, lastSeq)) return undefined;
    const id = longId(run);
    if (id) inherited.push({ run: id, seq, lastSeq });
  }
  return inherited;
}

function readSlots(bytes: Buffer, text: string): Map<RunId, number> | undefined {
  const slots = new Map<RunId, number>();
  const from = HEADER_BYTES + bytes.readUInt32LE(INHERITED_AT) * SLOT_BYTES;
  const count = Math.min(SLOT_COUNT_MAX, (bytes.length - from) / SLOT_BYTES);
  if (count < bytes.readUInt32LE(SLOTS_AT) || !Number.isInteger(count)) return undefined;
  for (let slot = 0; slot < count; slot++) {
    const at = from + slot * SLOT_BYTES;
    if (isFree(bytes, at)) continue;
    const run = text.slice(at, at + 26);
    const seq = bytes.readUInt32LE(at + 26);
    const id = longId(run);
    if (bytes.readUInt32LE(at + SLOT_USED) !== sumOf(run, seq) || !id) return undefined;
    slots.set(id, Math.max(seq, slots.get(id) ?? 0));
  }
  return slots;
}

/** The first byte tells it of nearly all: there may be ten thousand to look at before a start. */
function isFree(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0 && NOBODY.equals(bytes.subarray(at, at + NOBODY.length));
}

function readWhole(file: string): Buffer {
  // Without waiting: a pipe of that name would keep whoever looks for ever.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    readSync(fd, bytes, 0, bytes.length, 0);
    return bytes;
  } finally {
    closeSync(fd);
  }
}

function isThisBoot(bytes: Buffer): boolean {
  const written = bytes.toString('latin1', BOOT_AT, LSN_AT);
  return written === kernelBoot() && written !== NO_BOOT;
}

/**
 * The first bytes of the journal's file, looked at before SQLite does. Most of them are constants
 * that nothing protects: with one bit changed SQLite would convert the file, refuse to write it, or
 * delete the WAL beside it.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { APPLICATION_ID } from './migrate.ts';

export const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
const CHANGES_AT = 24;
const PAGE_COUNT_AT = 28;
const VALID_FOR_AT = 92;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** Where a constant stands, how many bytes it has, and what it may be; the last is the usual one. */
const CONSTANTS: readonly (readonly [at: number, bytes: number, allowed: readonly number[]])[] = [
  [16, 2, [PAGE_BYTES]],
  [18, 1, [2]],
  [19, 1, [2]],
  [20, 1, [0]],
  [21, 1, [64]],
  [22, 1, [32]],
  [23, 1, [32]],
  [44, 4, [0, 4]],
  [52, 4, [0]],
  [56, 4, [0, 1]],
  [64, 4, [0]],
];

/** What is wrong with the header; undefined where nothing is, or where there is no file yet. */
export function headerProblem(file: string): string | undefined {
  const { bytes, size } = readHeader(file);
  if (size === 0)
    return bytesOf(`${file}-wal`) > 0 ? 'the file is empty, its WAL is not' : undefined;
  if (size < PAGE_BYTES) return `the file ends after ${size} bytes`;
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'the file is not a database';
  const wrong = CONSTANTS.find(
    ([at, count, allowed]) => !allowed.includes(bytes.readUIntBE(at, count)),
  );
  return wrong && `the header is damaged at byte ${wrong[0]}`;
}

/** Whether the file calls itself a journal of ours. */
export function isNamedOurs(file: string): boolean {
  const { bytes } = readHeader(file);
  return bytes.readUInt32BE(68) === APPLICATION_ID;
}

/** What a page has before its first cell, where it is the first page. */
const EMPTY_PAGE_BYTES = HEADER_BYTES + 8;

/** Whether there is nothing in it that anybody could miss: what a first start leaves that lost power. */
export function isBlank(file: string): boolean {
  if (bytesOf(file) > PAGE_BYTES) return false;
  const bytes = readFileSync(file);
  const isNamed = bytes.subarray(0, MAGIC.length).equals(MAGIC);
  return bytes.subarray(isNamed ? EMPTY_PAGE_BYTES : 0).every((byte) => byte === 0);
}

/** Puts the constants back, in a copy: what they describe may be all there. */
export function mendHeader(copy: string): void {
  const { bytes, size } = readHeader(copy);
  MAGIC.copy(bytes);
  for (const [at, count, allowed] of CONSTANTS) bytes.writeUIntBE(allowed.at(-1)!, at, count);
  // SQLite refuses a file that is shorter than it says; what is left of it can be read.
  bytes.writeUInt32BE(Math.max(1, Math.ceil(size / PAGE_BYTES)), PAGE_COUNT_AT);
  // It believes the count only where these two agree.
  bytes.copy(bytes, VALID_FOR_AT, CHANGES_AT, CHANGES_AT + 4);
  const fd = openSync(copy, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    writeSync(fd, bytes, 0, HEADER_BYTES, 0);
    // SQLite deletes the WAL of an empty file; page 1 may be in that WAL.
    if (size < PAGE_BYTES) writeSync(fd, Buffer.alloc(1), 0, 1, PAGE_BYTES - 1);
  } finally {
    closeSync(fd);
  }
}

/** Where an empty journal keeps its tables, and the pages of its file that say so. */
export interface FreshSchema {
  readonly layout: string;
  readonly pages: readonly number[];
  readonly bytes: Buffer;
}

/** Puts the schema of an empty journal in place of the one in a copy. */
export function renewSchema(copy: string, { pages, bytes }: FreshSchema): void {
  const fd = openSync(copy, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    for (const page of pages) {
      const at = (page - 1) * PAGE_BYTES;
      writeSync(fd, bytes, at, PAGE_BYTES, at);
    }
  } finally {
    closeSync(fd);
  }
  mendHeader(copy);
}

function readHeader(file: string): { bytes: Buffer; size: number } {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    readSync(fd, bytes, 0, HEADER_BYTES, 0);
    return { bytes, size: fstatSync(fd).size };
  } finally {
    closeSync(fd);
  }
}

export function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

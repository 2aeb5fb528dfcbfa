/**
 * A page of a journal in use, overwritten from outside. A page that the WAL has too would be written over, or
 * never be read; so it is the last leaf of `events` that the WAL has not.
 */
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { removeTree } from '../../test/support/remove-tree.ts';

const PAGE_BYTES = 4_096;
const JUNK = 0xa5;
/** As SQLite lays out a WAL. */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT = [16, 24] as const;
const FRAME_SALT_AT = 8;

/** False where there is no such page now. */
export function damageJournal(dataDir: string): boolean {
  const file = join(dataDir, 'journal.db');
  const inWal = pagesInWal(`${file}-wal`);
  const page = leavesOf(file).find((pageno) => !inWal.has(pageno));
  if (page === undefined) return false;
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES, JUNK), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(fd);
  return true;
}

/** From the last. The process has the file to itself, so a copy is asked. */
function leavesOf(file: string): number[] {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-page-'));
  try {
    const copy = join(place, 'copy.db');
    copyFileSync(file, copy);
    const connection = new Database(copy);
    try {
      const text = `select pageno from dbstat
                     where name = 'events' and pagetype = 'leaf' order by path desc`;
      return connection.prepare(text).pluck().all() as number[];
    } finally {
      connection.close();
    }
  } catch {
    // It was written to while it was copied, or there is none yet.
    return [];
  } finally {
    removeTree(place);
  }
}

/** Frames behind those of another salt are left over from before. */
function pagesInWal(wal: string): ReadonlySet<number> {
  const pages = new Set<number>();
  if ((statSync(wal, { throwIfNoEntry: false })?.size ?? 0) < WAL_HEADER_BYTES) return pages;
  const bytes = readFileSync(wal);
  const salt = bytes.subarray(...SALT);
  const step = FRAME_HEADER_BYTES + PAGE_BYTES;
  for (let at = WAL_HEADER_BYTES; at + step <= bytes.length; at += step) {
    const frameSalt = bytes.subarray(at + FRAME_SALT_AT, at + FRAME_SALT_AT + salt.length);
    if (!frameSalt.equals(salt)) break;
    pages.add(bytes.readUInt32BE(at));
  }
  return pages;
}

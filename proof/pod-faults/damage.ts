/** A journal that is too large to be read through at a start, and a page of it that is overwritten. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Pod } from './pods.ts';

/** A start reads files of up to 64 MiB through. */
const LARGE_BYTES = 64 * 1024 * 1024;
const PADDING = 32_768;
const RUNS = 400;
const FILLS_MAX = 30;
const PAGE_BYTES = 4096;

export type Damage = 'junk' | 'zeros';
const BYTE: Record<Damage, number> = { junk: 0xa5, zeros: 0 };

/** Runs that have ended, until the file is large; answers how many MiB it has. */
export async function fillJournal(pod: Pod, dataDir: string): Promise<number> {
  const file = join(dataDir, 'journal.db');
  for (let fills = 0; statSync(file).size <= 1.2 * LARGE_BYTES; fills += 1) {
    if (fills === FILLS_MAX) throw new Error(`${file} does not grow`);
    await pod.ask('finish', { count: RUNS, padding: PADDING });
  }
  return Math.round(statSync(file).size / 1024 / 1024);
}

/** The leaf that the next record of a new run goes to. The process that has the file is gone. */
export function damageLastLeaf(dataDir: string, table: string, how: Damage): void {
  const file = join(dataDir, 'journal.db');
  const connection = new Database(file);
  // What a killed process has left in the WAL would stand over the page.
  connection.pragma('wal_checkpoint(truncate)');
  const text = `select pageno from dbstat where name = ? and pagetype = 'leaf' order by path desc`;
  const { pageno } = connection.prepare(text).get(table) as { pageno: number };
  connection.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES, BYTE[how]), 0, PAGE_BYTES, (pageno - 1) * PAGE_BYTES);
  closeSync(fd);
}

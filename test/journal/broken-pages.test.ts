/** Files that have lost pages, or have bad ones: what is whole is found, and what is not is said. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SqliteJournal } from '../../src/journal/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { clockAt, RunWriter, runIdOf } from './entries.ts';
import { NOW, useJournals } from './journals.ts';

const RUNS = 1_000;
const PAGE_BYTES = 4096;
const { newDir, open } = useJournals();

let whole: Buffer;
let mark: Buffer;
let leaves: Map<string, number[]>;

/** A thousand runs with keys: of each three one has ended, one sleeps, one is being executed. */
beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-pages-'));
  const options = { clock: clockAt(NOW), random: seededRandom(3) };
  const journal = SqliteJournal.open(directory, options);
  const input = 'y'.repeat(500);
  await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const run = new RunWriter(journal, runIdOf(index), { key: `k${index}`, input });
      await run.start();
      await run.done('main.work');
      if (index % 3 === 0) await run.end({ outcome: 'completed', state: 'main.persist' });
      if (index % 3 === 1) await run.fail(NOW + 1e6 + index, true);
    }),
  );
  journal.close();
  const file = join(directory, 'journal.db');
  [whole, mark] = [readFileSync(file), readFileSync(join(directory, 'journal.mark'))];
  const connection = new Database(file, { readonly: true });
  const pages = connection
    .prepare(`select name, pageno from dbstat where pagetype = 'leaf' order by pageno`)
    .all() as { name: string; pageno: number }[];
  leaves = new Map();
  for (const { name, pageno } of pages) leaves.set(name, [...(leaves.get(name) ?? []), pageno]);
  connection.close();
  rmSync(directory, { recursive: true });
});
afterAll(() => {
  whole = mark = Buffer.alloc(0);
});

function opened(bytes: Uint8Array, checkBytesMax?: number): SqliteJournal {
  const directory = newDir();
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'journal.db'), bytes);
  writeFileSync(join(directory, 'journal.mark'), mark);
  return open(directory, { checkBytesMax });
}

/** How many runs there are; each of them must be one that was written. */
function countRuns(journal: SqliteJournal): number {
  const runs = journal.list({ countMax: 2 * RUNS });
  for (const run of runs) expect(run).toMatchObject({ machine: 'sample/one', version: 1 });
  expect(runs.every((run) => run.damage === undefined)).toBe(true);
  return runs.length;
}

const cuts = [
  // The last page is an index's: every record is there, and that is known.
  { what: 'one page', left: 0, pages: 1, min: RUNS, said: '0 were not' },
  { what: 'two pages', left: 0, pages: 2, min: 980 },
  { what: 'a tenth', left: 0.9, min: 800 },
  { what: 'half', left: 0.5, min: 350 },
];
test.each(cuts)('a file without its last part ($what) keeps the runs of what is left', (cut) => {
  const length = cut.pages ? whole.length - cut.pages * PAGE_BYTES : whole.length * cut.left;
  const journal = opened(whole.subarray(0, Math.floor(length)));
  const count = countRuns(journal);
  expect(count).toBeGreaterThanOrEqual(cut.min);
  expect(journal.alarms[0]!.message).toContain(`${count} runs were carried over`);
  expect(journal.alarms[0]!.message).toContain(cut.said ?? 'is unknown');
  for (const { row, ...rest } of journal.unfinished(NOW)) {
    expect(rest, row.id).not.toHaveProperty('damage');
  }
});

test('one bit of the first page never takes all runs with it', () => {
  let alarmed = 0;
  for (let at = 24; at < PAGE_BYTES; at += 61) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1 << (at & 7);
    const journal = opened(bytes);
    if (journal.alarms.length > 0) {
      alarmed++;
      expect(journal.alarms[0]!.message, `byte ${at}`).toContain(
        `${RUNS} runs were carried over, 0 were not`,
      );
    }
    expect(journal.list({ countMax: 2 * RUNS }), `byte ${at}`).toHaveLength(RUNS);
    journal.close();
  }
  expect(alarmed).toBeGreaterThan(20);
});

test('a first page of zeros costs nothing but an alarm', () => {
  const bytes = Buffer.from(whole).fill(0, 0, PAGE_BYTES);
  const journal = opened(bytes);
  expect(journal.alarms[0]!.message).toContain(`${RUNS} runs were carried over, 0 were not`);
  expect(countRuns(journal)).toBe(RUNS);
});

const indices = ['runs_by_key', 'runs_unfinished', 'runs_finished', 'timers', 'timers_due'];
test.each(indices)('a broken page of %s is found at boot, however large the file', (name) => {
  const pages = leaves.get(name)!;
  for (const how of ['a bit', 'zeros'] as const) {
    const at = (pages[Math.floor(pages.length / 2)]! - 1) * PAGE_BYTES;
    const bytes = Buffer.from(whole);
    // The last bytes of a page are those of its first row.
    if (how === 'a bit') bytes[at + PAGE_BYTES - 4]! ^= 1;
    else bytes.fill(0, at, at + PAGE_BYTES);
    const journal = opened(bytes, 0);
    expect(journal.alarms[0]!.message).toContain(`${RUNS} runs were carried over, 0 were not`);
    expect(countRuns(journal)).toBe(RUNS);
    for (let index = 0; index < RUNS; index++) {
      expect(journal.findByKey('sample/one', `k${index}`, 0)?.id).toBe(runIdOf(index));
    }
    expect([...journal.unfinished(NOW)]).toHaveLength(333);
    expect(journal.nextTimerAt()).toBe(NOW + 1e6 + 1);
    journal.close();
  }
});

test('a broken page of rows costs the ended runs on it, and the alarm says what is not known', () => {
  const pages = leaves.get('runs')!;
  const at = (pages[Math.floor(pages.length / 2)]! - 1) * PAGE_BYTES;
  const journal = opened(Buffer.from(whole).fill(0, at, at + PAGE_BYTES), 0);
  expect(journal.alarms[0]!.message).toContain('is unknown');
  const count = countRuns(journal);
  expect(count).toBeGreaterThan(RUNS - 30);
  expect(count).toBeLessThan(RUNS);
});

test('records that are gone without an error make the number of lost runs unknown', () => {
  const pages = leaves.get('events')!;
  const bytes = Buffer.from(whole);
  // The number of rows on the last page that has records.
  bytes.writeUInt16BE(1, (pages.at(-1)! - 1) * PAGE_BYTES + 3);
  const journal = opened(bytes);
  expect(journal.alarms[0]!.message).toContain('is unknown');
});

test('two broken pages of records do not hide those between them', () => {
  const pages = leaves.get('events')!;
  const bytes = Buffer.from(whole);
  for (const part of [0.2, 0.8]) {
    const at = (pages[Math.floor(pages.length * part)]! - 1) * PAGE_BYTES;
    bytes.fill(0, at, at + PAGE_BYTES);
  }
  const journal = opened(bytes);
  expect(countRuns(journal)).toBeGreaterThan(RUNS - 50);
  expect(journal.alarms[0]!.message).toContain('is unknown');
});

test('a broken page of records in a large file sets its own runs aside, and no others', () => {
  const pages = leaves.get('events')!;
  const at = (pages[Math.floor(pages.length / 2)]! - 1) * PAGE_BYTES;
  const journal = opened(Buffer.from(whole).fill(0, at, at + PAGE_BYTES), 0);
  expect(journal.alarms).toEqual([]);
  const found = [...journal.unfinished(-1)];
  expect(found).toHaveLength(333);
  const damaged = found.filter(({ damage }) => damage !== undefined);
  expect(damaged.length).toBeGreaterThan(0);
  expect(damaged.length).toBeLessThan(20);
  for (const { row } of damaged) {
    expect(() => journal.history(row.id)).toThrow(/its records are on a broken page/);
    expect(journal.find(row.id)?.id).toBe(row.id);
  }
});

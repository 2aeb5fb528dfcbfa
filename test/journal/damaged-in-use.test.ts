/**
 * A journal whose file is found to be damaged only when it is written: it takes no more records, no run is
 * blamed for that, and the next start puts the file aside, however large it is.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { SqliteJournal } from '../../src/journal/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { NOW, useJournals } from './journals.ts';

const RUNS = 200;
const { newDir, open } = useJournals();

/** Read through only where that is wanted, as a large file is not. */
const LARGE = { checkBytesMax: 0 };

async function fill(journal: SqliteJournal): Promise<void> {
  for (let index = 0; index < RUNS; index++) {
    const run = new RunWriter(journal, runIdOf(index), { input: 'y'.repeat(500) });
    await run.start();
    await run.end({ outcome: 'completed', state: 'main.persist' });
  }
}

/** Overwrites the leaf that the next record of a new run goes to. */
function damageLastLeaf(directory: string, table: string): void {
  const file = join(directory, 'journal.db');
  const connection = new Database(file, { readonly: true });
  const text = `select pageno from dbstat where name = ? and pagetype = 'leaf' order by path desc`;
  const { pageno } = connection.prepare(text).get(table) as { pageno: number };
  connection.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, (pageno - 1) * 4096);
  closeSync(fd);
}

async function damaged(table: string): Promise<string> {
  const directory = newDir();
  const journal = open(directory);
  await fill(journal);
  journal.close();
  damageLastLeaf(directory, table);
  return directory;
}

test.each(['events', 'events_of_run'])(
  'a damaged leaf of %s stalls the journal, and the next start puts the file aside',
  async (table) => {
    const directory = await damaged(table);
    const journal = open(directory, LARGE);
    expect(journal.stalledBy).toBeUndefined();
    const refused: unknown[] = [];
    const run = new RunWriter(journal, runIdOf(RUNS + 1), {});
    run.start().catch((error) => refused.push(error));
    expect(() => journal.flushNow()).toThrow(/malformed/);
    expect(journal.stalledBy).toMatchObject({ code: 'SQLITE_CORRUPT' });
    // It waits, like a record that a full disk does not take: no run is blamed.
    await Promise.resolve();
    expect(refused).toEqual([]);
    journal.close();

    const next = open(directory, LARGE);
    expect(next.alarms[0]).toMatchObject({ kind: 'fileDamaged' });
    await new RunWriter(next, runIdOf(RUNS + 2), {}).start();
    expect(next.stalledBy).toBeUndefined();
    next.close();
    expect(open(directory, LARGE).alarms).toEqual([]);
  },
);

test('a hold that cannot be removed from a damaged file stalls the journal, and throws at nobody', async () => {
  const directory = newDir();
  const clock = new FakeClock(NOW);
  const journal = open(directory, { clock });
  const held = new RunWriter(journal, runIdOf(1), { generation: 0 });
  await held.start();
  journal.close();
  damageLastLeaf(directory, 'events');
  const again = open(directory, { ...LARGE, clock });
  again.endHolds([held.id]);
  await clock.advance(1_000);
  expect(again.stalledBy).toMatchObject({ code: 'SQLITE_CORRUPT' });
  again.close();
  expect(open(directory, LARGE).alarms[0]).toMatchObject({ kind: 'fileDamaged' });
});

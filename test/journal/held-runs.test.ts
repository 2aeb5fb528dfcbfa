/** Runs that a journal holds for a store: they end in their records alone, and go when they are let go of. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { verifyJournal } from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { NOW, useJournals } from './journals.ts';

const { newDir, open, sql } = useJournals();
const ENDING = { outcome: 'completed', state: 'main.persist', output: 1 } as const;

async function ended(
  journal: ReturnType<typeof open>,
  index: number,
  generation?: number,
): Promise<RunWriter> {
  const run = new RunWriter(
    journal,
    runIdOf(index),
    generation === undefined ? {} : { generation },
  );
  await run.start();
  await run.done('main.persist');
  await run.end(ENDING);
  return run;
}

test('holds that are over go with the next record, in one go, and what was started here stays', async () => {
  const journal = open(newDir());
  const held = await Promise.all([1, 2, 3].map((index) => ended(journal, index, 1)));
  const local = await ended(journal, 4);
  journal.endHolds([held[0]!.id, local.id, held[2]!.id, runIdOf(99)]);
  await ended(journal, 5);
  expect(journal.holds()).toEqual([{ run: held[1]!.id, generation: 1, version: 1, epoch: 1 }]);
  expect(journal.rows(held[0]!.id)).toEqual([]);
  expect(journal.rows(held[1]!.id)).toHaveLength(3);
  expect(journal.find(local.id)).toMatchObject({ ending: ENDING });
  expect(journal.rows(local.id)).toHaveLength(3);
});

test('runs that are read together are what each is alone, and a damaged one hides no other', async () => {
  const dataDir = newDir();
  const before = open(dataDir);
  const runs = await Promise.all([1, 2, 3].map((index) => ended(before, index, 1)));
  const [first, damaged, third] = runs.map(({ id }) => id);
  before.close();
  const file = sql(dataDir);
  const { sql: trigger } = file
    .prepare(`select sql from sqlite_schema where name = 'events_are_final'`)
    .get() as { sql: string };
  file.exec('drop trigger events_are_final');
  file.prepare(`update events set data = '{}' where run = ? and seq = 1`).run(damaged);
  // The triggers are part of what makes the file ours.
  file.exec(trigger);
  file.close();
  const journal = open(dataDir);
  const read = journal.readTogether([third!, damaged!, runIdOf(99), first!]);
  const alone = (run: RunId) => ({
    row: journal.find(run),
    rows: journal.rows(run),
    records: journal.history(run),
  });
  expect(read).toEqual([alone(third!), undefined, undefined, alone(first!)]);
});

test('the end of a held run is in its records, and neither it nor a verification misses a seal', async () => {
  const dataDir = newDir();
  const journal = open(dataDir);
  const { id } = await ended(journal, 1, 1);
  expect(journal.find(id)?.finishedAt).toBeUndefined();
  expect(journal.history(id).at(-1)).toMatchObject({ state: 'completed' });
  journal.close();
  expect(verifyJournal(dataDir).problems).toEqual([]);
});

test('of a broken file, an ended run that is held is kept for the store to hear of', async () => {
  const dataDir = newDir();
  const journal = open(dataDir);
  const { id } = await ended(journal, 1, 1);
  journal.close();
  const file = sql(dataDir);
  // A seal that does not fit: the head cannot be trusted, and what can be is saved from the file.
  file.exec(`update journal set seal = 'another'`);
  file.close();
  const again = open(dataDir);
  expect(again.alarms.map(({ kind }) => kind)).toContain('fileDamaged');
  expect(again.holds()).toMatchObject([{ run: id, generation: 1 }]);
  expect(again.history(id)).toHaveLength(3);
});

test('of a broken file, only runs that were started here have a timer: the store wakes the others', async () => {
  const dataDir = newDir();
  const journal = open(dataDir);
  const dueAt = NOW + 6_000;
  for (const [index, options] of [[1, { generation: 1 }] as const, [2, {}] as const]) {
    const run = new RunWriter(journal, runIdOf(index), options);
    await run.start();
    await run.fail(dueAt, !('generation' in options));
  }
  journal.close();
  const file = sql(dataDir);
  file.exec(`update journal set seal = 'another'`);
  file.close();
  const again = open(dataDir);
  expect(again.alarms.map(({ kind }) => kind)).toContain('fileDamaged');
  expect(again.holds()).toMatchObject([{ run: runIdOf(1) }]);
  expect(again.takeDueTimers(dueAt, 10)).toEqual([runIdOf(2)]);
});

test('the epoch of a claim is not taken for a boot, by a verification or when a file is broken', async () => {
  const dataDir = newDir();
  const journal = open(dataDir);
  // What a first claim on Postgres has.
  const claimed = { generation: 1, epoch: 2 ** 32 + 1 };
  await new RunWriter(journal, runIdOf(1), claimed).start();
  await new RunWriter(journal, runIdOf(2)).start();
  journal.close();
  expect(verifyJournal(dataDir).problems).toEqual([]);
  const file = join(dataDir, 'journal.db');
  const bytes = readFileSync(file);
  bytes[18]! ^= 4;
  writeFileSync(file, bytes);
  const next = open(dataDir);
  expect(next.alarms[0]!.message).toMatch(/2 runs were carried over, 0 were not/);
  expect(next.boot).toBe(2);
  expect(next.holds()).toEqual([
    { run: runIdOf(1), generation: 1, version: 1, epoch: claimed.epoch },
  ]);
});

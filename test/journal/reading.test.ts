/** What the journal answers: keys, lists, timers, dead letters, and what retention leaves. */
import { expect, test } from 'vitest';
import { DamagedRunError, type SqliteJournal } from '../../src/journal/index.ts';
import type { Outcome } from '../../src/machine/index.ts';
import { type RunOptions, RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed, sql } = useJournals();

async function ended(
  journal: SqliteJournal,
  index: number,
  outcome: Outcome,
  options: RunOptions = {},
): Promise<RunWriter> {
  const run = new RunWriter(journal, runIdOf(index), options);
  await run.start();
  await run.end({ outcome, state: 'main.work', reason: `reason ${index}` });
  return run;
}

test('a key finds the newest run of its machine, until its end is longer ago than it counts', async () => {
  const journal = open(newDir());
  await ended(journal, 1, 'completed', { key: 'k', at: 100 });
  const live = new RunWriter(journal, runIdOf(2), { key: 'other', at: 200 });
  await live.start();
  const find = (machine: string, key: string, since: number) =>
    journal.findByKey(machine, key, since)?.id;
  expect(find('sample/one', 'k', 100)).toBe(runIdOf(1));
  expect(find('sample/one', 'k', 101)).toBe(runIdOf(1));
  expect(find('sample/one', 'k', 102)).toBeUndefined();
  expect(find('sample/two', 'k', 0)).toBeUndefined();
  expect(find('sample/one', 'oth', 0)).toBeUndefined();
  // A run that has not ended keeps its key for ever.
  expect(find('sample/one', 'other', Number.MAX_SAFE_INTEGER)).toBe(runIdOf(2));
  await ended(journal, 3, 'completed', { key: 'k', at: 300 });
  expect(find('sample/one', 'k', 0)).toBe(runIdOf(3));
});

test('lists are newest first and can be asked for by status, machine and place', async () => {
  const journal = open(newDir());
  await ended(journal, 1, 'completed');
  await ended(journal, 2, 'aborted', { machine: 'sample/one-more' });
  await new RunWriter(journal, runIdOf(3)).start();
  const ids = (filter: object) =>
    journal.list({ countMax: 10, ...filter }).map((row) => Number(row.id.slice(3)));
  expect(ids({})).toEqual([3, 2, 1]);
  expect(ids({ status: 'finished' })).toEqual([2, 1]);
  expect(ids({ status: 'unfinished' })).toEqual([3]);
  expect(ids({ status: 'aborted' })).toEqual([2]);
  expect(ids({ machine: 'sample/one' })).toEqual([3, 1]);
  expect(ids({ machine: 'sample/one', status: 'finished' })).toEqual([1]);
  expect(ids({ before: runIdOf(3) })).toEqual([2, 1]);
  expect(ids({ countMax: 1 })).toEqual([3]);
});

test('timers are handed out when they are due, once, in order of their times', async () => {
  const directory = newDir();
  const journal = open(directory);
  const dueAts = [500, 300, 400];
  for (const [index, dueAt] of dueAts.entries()) {
    const run = new RunWriter(journal, runIdOf(index));
    await run.start();
    await run.fail(dueAt, true);
  }
  expect(journal.nextTimerAt()).toBe(300);
  expect(journal.takeDueTimers(299, 10)).toEqual([]);
  expect(journal.takeDueTimers(400, 10)).toEqual([runIdOf(1), runIdOf(2)]);
  expect(journal.takeDueTimers(400, 10)).toEqual([]);
  expect(journal.nextTimerAt()).toBe(500);
  // At boot, a sleeper is left to its timer, and whose timer was taken is resumed.
  const next = open(killed(directory));
  const resumed = (asleepUntil: number) =>
    [...next.unfinished(asleepUntil)].map(({ row }) => row.id);
  expect(resumed(499)).toEqual([runIdOf(1), runIdOf(2)]);
  expect(resumed(500)).toEqual([runIdOf(0), runIdOf(1), runIdOf(2)]);
});

test('an ended run has no timer any more', async () => {
  const journal = open(newDir());
  const run = new RunWriter(journal, runIdOf(1));
  await run.start();
  await run.fail(500, true);
  await run.end({ outcome: 'cancelled', state: 'main.work', reason: 'enough' });
  expect(journal.nextTimerAt()).toBeUndefined();
});

test('every run that failed is a dead letter, and no other', async () => {
  const journal = open(newDir());
  const outcomes: Outcome[] = [
    'completed',
    'handedOff',
    'cancelled',
    'exhausted',
    'aborted',
    'timedOut',
  ];
  for (const [index, outcome] of outcomes.entries()) await ended(journal, index, outcome);
  expect(journal.deadLetters(10).map(({ outcome }) => outcome)).toEqual([
    'timedOut',
    'aborted',
    'exhausted',
  ]);
  expect(journal.deadLetters(1)).toEqual([
    {
      run: runIdOf(5),
      at: 1_001,
      machine: 'sample/one',
      version: 1,
      outcome: 'timedOut',
      state: 'main.work',
      attempt: 2,
      reason: 'reason 5',
    },
  ]);
});

test('retention takes events first, rows later, and never anything of a live run', async () => {
  const directory = newDir();
  const journal = open(directory);
  await ended(journal, 1, 'completed', { at: 100, key: 'k' });
  await ended(journal, 2, 'exhausted', { at: 900 });
  await new RunWriter(journal, runIdOf(3), { at: 1 }).start();
  const before = [1, 2, 3].map((index) => JSON.stringify(journal.find(runIdOf(index))));

  expect(journal.prune({ events: 500, rows: 50 }, 100).runs).toBe(1);
  expect(journal.prune({ events: 500, rows: 50 }, 100).runs).toBe(0);
  expect(journal.hasEvents(runIdOf(1))).toBe(false);
  expect(journal.history(runIdOf(1))).toEqual([]);
  expect(journal.history(runIdOf(2))).toHaveLength(2);
  expect(journal.history(runIdOf(3))).toHaveLength(1);
  expect([1, 2, 3].map((index) => JSON.stringify(journal.find(runIdOf(index))))).toEqual(before);
  expect(journal.findByKey('sample/one', 'k', 0)?.id).toBe(runIdOf(1));

  expect(journal.prune({ events: 5_000, rows: 5_000 }, 100).runs).toBe(2);
  expect(journal.list({ countMax: 10 }).map((row) => row.id)).toEqual([runIdOf(3)]);
  expect(journal.deadLetters(10)).toEqual([]);
  expect([...journal.unfinished(0)]).toMatchObject([{ records: [{ seq: 0 }] }]);
  const again = open(killed(directory));
  expect(again.list({ countMax: 10 })).toHaveLength(1);
  expect(again.alarms).toEqual([]);
});

test('at most as many runs as asked for are pruned at a time, the oldest first', async () => {
  const journal = open(newDir());
  for (let index = 0; index < 5; index++) await ended(journal, index, 'completed', { at: index });
  expect(journal.prune({ events: 5_000, rows: 0 }, 2).runs).toBe(2);
  expect([0, 1, 2].map((index) => journal.hasEvents(runIdOf(index)))).toEqual([false, false, true]);
});

test('resuming reads the events of live runs only, however many ended ones lie between', async () => {
  const directory = newDir();
  const journal = open(directory);
  await new RunWriter(journal, runIdOf(0)).start();
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => ended(journal, index + 1, 'completed')),
  );
  await new RunWriter(journal, runIdOf(99)).start();
  journal.close();
  const file = sql(directory);
  const { selectResumableWhole } = await import('../../src/journal/journal.sql.ts');
  expect(file.prepare(selectResumableWhole).all('', 1e15, 100)).toHaveLength(2);
  const plan = file.prepare(`explain query plan ${selectResumableWhole}`).all('', 0, 100);
  expect(JSON.stringify(plan)).not.toMatch(/SCAN (events|runs)/);
  file.close();
});

test('a changed row, record or seal is reported as damage of that run, and hides no other', async () => {
  const directory = newDir();
  const journal = open(directory);
  await ended(journal, 1, 'completed');
  await ended(journal, 2, 'completed');
  for (const index of [3, 4, 5]) {
    const run = new RunWriter(journal, runIdOf(index));
    await run.start();
    await run.done('main.work');
  }
  journal.close();
  const file = sql(directory);
  file.exec('drop trigger events_are_final; drop trigger ended_runs_stay_ended');
  file.exec(`update runs set ending = replace(ending, 'reason 1', 'reason 9')`);
  file.exec(`update events set data = replace(data, '{', '{ ') where run = '${runIdOf(3)}'`);
  file.exec(`update runs set started_at = started_at + 1 where id = '${runIdOf(4)}'`);
  // The triggers are part of what makes the file ours.
  const { readFileSync } = await import('node:fs');
  const migration = readFileSync('migrations/journal/0001_create_journal.sql', 'utf8');
  for (const trigger of migration.match(
    /create trigger (events_are_final|ended_\w+)[\s\S]*?end;/g,
  )!) {
    file.exec(trigger);
  }
  file.close();
  const again = open(directory);
  expect(again.alarms).toEqual([]);
  expect(() => again.find(runIdOf(1))).toThrow(DamagedRunError);
  expect(again.find(runIdOf(2))?.ending?.outcome).toBe('completed');
  const damages = [...again.unfinished(0)].map(({ row, damage }) => [row.id, damage]);
  expect(damages).toEqual([
    [runIdOf(3), expect.stringMatching(/does not match its hash/)],
    [runIdOf(4), expect.stringMatching(/its row and its first record differ/)],
    [runIdOf(5), undefined],
  ]);
  const listed = again.list({ countMax: 10 }).map((row) => row.damage !== undefined);
  expect(listed).toEqual([false, true, true, false, true]);
});

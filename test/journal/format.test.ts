/** The file's format, and the rules that the database itself keeps. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { assertFullSync, openConnection } from '../../src/journal/connection.ts';
import { migrate } from '../../src/journal/migrate.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, sql } = useJournals();

test('a connection is WAL, FULL and EXCLUSIVE, also after its first write', () => {
  const directory = newDir();
  open(directory).close();
  const connection = openConnection(join(directory, 'journal.db'));
  connection.exec('update journal set boot = boot');
  const ask = (pragma: string) => connection.pragma(pragma, { simple: true });
  expect([ask('journal_mode'), ask('synchronous'), ask('locking_mode')]).toEqual([
    'wal',
    2,
    'exclusive',
  ]);
  expect(() => assertFullSync(connection)).not.toThrow();
  connection.pragma('synchronous = NORMAL');
  expect(() => assertFullSync(connection)).toThrow('synchronous is not FULL');
  connection.close();
  const memory = new Database(':memory:');
  expect(() => assertFullSync(memory)).toThrow();
  memory.close();
});

test('a held journal has no shared memory that another process could join', async () => {
  const directory = newDir();
  await new RunWriter(open(directory), runIdOf(1)).start();
  expect(existsSync(join(directory, 'journal.db-wal'))).toBe(true);
  expect(existsSync(join(directory, 'journal.db-shm'))).toBe(false);
});

test('migrating twice changes nothing, and every opening is counted', () => {
  const directory = newDir();
  open(directory).close();
  const connection = openConnection(join(directory, 'journal.db'));
  const before = connection.pragma('schema_version', { simple: true });
  expect(migrate(connection)).toBe(migrate(connection));
  expect(connection.pragma('schema_version', { simple: true })).toBe(before);
  connection.close();
  expect(open(directory).boot).toBe(2);
});

test('a journal of a newer format is refused, untouched', () => {
  const directory = newDir();
  open(directory).close();
  const newer = sql(directory);
  newer.exec("create table later (a); update journal set seal = 'by rules of later'");
  newer.pragma('user_version = 99');
  newer.close();
  const bytes = readFileSync(join(directory, 'journal.db'));
  expect(() => open(directory)).toThrow(/has format 99; this FleetQ knows formats up to \d+$/);
  expect(readFileSync(join(directory, 'journal.db')).equals(bytes)).toBe(true);
});

test('history cannot be changed, not even at a SQL prompt', async () => {
  const directory = newDir();
  const journal = open(directory);
  const [ended, live] = [new RunWriter(journal, runIdOf(1)), new RunWriter(journal, runIdOf(2))];
  await Promise.all([ended.start(), live.start()]);
  await ended.end({ outcome: 'completed', state: 'main.persist', output: 1 });
  journal.close();
  const prompt = sql(directory);
  const says = (text: string) => () => prompt.exec(text);
  expect(says("update events set data = '{}'")).toThrow('events are append-only');
  const again = 'select lsn + 100, run, seq, at, epoch, event, state, data, hash from events';
  expect(says(`insert into events ${again}`)).toThrow(/UNIQUE.*events\.run, events\.seq/);
  expect(says(`delete from events where run = '${live.id}'`)).toThrow(
    'events of an unfinished run cannot be deleted',
  );
  expect(says("update runs set outcome = 'aborted' where outcome is not null")).toThrow(
    'stays as it ended',
  );
  expect(says(`update runs set outcome = 'completed' where id = '${live.id}'`)).toThrow(/CHECK/);
  expect(says(`update runs set version = 'two' where id = '${live.id}'`)).toThrow(/cannot store/);
  // What has ended may be forgotten.
  prompt.exec(`delete from events where run = '${ended.id}'`);
  prompt.close();
});

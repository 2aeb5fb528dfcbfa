/** The hold on a data directory, against what a process may do to its own locks and files. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import {
  JournalHeldError,
  JournalPlaceError,
  JournalStalledError,
  verifyJournal,
} from '../../src/journal/index.ts';
import { startChild } from '../support/children.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open } = useJournals();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that holds a journal and does something to its own lock. */
function holder(how: string) {
  const dataDir = newDir();
  const copyTo = join(dirname(dataDir), 'copy');
  const child = startChild('test/journal/thread-child.ts', { dataDir, how, copyTo });
  children.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const hear = async () => (await lines.next()).value as string;
  const write = () => {
    child.stdin!.write('\n');
    return hear();
  };
  return { child, dataDir, hear, write };
}

test.each([
  ['thread opens', 'FLEETQ_JOURNAL_HELD'],
  ['thread reads', 'FLEETQ_JOURNAL_HELD'],
  ['file is copied', 'done'],
])('a second process stays out when in the first a %s', async (how, answer) => {
  const { child, dataDir, hear } = holder(how);
  expect(await hear()).toBe(answer);

  expect(() => open(dataDir)).toThrow(JournalHeldError);
  expect(() => open(dataDir)).toThrow(`held by process ${child.pid}`);
  expect(() => verifyJournal(dataDir)).toThrow(JournalHeldError);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(open(dataDir).boot).toBe(2);
});

test('a copy of the whole directory unlocks it until the next commit, which locks it again', async () => {
  const { child, dataDir, hear, write } = holder('directory is copied');
  expect(await hear()).toBe('done');
  expect(await write()).toBe('acknowledged');
  expect(() => open(dataDir)).toThrow(`held by process ${child.pid}`);
  expect(await write()).toBe('acknowledged');
});

test('who has lost the directory to another process writes nothing more, even once that one is gone', async () => {
  const { dataDir, hear, write } = holder('directory is copied');
  expect(await hear()).toBe('done');
  const second = open(dataDir);
  expect(second.boot).toBe(2);
  expect(await write()).toContain(`was taken over by process ${process.pid}`);
  await new RunWriter(second, runIdOf(9)).start();
  second.close();
  const third = open(dataDir);
  expect([third.boot, third.alarms, third.list({ countMax: 9 }).length]).toEqual([3, [], 1]);
});

test('who reads leaves the lock file as it is, and makes none', () => {
  const dataDir = newDir();
  const lock = join(dataDir, 'journal.lock');
  open(dataDir).close();
  expect(verifyJournal(dataDir).problems).toEqual([]);
  expect(readFileSync(lock)).toHaveLength(0);
  rmSync(lock);
  expect(verifyJournal(dataDir).problems).toEqual([]);
  expect(existsSync(lock)).toBe(false);
});

test('a lock file that is something else is refused, with what to do', () => {
  const dataDir = newDir();
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, 'journal.lock'), 'not a lock but a letter'.repeat(50));
  expect(() => open(dataDir)).toThrow(JournalPlaceError);
  expect(existsSync(join(dataDir, 'journal.db'))).toBe(false);
});

test('an opening that fails lets go of the directory', () => {
  const dataDir = newDir();
  mkdirSync(dataDir, { mode: 0o700 });
  const file = join(dataDir, 'journal.db');
  writeFileSync(file, 'dear diary');
  expect(() => open(dataDir)).toThrow(/not a FleetQ journal/);
  rmSync(file);
  expect(open(dataDir).boot).toBe(1);
});

/** A journal with one run in it, and everything that it tells. */
async function running() {
  const dataDir = newDir();
  const clock = new FakeClock();
  const told: string[] = [];
  const onStall = (error: Error) => told.push(error.message);
  const onRecover = () => told.push('recovered');
  const journal = open(dataDir, { clock, onStall, onRecover });
  const run = new RunWriter(journal, runIdOf(1));
  await run.start();
  return { journal, run, dataDir, clock, told, file: join(dataDir, 'journal.db') };
}

test('nothing is acknowledged once the directory is deleted, and new runs are refused', async () => {
  const { journal, run, dataDir, clock, told, file } = await running();
  rmSync(dataDir, { recursive: true });
  const waiting = run.done('main.work').then(
    () => 'acknowledged',
    (error: unknown) => error,
  );
  await clock.advance(60_000);
  const reason = `the journal file is gone from ${file}`;
  expect(told).toEqual([reason]);
  expect(journal.stalledBy?.message).toBe(reason);
  await expect(new RunWriter(journal, runIdOf(2)).start()).rejects.toThrow(JournalStalledError);
  expect(journal.takeDueTimers(clock.now(), 10)).toEqual([]);
  journal.close();
  expect(await waiting).toBeInstanceOf(JournalStalledError);
  expect(existsSync(dataDir)).toBe(false);
});

test('a new run is refused at once, although nobody has noticed yet that the file is gone', async () => {
  const { journal, dataDir, told } = await running();
  rmSync(dataDir, { recursive: true });
  const refused = new RunWriter(journal, runIdOf(2)).start();
  await expect(refused).rejects.toMatchObject({
    code: 'FLEETQ_JOURNAL_STALLED',
    hint: expect.stringContaining('put the same file back'),
  });
  expect(told).toHaveLength(1);
});

test('another file in its place changes nothing; the same one does', async () => {
  const { journal, run, dataDir, clock, told, file } = await running();
  const aside = join(dirname(dataDir), 'aside.db');
  renameSync(file, aside);
  copyFileSync(aside, file);
  const waiting = run.done('main.work');
  await clock.advance(60_000);
  expect(told).toEqual([`the journal file is gone from ${file}`]);
  // The ballast would not help, and may be that of whoever put the file there.
  expect(existsSync(join(dataDir, 'ballast'))).toBe(true);
  renameSync(aside, file);
  await clock.advance(10_000);
  await waiting;
  expect(told.slice(1)).toEqual(['recovered']);
  journal.close();
  expect(verifyJournal(dataDir)).toEqual({ runs: 1, records: 2, sealed: 0, problems: [] });
});

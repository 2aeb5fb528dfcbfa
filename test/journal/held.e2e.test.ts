/** One process holds a journal; everybody else is told which one it is. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  exportRuns,
  inspectJournal,
  JournalHeldError,
  verifyJournal,
} from '../../src/journal/index.ts';
import { runChild, startChild } from '../support/children.ts';
import { useJournals } from './journals.ts';

const { newDir, open } = useJournals();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function heldByChild(dataDir: string): Promise<ChildProcess> {
  const child = startChild('test/journal/hold-child.ts', { dataDir });
  children.push(child);
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  expect(text.toString()).toBe('held\n');
  return child;
}

test('a second process is told who holds the directory, and gets it once that one is dead', async () => {
  const dataDir = newDir();
  const child = await heldByChild(dataDir);
  expect(() => open(dataDir)).toThrow(JournalHeldError);
  expect(() => open(dataDir)).toThrow(`held by process ${child.pid} on ${hostname()}, since 20`);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(open(dataDir).boot).toBe(2);
});

test('who reads the file is refused while somebody holds it, broken or not', async () => {
  const dataDir = newDir();
  await heldByChild(dataDir);
  for (const look of [verifyJournal, inspectJournal, (of: string) => [...exportRuns(of)]]) {
    expect(() => look(dataDir)).toThrow(JournalHeldError);
  }
  rmSync(join(dataDir, 'holder.json'));
  expect(() => open(dataDir)).toThrow(/held by another process/);
});

test('a refused attempt of the same process does not take away its own lock', async () => {
  const dataDir = newDir();
  const journal = open(dataDir);
  // Closing any handle on the file would drop this process's lock: POSIX locks are like that.
  expect(() => open(dataDir)).toThrow(`held by process ${process.pid}`);
  expect(() => verifyJournal(dataDir)).toThrow(JournalHeldError);
  expect(() => [...exportRuns(dataDir)]).toThrow(JournalHeldError);
  const { stdout } = await runChild('test/journal/hold-child.ts', { dataDir });
  expect(JSON.parse(stdout)).toMatchObject({ code: 'FLEETQ_JOURNAL_HELD' });
  journal.close();
  expect(open(dataDir).boot).toBe(2);
});

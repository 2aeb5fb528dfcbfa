/** Must-show 3: no acknowledgement leaves before its records are on the disk, seen from outside. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { childProgram } from '../support/children.ts';
import { readShimLog, shimEnv } from '../support/disk-shim.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import type { CommitTask } from './commit-child.ts';

const COMMITS = 1_000;
const newDir = useTempDirs();

interface Findings {
  readonly commits: number;
  readonly acks: number;
  /** Acks sent while something in the WAL was not synced. */
  readonly early: number;
  /** WAL resets while pages that were moved to the database file were not synced. */
  readonly earlyResets: number;
  readonly resets: number;
  /** Whether the names of the files, and of their directory, were synced before the first ack. */
  readonly areNamesSynced: boolean;
}

function watchCommits(isLazy: boolean): Findings {
  const dataDir = newDir();
  mkdirSync(dirname(dataDir), { recursive: true });
  const [acks, log] = [join(dirname(dataDir), 'acks'), join(dirname(dataDir), 'shim.log')];
  const task: CommitTask = { dataDir, acks, runsAtOnce: 16, commits: COMMITS, isLazy };
  const child = spawnSync(
    process.execPath,
    [childProgram('test/journal/commit-child.ts'), JSON.stringify(task)],
    {
      env: { ...process.env, ...shimEnv({ log: { file: log, path: dirname(dataDir) } }) },
      encoding: 'utf8',
      timeout: 180_000,
    },
  );
  expect(child.stderr).toBe('');
  const { commits } = JSON.parse(child.stdout) as { commits: number };
  return { commits, ...judgeLog(log, dataDir, acks) };
}

function judgeLog(log: string, dataDir: string, ackFile: string): Omit<Findings, 'commits'> {
  const [db, wal] = [join(dataDir, 'journal.db'), join(dataDir, 'journal.db-wal')];
  const dirty = { [db]: false, [wal]: false };
  const names = new Set([dataDir, dirname(dataDir)]);
  let areNamesSynced = false;
  let [acks, early, resets, earlyResets] = [0, 0, 0, 0];
  for (const { op, path, offset, result } of readShimLog(log)) {
    if (result < 0) throw new Error(`${op} of ${path} failed`);
    if (op === 'sync') names.delete(path);
    if (path === ackFile) {
      acks += 1;
      if (acks === 1) areNamesSynced = names.size === 0;
      if (dirty[wal]) early += 1;
    } else if (path in dirty) {
      if (path === wal && op === 'write' && offset === 0) {
        resets += 1;
        if (dirty[db]) earlyResets += 1;
      }
      dirty[path] = op !== 'sync';
    }
  }
  return { acks, early, resets, earlyResets, areNamesSynced };
}

test('every one of 1,000 group commits is synced before any of its records is acknowledged', () => {
  const found = watchCommits(false);
  expect(found.commits).toBeGreaterThanOrEqual(COMMITS);
  // Many records a commit, or it would not be a group.
  expect(found.acks).toBeGreaterThan(5 * found.commits);
  expect(found.early).toBe(0);
  expect(found.areNamesSynced).toBe(true);
  // The WAL was begun anew at least once, each time only after the database file was synced.
  expect(found.resets).toBeGreaterThan(1);
  expect(found.earlyResets).toBe(0);
});

test('the same watch sees acknowledgements that come too early with synchronous=NORMAL', () => {
  const found = watchCommits(true);
  expect(found.acks).toBeGreaterThan(COMMITS);
  expect(found.early).toBeGreaterThan(found.acks / 2);
});

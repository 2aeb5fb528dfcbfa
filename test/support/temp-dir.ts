/** Directories that are gone when the test file is done. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { removeTree } from './remove-tree.ts';

/** Call once at the top of a test file: answers a maker of fresh directories. */
export function useTempDirs(): (name?: string) => string {
  const made: string[] = [];
  afterAll(() => {
    for (const directory of made) removeTree(directory);
  });
  return (name = 'data') => {
    const directory = mkdtempSync(join(tmpdir(), 'fleetq-test-'));
    made.push(directory);
    return join(directory, name);
  };
}

const WHAT_A_CRASH_LEAVES = ['journal.db', 'journal.db-wal', 'journal.mark'];

/**
 * What a SIGKILL at this instant would leave of `dataDir`, as a directory of its own: the files as
 * the kernel has them. So one process can go on from a crash under a clock that the test owns.
 */
export function crashImage(dataDir: string, to: string): string {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const file of WHAT_A_CRASH_LEAVES) {
    if (existsSync(join(dataDir, file))) copyFileSync(join(dataDir, file), join(to, file));
  }
  return to;
}

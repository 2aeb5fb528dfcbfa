/** Journals in directories of their own, for tests of the journal alone. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach } from 'vitest';
import { type JournalOptions, SqliteJournal } from '../../src/journal/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { crashImage, useTempDirs } from '../support/temp-dir.ts';
import { clockAt } from './entries.ts';

export const NOW = 1_000_000;

/** Call once at the top of a test file. */
export function useJournals() {
  const newDir = useTempDirs();
  const opened: SqliteJournal[] = [];
  afterEach(() => {
    for (const journal of opened.splice(0)) journal.close();
  });
  const open = (directory: string, options: Partial<JournalOptions> = {}): SqliteJournal => {
    const journal = SqliteJournal.open(directory, {
      clock: clockAt(NOW),
      random: seededRandom(3),
      ...options,
    });
    opened.push(journal);
    return journal;
  };
  return {
    newDir,
    open,
    /** What a SIGKILL would leave of `directory` now. */
    killed: (directory: string) => crashImage(directory, newDir()),
    /** The file as a person at a SQL prompt has it. */
    sql: (directory: string) => new Database(join(directory, 'journal.db')),
  };
}

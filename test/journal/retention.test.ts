/** What retention costs: a pass looks at what it may take, never at all that is kept. */
import { expect, test } from 'vitest';
import type { SqliteJournal } from '../../src/journal/index.ts';
import * as statements from '../../src/journal/journal.sql.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed, sql } = useJournals();
const KEPT = 2_000;
const PAGE = 100;

/** Ended at `at + 1`, all in one commit or two. */
async function endedAt(journal: SqliteJournal, first: number, count: number, at: number) {
  const runs = Array.from(
    { length: count },
    (_, index) => new RunWriter(journal, runIdOf(first + index), { at }),
  );
  await Promise.all(runs.map((run) => run.start()));
  const ending = { outcome: 'completed', state: 'main.persist', output: null } as const;
  await Promise.all(runs.map((run) => run.end(ending)));
}

/** Passes until one says that there is no more, as the pruner does. */
function pruneAll(journal: SqliteJournal, events: number): { passes: number; lookedMax: number } {
  let lookedMax = 0;
  for (let passes = 1; ; passes++) {
    const { looked, isMore } = journal.prune({ events, rows: 0 }, PAGE);
    lookedMax = Math.max(lookedMax, looked);
    if (!isMore) return { passes, lookedMax };
    if (passes > KEPT) throw new Error('the passes do not end');
  }
}

test('a pass looks only at runs that ended since the last one, however many rows are kept', async () => {
  const directory = newDir();
  const journal = open(directory);
  await endedAt(journal, 0, KEPT, 10);
  pruneAll(journal, 5_000);
  expect(journal.prune({ events: 5_000, rows: 0 }, PAGE)).toEqual({
    runs: 0,
    looked: 0,
    isMore: false,
  });
  await endedAt(journal, KEPT, 3, 6_000);
  const { runs, looked } = journal.prune({ events: 7_000, rows: 0 }, PAGE);
  expect({ runs, looked }).toEqual({ runs: 3, looked: 3 });

  // A new process has to walk what is kept once, in pages of a bounded size, and then no more.
  const next = open(killed(directory));
  const { passes, lookedMax } = pruneAll(next, 8_000);
  expect(lookedMax).toBe(PAGE);
  expect(passes).toBe(Math.floor(KEPT / PAGE) + 1);
  expect(next.prune({ events: 9_000, rows: 0 }, PAGE).looked).toBe(0);
});

test('runs that end in the same instant are taken page by page, none twice and none left out', async () => {
  const journal = open(newDir());
  await endedAt(journal, 0, 250, 10);
  const passes = [1, 2, 3, 4].map(() => journal.prune({ events: 5_000, rows: 0 }, PAGE).runs);
  expect(passes).toEqual([100, 100, 50, 0]);
  expect(journal.hasEvents(runIdOf(249))).toBe(false);
});

test('a run that ends before what was walked, by a clock that was set back, is found again', async () => {
  const journal = open(newDir());
  await endedAt(journal, 0, 1, 5_000);
  expect(journal.prune({ events: 6_000, rows: 0 }, PAGE).runs).toBe(1);
  await endedAt(journal, 1, 1, 1_000);
  expect(journal.prune({ events: 2_000, rows: 0 }, PAGE).runs).toBe(1);
});

test('both statements seek in the index of ended runs, and sort nothing', () => {
  const directory = newDir();
  open(directory).close();
  const prompt = sql(directory);
  const planOf = (text: string, ...values: unknown[]) =>
    (prompt.prepare(`explain query plan ${text}`).all(...values) as { detail: string }[])
      .map(({ detail }) => detail)
      .join('\n');
  const pages = planOf(statements.selectEndedAfter, 9, 1, 'a', 5);
  expect(pages).toContain('INDEX runs_finished ((finished_at,id)>(?,?) AND finished_at<?)');
  expect(pages).toContain('INDEX events_of_run (run=?)');
  const rows = planOf(statements.selectForgettable, 9, 5);
  expect(rows).toMatch(/SEARCH runs USING COVERING INDEX runs_finished .*finished_at</);
  expect(`${pages}${rows}`).not.toMatch(/SCAN|TEMP B-TREE/);
  prompt.close();
});

/** Resuming reads runs in pages: bounded by their weight, and never with what sleeps among them. */
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { RunWriter, runIdOf } from './entries.ts';
import { NOW, useJournals } from './journals.ts';

const { newDir, open } = useJournals();
afterEach(() => vi.restoreAllMocks());

/** How many runs each reading of them and their records has given, one number a page. */
function watchReadings(): number[] {
  const counts: number[] = [];
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1'));
  const { iterate } = statement;
  vi.spyOn(statement, 'iterate').mockImplementation(function* (this: unknown, ...of: unknown[]) {
    const page = counts.push(0) - 1;
    for (const row of iterate.apply(this, of)) {
      counts[page]!++;
      yield row;
    }
  });
  return counts;
}

test('the records of runs that sleep are not read to resume those around them', async () => {
  const journal = open(newDir());
  for (let index = 0; index < 30; index++) {
    const run = new RunWriter(journal, runIdOf(index));
    await run.start();
    if (index % 10 !== 0) await run.fail(NOW + 1_000, true);
  }
  const counts = watchReadings();
  expect([...journal.unfinished(NOW)].map(({ row }) => row.id)).toEqual([0, 10, 20].map(runIdOf));
  // The second finds that there are no more.
  expect(counts).toEqual([3, 0]);
});

test('a page of heavy runs ends early, and all of them come, whole and in order', async () => {
  const journal = open(newDir());
  const count = 40;
  const input = 'y'.repeat(1024 * 1024);
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const run = new RunWriter(journal, runIdOf(index), { input });
      await run.start();
      await run.done('main.work');
    }),
  );
  const counts = watchReadings();
  const ids: string[] = [];
  for (const found of journal.unfinished(-1)) {
    expect(found).toMatchObject({ records: [{ seq: 0 }, { seq: 1 }] });
    ids.push(found.row.id);
  }
  expect(ids).toEqual(Array.from({ length: count }, (_, index) => runIdOf(index)));
  expect(counts.length).toBeGreaterThanOrEqual(4);
  expect(Math.max(...counts)).toBeLessThan(25);
});

/** Reading a journal that nobody holds: everything wrong is found, and nothing is changed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import {
  exportRuns,
  inspectJournal,
  JournalPlaceError,
  verifyJournal,
} from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed } = useJournals();

/** Two ended runs, one that waits with a timer, one that works; as a SIGKILL leaves it. */
async function leftBehind(): Promise<string> {
  const directory = newDir();
  const journal = open(directory);
  const runs = [1, 2, 3, 4].map((index) => new RunWriter(journal, runIdOf(index)));
  for (const run of runs) await run.start();
  await runs[0]!.end({ outcome: 'completed', state: 'main.persist', output: { n: 1 } });
  await runs[1]!.end({ outcome: 'exhausted', state: 'main.work', reason: 'no luck' });
  await runs[2]!.fail(5_000, true);
  journal.occupy([{ slot: 0, run: runIdOf(4), seq: 0 }]);
  return killed(directory);
}

function printOf(directory: string): Record<string, string> {
  const names = (readdirSync(directory) as string[]).sort();
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex'),
    ]),
  );
}

test('a whole journal verifies, and looking leaves every file as it was', async () => {
  const directory = await leftBehind();
  const before = printOf(directory);
  expect(Object.keys(before)).toEqual(['journal.db', 'journal.db-wal', 'journal.mark']);
  expect(verifyJournal(directory)).toEqual({ runs: 4, records: 7, sealed: 0, problems: [] });
  const report = inspectJournal(directory);
  expect(report).toMatchObject({
    boot: 1,
    format: 2,
    lsn: 8,
    runs: { unfinished: 2, finished: 2 },
    records: 7,
    timers: 1,
    deadLetters: 1,
    mark: { state: 'whole', lsn: 8, occupied: 1 },
  });
  expect(report.walBytes).toBeGreaterThan(0);
  const exported = [...exportRuns(directory)];
  expect(exported.map((run) => [Number(run.id.slice(3)), run.records.length])).toEqual([
    [4, 1],
    [3, 2],
    [2, 2],
    [1, 2],
  ]);
  expect([...exportRuns(directory, { run: runIdOf(1) })]).toMatchObject([
    { id: runIdOf(1), ending: { output: { n: 1 } } },
  ]);
  expect([...exportRuns(directory, { run: runIdOf(9) })]).toEqual([]);
  expect(printOf(directory)).toEqual(before);
  // The next process finds what it would have found.
  const next = open(directory);
  expect([next.boot, next.alarms, next.evidence.occupied.size]).toEqual([2, [], 1]);
});

test('a directory without a journal is an error that says so, and none is made', () => {
  const directory = newDir();
  for (const look of [verifyJournal, inspectJournal, (of: string) => [...exportRuns(of)]]) {
    expect(() => look(directory)).toThrow(JournalPlaceError);
    expect(() => look(directory)).toThrow(/there is no journal in/);
  }
});

const HARM: readonly (readonly [what: string, sql: string, wanted: RegExp])[] = [
  [
    'a changed record',
    `update events set data = replace(data, '{', '{ ') where run = '${runIdOf(4)}'`,
    /record 0 does not match its hash/,
  ],
  [
    'a lost last record of an ended run',
    `delete from events where run = '${runIdOf(1)}' and seq = 1`,
    /its records end at 0, its row at 1/,
  ],
  [
    'a changed ending',
    `update runs set ending = replace(ending, 'no luck', 'luck') where id = '${runIdOf(2)}'`,
    /does not match its seal/,
  ],
  [
    'a changed row of a live run',
    `update runs set started_at = 7 where id = '${runIdOf(4)}'`,
    /its row and its first record differ/,
  ],
  ['a timer at another time', 'update timers set due_at = 6000', /its timer and its last record/],
  [
    'a timer of nobody',
    `insert into timers values ('${runIdOf(1)}', 5)`,
    /there is a timer for it, and it does not wait/,
  ],
  [
    'records of nobody',
    `delete from runs where id = '${runIdOf(4)}'`,
    /there are records of it, and no row/,
  ],
  ['a changed head', 'update journal set boot = 7', /the head is damaged/],
  ['a lost trigger', 'drop trigger events_are_final', /the tables are not those of format/],
];

test.each(HARM)('%s is found', async (_what, harm, wanted) => {
  const directory = await leftBehind();
  const file = new Database(join(directory, 'journal.db'));
  const triggers = file
    .prepare("select name, sql from sqlite_schema where type = 'trigger'")
    .all() as { name: string; sql: string }[];
  if (!harm.startsWith('drop')) for (const { name } of triggers) file.exec(`drop trigger ${name}`);
  file.exec(harm);
  if (!harm.startsWith('drop')) for (const { sql } of triggers) file.exec(sql);
  file.close();
  const messages = verifyJournal(directory).problems.map(({ message }) => message);
  expect(messages.join('\n')).toMatch(wanted);
});

test('a journal behind its mark is found', async () => {
  const directory = await leftBehind();
  const { truncateSync } = await import('node:fs');
  const wal = join(directory, 'journal.db-wal');
  truncateSync(wal, readFileSync(wal).length - 5_000);
  const { problems } = verifyJournal(directory);
  expect(problems.map(({ message }) => message).join()).toMatch(/records were lost/);
});

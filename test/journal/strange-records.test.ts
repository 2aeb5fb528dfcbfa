/**
 * A broken file with records in it that are whole and that nobody here understands: of a kind that only
 * a newer version knows, or written with another key. They are carried over, and their runs stand still.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Codec, JournalFormatError } from '../../src/journal/index.ts';
import type { RunEvent } from '../../src/machine/index.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, sql } = useJournals();

/** What a later version might write. */
const LATER = { type: 'FORETOLD', by: 'a later version' } as unknown as RunEvent;

/** The format version of the header: SQLite would refuse to write the file for ever. */
function breakHeader(directory: string): void {
  const file = join(directory, 'journal.db');
  const bytes = readFileSync(file);
  bytes[18]! ^= 4;
  writeFileSync(file, bytes);
}

/** One plain run, one with a strange record in the middle and one that has ended after such a one. */
async function journalWithStrangers(): Promise<string> {
  const directory = newDir();
  const journal = open(directory);
  const [plain, strange, ended] = [1, 2, 3].map((index) => new RunWriter(journal, runIdOf(index)));
  for (const run of [plain!, strange!, ended!]) await run.start();
  await plain!.fail(7_000, true);
  for (const run of [strange!, ended!]) await run.append(LATER, 'main.work');
  await strange!.done('main.validate');
  await ended!.end({ outcome: 'completed', state: 'main.persist', output: 'kept' });
  journal.close();
  return directory;
}

function recordsIn(directory: string): unknown[] {
  const prompt = sql(directory);
  const rows = prompt.prepare('select * from events order by lsn').all();
  prompt.close();
  return rows;
}

test('I34: records of an unknown kind are not cut off a broken file', async () => {
  const directory = await journalWithStrangers();
  const before = recordsIn(directory);
  breakHeader(directory);
  const journal = open(directory);
  expect(journal.alarms).toEqual([
    {
      kind: 'fileDamaged',
      message: expect.stringMatching(
        `3 runs were carried over, 0 were not, or not whole; 2 have records that this FleetQ does ` +
          `not understand, were carried over as they are, and stand still: ` +
          `(${runIdOf(2)}, ${runIdOf(3)}|${runIdOf(3)}, ${runIdOf(2)})$`,
      ),
    },
  ]);
  // Neither of them goes on, and it is said why.
  const resumed = [...journal.unfinished(10_000)];
  expect(resumed.map(({ row, damage }) => [row.id, damage])).toEqual([
    [runIdOf(1), undefined],
    [runIdOf(2), expect.stringMatching("record 1 is of the unknown kind 'FORETOLD'")],
  ]);
  expect(() => journal.history(runIdOf(3))).toThrow("unknown kind 'FORETOLD'");
  expect(journal.find(runIdOf(3))?.ending?.output).toBe('kept');
  journal.close();
  expect(recordsIn(directory), 'whoever understands them finds all of them').toEqual(before);
});

/** Says of what another key has written that it is not its own. */
const keyed = (key: string): Codec => ({
  encode: (text) => `${key}:${text}`,
  decode: (stored) => {
    if (!stored.startsWith(`${key}:`)) throw new Error('written with another key');
    return stored.slice(key.length + 1);
  },
});

test('a broken file that is opened with the wrong key loses nothing by it', async () => {
  const directory = newDir();
  const journal = open(directory, { codec: keyed('right') });
  const [live, ended] = [1, 2].map((index) => new RunWriter(journal, runIdOf(index)));
  for (const run of [live!, ended!]) await run.start();
  await live!.done('main.work', 'made');
  await ended!.end({ outcome: 'completed', state: 'main.persist', output: 'kept' });
  journal.close();
  breakHeader(directory);
  const wrong = open(directory, { codec: keyed('wrong') });
  expect(wrong.alarms[0]!.message).toMatch(
    /2 runs were carried over, 0 were not.*; 2 have records/,
  );
  expect([...wrong.unfinished(0)].map(({ damage }) => damage)).toEqual([
    expect.stringMatching('record 0 cannot be decoded'),
  ]);
  wrong.close();
  const right = open(directory, { codec: keyed('right') });
  expect(right.history(runIdOf(1))).toHaveLength(2);
  expect(right.find(runIdOf(2))?.ending?.output).toBe('kept');
});

test('a strange record after which something is damaged is told as both', async () => {
  const directory = await journalWithStrangers();
  const file = join(directory, 'journal.db');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('main.validate');
  bytes[at]! ^= 1;
  bytes[18]! ^= 4;
  writeFileSync(file, bytes);
  const { message } = open(directory).alarms[0]!;
  expect(message).toContain(`1 were not, or not whole: ${runIdOf(2)}; 2 have records`);
});

test('a broken file of a newer format is refused, and stays where it is', async () => {
  const directory = await journalWithStrangers();
  const newer = sql(directory);
  newer.exec("create table later (a); update journal set seal = 'by rules of later'");
  newer.pragma('user_version = 99');
  newer.close();
  breakHeader(directory);
  const before = readFileSync(join(directory, 'journal.db'));
  expect(() => open(directory)).toThrow(JournalFormatError);
  expect(() => open(directory)).toThrow(/has format 99; this FleetQ knows formats up to \d+$/);
  expect(readFileSync(join(directory, 'journal.db')).equals(before)).toBe(true);
  const left = readdirSync(directory).filter((name) => /building|new|reading|quar/.test(name));
  expect(left).toEqual([]);
});

test('a number of a newer format over tables of this one is damage, and the runs go on', async () => {
  const directory = await journalWithStrangers();
  const other = sql(directory);
  other.pragma('user_version = 99');
  other.close();
  breakHeader(directory);
  expect(open(directory).alarms[0]!.message).toMatch(/3 runs were carried over, 0 were not/);
});

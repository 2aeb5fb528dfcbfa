/** The row of a run that a newer version has taken up: of that version, and held against its records. */
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { SqliteJournal } from '../../src/journal/index.ts';
import { unfinishedRow } from '../../src/journal/run-row.ts';
import { verifyJournal } from '../../src/journal/verify.ts';
import type { RunEvent } from '../../src/machine/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { clockAt, runIdOf } from './entries.ts';

const newDir = useTempDirs();
const id = runIdOf(1);
const EVENTS: readonly (readonly [RunEvent, string])[] = [
  [{ type: 'STARTED', machine: 'm', version: 1, fingerprint: 'one', input: 1 }, 'a.work'],
  [{ type: 'ADVANCED', version: 2, fingerprint: 'two' }, 'a.work'],
  [
    {
      type: 'UPGRADED',
      version: 4,
      fingerprint: 'four',
      from: 2,
      step: 'b',
      input: 2,
      outputs: {},
    },
    'b.work',
  ],
];

async function written(count: number): Promise<string> {
  const directory = newDir();
  const journal = SqliteJournal.open(directory, { clock: clockAt(5), random: seededRandom(1) });
  let prevHash = '';
  for (const [seq, [event, state]] of EVENTS.slice(0, count).entries()) {
    const opens = seq === 0 ? { machine: 'm', version: 1 } : undefined;
    const entry = { run: id, seq, at: 5, epoch: 1, event, state, prevHash, opens };
    prevHash = (await journal.append(entry)).hash;
  }
  journal.close();
  return directory;
}

test.each([
  [1, 1],
  [2, 2],
  [3, 4],
])(
  'after %i records the row is of version %i, and so is one that is salvaged',
  async (count, version) => {
    const directory = await written(count);
    expect(verifyJournal(directory).problems).toEqual([]);
    const journal = SqliteJournal.open(directory, { clock: clockAt(6), random: seededRandom(2) });
    expect(journal.find(id)).toMatchObject({ version });
    expect([...journal.unfinished(-1)]).toMatchObject([{ row: { version } }]);
    expect(unfinishedRow(id, journal.history(id))).toMatchObject({ version, machine: 'm' });
    journal.close();
  },
);

test.each([1, 3])('a row that was put to version %i is not trusted', async (wrong) => {
  const directory = await written(2);
  const file = new Database(`${directory}/journal.db`);
  file.prepare('update runs set version = ?').run(wrong);
  file.close();
  expect(verifyJournal(directory).problems).toMatchObject([{ run: id }]);
  const journal = SqliteJournal.open(directory, { clock: clockAt(6), random: seededRandom(2) });
  expect([...journal.unfinished(-1)]).toMatchObject([{ damage: expect.stringMatching(/differ/) }]);
  expect(() => journal.history(id)).toThrow(/differ/);
  journal.close();
});

/** A broken file: what is carried over, what is kept as evidence, and deaths in between. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyJournal } from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed } = useJournals();

/** An ended run, a failed one and a live one that sleeps, all in the database file. */
async function closedJournal(): Promise<string> {
  const directory = newDir();
  open(directory).close();
  const journal = open(directory);
  const runs = [1, 2, 3].map(
    (index) => new RunWriter(journal, runIdOf(index), { key: `k${index}` }),
  );
  for (const run of runs) await run.start();
  await runs[0]!.end({ outcome: 'completed', state: 'main.persist', output: 'kept' });
  await runs[1]!.end({ outcome: 'aborted', state: 'main.work', reason: 'kept too' });
  await runs[2]!.fail(7_000, true);
  journal.close();
  return directory;
}

/** One bit in the format version of the header: SQLite would refuse to write the file for ever. */
function breakHeader(directory: string): void {
  const file = join(directory, 'journal.db');
  const bytes = readFileSync(file);
  bytes[18]! ^= 4;
  writeFileSync(file, bytes);
}

test('every run that proves itself is carried over: outcome, key, timer, dead letter, history', async () => {
  const directory = await closedJournal();
  breakHeader(directory);
  const broken = readFileSync(join(directory, 'journal.db'));
  const journal = open(directory);
  expect(journal.alarms).toEqual([
    { kind: 'fileDamaged', message: expect.stringMatching(/3 runs were carried over, 0 were not/) },
  ]);
  expect(journal.find(runIdOf(1))?.ending?.output).toBe('kept');
  expect(journal.deadLetters(5)).toMatchObject([
    { run: runIdOf(2), reason: 'kept too', attempt: 2 },
  ]);
  expect(journal.findByKey('sample/one', 'k3', 0)?.id).toBe(runIdOf(3));
  expect(journal.nextTimerAt()).toBe(7_000);
  expect(journal.history(runIdOf(3))).toHaveLength(2);
  // The epoch of runs never falls, and nobody knows what was being executed.
  expect(journal.boot).toBe(3);
  expect(journal.evidence.isComplete).toBe(false);
  // The evidence is as it was found.
  const kept = readdirSync(join(directory, 'quarantine')).filter((name) => name.endsWith('.db'));
  expect(kept).toHaveLength(1);
  expect(readFileSync(join(directory, 'quarantine', kept[0]!)).equals(broken)).toBe(true);
  journal.close();
  expect(open(directory).alarms).toEqual([]);
});

test('a journal that is replaced keeps its name, and knows who was inside a phase', async () => {
  const directory = newDir();
  const journal = open(directory);
  const [inside, waits] = [runIdOf(1), runIdOf(2)];
  for (const run of [inside, waits]) await new RunWriter(journal, run).start();
  journal.occupy([{ slot: 0, run: inside, seq: 0 }]);
  // Twice, and killed in between: what the mark says is handed on.
  let image = directory;
  for (const boot of [2, 3]) {
    image = killed(image);
    breakHeader(image);
    const next = open(image);
    expect(next.alarms.map(({ kind }) => kind)).toEqual(['fileDamaged']);
    expect(next).toMatchObject({ id: journal.id, boot });
    expect(next.evidence).toEqual({
      isComplete: false,
      unknownUntil: next.lsnAtOpen,
      occupied: new Map([[inside, 0]]),
    });
  }
});

test('in a fleet it is no copy for that, and a damaged copy is still one', async () => {
  const directory = newDir();
  const aside = { copies: 'aside' } as const;
  const journal = open(directory, aside);
  await new RunWriter(journal, runIdOf(1)).start();
  journal.close();
  const copied = join(newDir(), 'copied');
  cpSync(directory, copied, { recursive: true });
  breakHeader(directory);
  const again = open(directory, aside);
  expect(again.alarms.map(({ kind }) => kind)).toEqual(['fileDamaged']);
  expect(again.copyOf).toBeUndefined();
  again.close();
  expect(open(directory, aside).alarms).toEqual([]);
  breakHeader(copied);
  const copy = open(copied, aside);
  expect(copy.alarms.map(({ kind }) => kind)).toEqual(['fileDamaged', 'copied']);
  expect(copy.copyOf).toEqual({ journal: journal.id, lsn: journal.lsn });
});

test('an ended run whose records are broken keeps its outcome, and the alarm names it', async () => {
  const directory = await closedJournal();
  const file = join(directory, 'journal.db');
  const bytes = readFileSync(file);
  const at = bytes.lastIndexOf('"type":"DONE"');
  bytes[at + 3]! ^= 1;
  bytes[18]! ^= 4;
  writeFileSync(file, bytes);
  const journal = open(directory);
  expect(journal.alarms[0]!.message).toContain(`1 were not, or not whole: ${runIdOf(1)}`);
  expect(journal.find(runIdOf(1))?.ending?.output).toBe('kept');
  expect(journal.history(runIdOf(1))).toEqual([]);
});

test('a database file that was emptied does not take its WAL with it', async () => {
  const directory = newDir();
  const journal = open(directory);
  for (const index of [1, 2, 3]) await new RunWriter(journal, runIdOf(index)).start();
  const image = killed(directory);
  const wal = readFileSync(join(image, 'journal.db-wal'));
  truncateSync(join(image, 'journal.db'), 0);
  const next = open(image);
  expect(next.alarms[0]!.message).toMatch(/the file is empty, its WAL is not.*3 runs were carried/);
  const kept = readdirSync(join(image, 'quarantine')).find((name) => name.endsWith('-wal'))!;
  expect(readFileSync(join(image, 'quarantine', kept)).equals(wal)).toBe(true);
});

test('a WAL of which the end cannot be reached is kept as it was found', async () => {
  const directory = newDir();
  const journal = open(directory);
  for (const index of [1, 2, 3]) await new RunWriter(journal, runIdOf(index)).start();
  const image = killed(directory);
  const file = join(image, 'journal.db-wal');
  const wal = readFileSync(file);
  wal[wal.length - 20_000]! ^= 1;
  writeFileSync(file, wal);
  const { alarms } = open(image);
  expect(alarms.map(({ kind }) => kind)).toEqual(['recordsLost']);
  const kept = /its WAL is kept as (.*)$/.exec(alarms[0]!.message)![1]!;
  expect(readFileSync(kept).equals(wal)).toBe(true);
  expect(lstatSync(kept).mode & 0o777).toBe(0o600);
});

test('a death while a broken file is replaced leaves the old one or a complete new one', async () => {
  const directory = await closedJournal();
  breakHeader(directory);
  const broken = join(newDir(), 'broken');
  copyDirectory(directory, broken);
  open(directory).close();
  const complete = readFileSync(join(directory, 'journal.db'));

  // While the new one is being built, or just after: the old file is still there, and all is redone.
  for (const name of ['journal.db.building', 'journal.db.new']) {
    const image = newDir();
    copyDirectory(broken, image);
    writeFileSync(join(image, name), complete.subarray(0, 10_000));
    mkdirSync(join(image, 'journal.reading-dead'));
    const journal = open(image);
    expect(journal.alarms[0]!.message).toMatch(/3 runs were carried over/);
    journal.close();
    expect(readdirSync(image).filter((left) => /building|new|reading/.test(left))).toEqual([]);
  }

  // The old one is in quarantine, its WAL is not yet, the new one is not in its place yet.
  const image = newDir();
  copyDirectory(broken, image);
  mkdirSync(join(image, 'quarantine'), { mode: 0o700 });
  writeFileSync(join(image, 'journal.db.new'), complete, { mode: 0o600 });
  renameSync(join(image, 'journal.db'), join(image, 'quarantine', 'old-journal.db'));
  writeFileSync(join(image, 'journal.db-wal'), 'of the old file');
  const journal = open(image);
  expect(journal.alarms[0]!.kind).toBe('fileDamaged');
  expect(journal.list({ countMax: 10 })).toHaveLength(3);
  expect(readdirSync(join(image, 'quarantine'))).toHaveLength(2);
  journal.close();
  rmSync(join(image, 'journal.mark'));
  expect(verifyJournal(image).runs).toBe(3);
});

test('a second broken file does not overwrite the first in quarantine', async () => {
  const directory = await closedJournal();
  for (let time = 0; time < 3; time++) {
    breakHeader(directory);
    open(directory).close();
  }
  const kept = readdirSync(join(directory, 'quarantine')).filter((name) => name.endsWith('.db'));
  expect(kept).toHaveLength(3);
  expect(existsSync(join(directory, 'journal.db'))).toBe(true);
});

function copyDirectory(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of ['journal.db', 'journal.mark']) copyFileSync(join(from, name), join(to, name));
}

/** The mark beside the journal: what it proves after a SIGKILL, and when it proves nothing. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import type { SqliteJournal } from '../../src/journal/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed } = useJournals();
const [R, S] = [runIdOf(1), runIdOf(2)];

async function twoRuns(journal: SqliteJournal): Promise<RunWriter[]> {
  const runs = [R, S].map((id) => new RunWriter(journal, id));
  for (const run of runs) {
    await run.start();
    await run.done('main.work');
  }
  return runs;
}

function rewriteMark(directory: string, change: (header: Buffer) => void): void {
  const file = join(directory, 'journal.mark');
  const bytes = readFileSync(file);
  change(bytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 100)), 100);
  writeFileSync(file, bytes);
}

test('after a SIGKILL the next process knows which runs were in a slot, and since which record', async () => {
  const directory = newDir();
  const journal = open(directory);
  expect(journal.evidence).toMatchObject({ isComplete: true, occupied: new Map() });
  await twoRuns(journal);
  journal.occupy([
    { slot: 3, run: R, seq: 0 },
    { slot: 70, run: S, seq: 1 },
  ]);
  const next = open(killed(directory));
  expect(next.alarms).toEqual([]);
  expect(next.evidence).toMatchObject({
    isComplete: true,
    occupied: new Map([
      [R, 0],
      [S, 1],
    ]),
  });
});

test('a run whose id is a UUID is known as well as any other', async () => {
  const directory = newDir();
  const journal = open(directory);
  const uuid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' as typeof R;
  const run = new RunWriter(journal, uuid);
  await run.start();
  journal.occupy([{ slot: 0, run: uuid, seq: 0 }]);
  const next = open(killed(directory));
  expect(next.evidence).toMatchObject({ isComplete: true, occupied: new Map([[uuid, 0]]) });
  const third = open(killed(directory));
  expect(third.evidence.occupied).toEqual(new Map([[uuid, 0]]));
});

test('a drained process leaves empty slots', async () => {
  const directory = newDir();
  const journal = open(directory);
  await twoRuns(journal);
  journal.occupy([{ slot: 0, run: R, seq: 1 }]);
  journal.vacate();
  journal.close();
  expect(open(directory).evidence).toMatchObject({ isComplete: true, occupied: new Map() });
});

test('a process that dies before it has recorded an interruption hands the knowledge on', async () => {
  const directory = newDir();
  const first = open(directory);
  await twoRuns(first);
  first.occupy([
    { slot: 0, run: R, seq: 1 },
    { slot: 1, run: S, seq: 1 },
  ]);
  let image = killed(directory);
  // Any number of deaths in recovery changes nothing.
  for (let death = 0; death < 3; death++) {
    expect(open(image).evidence.occupied).toEqual(new Map([R, S].map((run) => [run, 1])));
    image = killed(image);
  }
  const recovering = open(image);
  // Its slot 0 is another one's now; that must not wipe out what is known of R.
  recovering.occupy([{ slot: 0, run: S, seq: 1 }]);
  const interrupted = { type: 'INTERRUPTED' } as const;
  const last = recovering.history(S).at(-1)!;
  await recovering.append({
    run: S,
    seq: last.seq + 1,
    at: 5,
    epoch: recovering.boot,
    event: interrupted,
    state: 'main.work',
    prevHash: last.hash,
  });
  recovering.vacate();
  const next = open(killed(image));
  // S was dealt with, and had no slot again; R was not.
  expect(next.evidence).toMatchObject({ isComplete: true, occupied: new Map([[R, 1]]) });
});

test('a run that has ended is nobody to know about', async () => {
  const directory = newDir();
  const first = open(directory);
  const [run] = await twoRuns(first);
  first.occupy([{ slot: 0, run: R, seq: 1 }]);
  const image = killed(directory);
  const second = open(image);
  const last = second.history(R).at(-1)!;
  const ending = { outcome: 'completed', state: 'main.work', output: null } as const;
  await second.append({
    run: R,
    seq: last.seq + 1,
    at: 9,
    epoch: second.boot,
    event: { type: 'DONE', output: null },
    state: 'completed',
    prevHash: last.hash,
    closes: { machine: 'sample/one', version: 1, startedAt: 1_000, attempt: 1, ending },
  });
  expect(run!.id).toBe(R);
  expect(open(killed(image)).evidence.occupied).toEqual(new Map());
});

test('the mark of another boot of the kernel proves nothing, without an alarm', async () => {
  const directory = newDir();
  const first = open(directory);
  const [run] = await twoRuns(first);
  first.occupy([{ slot: 0, run: R, seq: 1 }]);
  const image = killed(directory);
  rewriteMark(image, (header) =>
    header.write('00000000-0000-4000-8000-000000000000', 40, 'latin1'),
  );
  const second = open(image);
  expect(second.alarms).toEqual([]);
  expect(second.evidence.isComplete).toBe(false);
  expect(second.evidence.occupied.get(R)).toBe(1);
  // What was unknown stays unknown to the next one, but for runs that have moved on since.
  const third = open(killed(image));
  expect(third.evidence.isComplete).toBe(false);
  const { unknownUntil } = third.evidence;
  expect(unknownUntil).toBeGreaterThanOrEqual(second.history(S).at(-1)!.lsn);
  const last = third.history(R).at(-1)!;
  await third.append({
    run: R,
    seq: run!.seq + 1,
    at: 5,
    epoch: third.boot,
    event: { type: 'INTERRUPTED' },
    state: 'main.work',
    prevHash: last.hash,
  });
  expect(third.history(R).at(-1)!.lsn).toBeGreaterThan(unknownUntil!);
});

test('a journal that has lost what the mark has seen says so', async () => {
  const directory = newDir();
  await twoRuns(open(directory));
  const image = killed(directory);
  truncateSync(join(image, 'journal.db-wal'), 20_000);
  const { alarms, evidence } = open(image);
  expect(alarms.map(({ kind }) => kind)).toEqual(['recordsLost']);
  expect(alarms[0]!.message).toMatch(/has lost its last \d+ records: it ends at \d+, and had \d+/);
  expect(evidence.isComplete).toBe(false);
});

test('timers that were taken and runs that were pruned are missed as well as records', async () => {
  const directory = newDir();
  const journal = open(directory);
  const [run] = await twoRuns(journal);
  await run!.fail(500, true);
  const before = readFileSync(join(directory, 'journal.db-wal')).length;
  journal.takeDueTimers(1_000, 10);
  const image = killed(directory);
  truncateSync(join(image, 'journal.db-wal'), before);
  expect(open(image).alarms.map(({ kind }) => kind)).toEqual(['recordsLost']);
});

test('a missing, cut or damaged mark is said aloud, and then nothing is taken for known', async () => {
  const damage: Record<string, (file: string) => void> = {
    missing: (file) => rmSync(file),
    cut: (file) => truncateSync(file, 100),
    damaged: (file) => {
      const bytes = readFileSync(file);
      bytes[80]! ^= 1;
      writeFileSync(file, bytes);
    },
  };
  for (const [what, harm] of Object.entries(damage)) {
    const directory = newDir();
    await twoRuns(open(directory));
    const image = killed(directory);
    harm(join(image, 'journal.mark'));
    const { alarms, evidence } = open(image);
    expect(
      alarms.map(({ kind }) => kind),
      what,
    ).toEqual(['markDamaged']);
    expect(evidence.isComplete, what).toBe(false);
  }
});

test('a slot that was cut off is not taken for an empty one', async () => {
  const directory = newDir();
  const journal = open(directory);
  await twoRuns(journal);
  journal.occupy([
    { slot: 0, run: R, seq: 1 },
    { slot: 1, run: S, seq: 1 },
  ]);
  const image = killed(directory);
  truncateSync(join(image, 'journal.mark'), 128 + 48);
  expect(open(image).evidence.isComplete).toBe(false);
});

test('another journal in the place of the one that the mark knows is said aloud', async () => {
  const directory = newDir();
  await twoRuns(open(directory));
  const image = killed(directory);
  for (const name of ['journal.db', 'journal.db-wal']) rmSync(join(image, name));
  const { alarms } = open(image, { random: seededRandom(99) });
  expect(alarms.map(({ kind }) => kind)).toEqual(['otherJournal']);
});

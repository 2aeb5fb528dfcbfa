/** A journal that is sealed: who has the key, who has not, and what both can say of the file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  aesCodec,
  KeyMissingError,
  newCodecKey,
  parseCodecKeys,
  SealBrokenError,
} from '../../src/ground/index.ts';
import {
  DamagedRunError,
  exportRuns,
  inspectJournal,
  isSealedEvent,
  lookingCodec,
  verifyJournal,
} from '../../src/journal/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed } = useJournals();
const codecOf = (...ids: string[]) => {
  const lines = ids.map((id) => newCodecKey(id, seededRandom(id.charCodeAt(0))));
  return aesCodec(parseCodecKeys(lines.join(','), 'the test'));
};

/** One live run and one that has ended, sealed with the key 'a'. */
async function sealedJournal(): Promise<string> {
  const directory = newDir();
  const journal = open(directory, { codec: codecOf('a') });
  const [live, ended] = [1, 2].map((index) => new RunWriter(journal, runIdOf(index)));
  await live!.start();
  await live!.done('main.work');
  await live!.fail(9_000, true);
  await ended!.start();
  await ended!.end({ outcome: 'completed', state: 'main.persist', output: 'done' });
  const image = killed(directory);
  journal.close();
  return image;
}

test('what was written without a codec is read with one, and goes on sealed', async () => {
  const directory = newDir();
  const plain = open(directory);
  const run = new RunWriter(plain, runIdOf(1));
  await run.start();
  const image = killed(directory);
  const sealed = open(image, { codec: codecOf('a') });
  expect(sealed.history(runIdOf(1))).toHaveLength(1);
  const next = new RunWriter(sealed, runIdOf(2));
  await next.start();
  const rows = [runIdOf(1), runIdOf(2)].flatMap((id) => sealed.rows(id));
  expect(rows.map(({ data }) => data.startsWith('fqs1.a.'))).toEqual([false, true]);
  sealed.close();
  expect(verifyJournal(image, { codec: codecOf('a') })).toMatchObject({ sealed: 0, problems: [] });
});

test('without the key its runs are set aside with the reason, and nothing of them is changed', async () => {
  const image = await sealedJournal();
  const keyless = open(image);
  expect([...keyless.unfinished(10_000)].map(({ damage }) => damage)).toEqual([
    expect.stringContaining('is sealed with key a, which is not here'),
  ]);
  for (const id of [runIdOf(1), runIdOf(2)]) {
    let thrown: unknown;
    try {
      keyless.history(id);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DamagedRunError);
    expect((thrown as Error).cause).toBeInstanceOf(KeyMissingError);
  }
  keyless.close();
  const again = open(image, { codec: codecOf('b', 'a') });
  expect([...again.unfinished(10_000)].map(({ damage }) => damage)).toEqual([undefined]);
  expect(again.find(runIdOf(2))?.ending).toMatchObject({ outcome: 'completed', output: 'done' });
});

test('whoever only looks sees the chain, and in the place of each text what it is sealed with', async () => {
  const image = await sealedJournal();
  expect(verifyJournal(image)).toEqual({ runs: 2, records: 5, sealed: 5, problems: [] });
  expect(verifyJournal(image, { codec: codecOf('a') })).toMatchObject({ sealed: 0, problems: [] });
  expect(inspectJournal(image)).toMatchObject({ records: 5, runs: { unfinished: 1, finished: 1 } });
  const runs = [...exportRuns(image, { codec: lookingCodec(codecOf('b')) })];
  expect(runs.map(({ damage }) => damage)).toEqual([undefined, undefined]);
  const events = runs.flatMap(({ records }) => records.map(({ event }) => event));
  expect(events.every(isSealedEvent)).toBe(true);
  expect(events[0]).toMatchObject({
    type: 'STARTED',
    sealed: expect.stringMatching(/^sealed with key a, \d+ bytes$/),
  });
});

test('a record that was changed is found without the key', async () => {
  const image = await sealedJournal();
  const journal = open(image, { codec: codecOf('a') });
  const { data } = journal.rows(runIdOf(2))[0]!;
  journal.close();
  const file = join(image, 'journal.db');
  const bytes = readFileSync(file, 'latin1');
  const at = bytes.indexOf(data) + data.length - 3;
  expect(at).toBeGreaterThan(0);
  const other = bytes[at] === 'A' ? 'B' : 'A';
  writeFileSync(file, `${bytes.slice(0, at)}${other}${bytes.slice(at + 1)}`, 'latin1');
  expect(verifyJournal(image).problems).toMatchObject([
    { run: runIdOf(2), message: expect.stringContaining('does not match its hash') },
  ]);
});

test('a record that is put into the place of another does not open, whatever its hash says', async () => {
  const codec = codecOf('a');
  const sealed = codec.encode('{"type":"DONE"}', { run: runIdOf(1), what: 'record 1 DONE' });
  for (const what of ['record 2 DONE', 'record 1 FAILED', 'ending completed']) {
    expect(() => codec.decode(sealed, { run: runIdOf(1), what })).toThrow(SealBrokenError);
  }
});

test('what can be saved of a broken file is saved without the key too', async () => {
  const image = await sealedJournal();
  // All of it into the file, and then no header that anybody could read.
  open(image, { codec: codecOf('a') }).close();
  const file = join(image, 'journal.db');
  const bytes = readFileSync(file);
  bytes.fill(0, 0, 16);
  writeFileSync(file, bytes);
  const saved = open(image);
  expect(saved.alarms.map(({ kind }) => kind)).toContain('fileDamaged');
  saved.close();
  const again = open(image, { codec: codecOf('a') });
  expect(again.history(runIdOf(1))).toHaveLength(3);
  expect(again.find(runIdOf(2))?.ending).toMatchObject({ output: 'done' });
});

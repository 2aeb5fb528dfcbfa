/** With a codec, no payload touches the disk as it is. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Codec, DamagedRunError } from '../../src/journal/index.ts';
import { RunWriter, runIdOf } from './entries.ts';
import { useJournals } from './journals.ts';

const { newDir, open, killed } = useJournals();
const CANARY = 'canary-7f3a';

/** Not encryption, but nothing of the text is left to be found. */
const turned: Codec = {
  encode: (text) => Buffer.from(text, 'utf8').toString('base64').split('').reverse().join(''),
  decode: (stored) => {
    const text = Buffer.from(stored.split('').reverse().join(''), 'base64').toString('utf8');
    if (!text.startsWith('{')) throw new Error('not of this codec');
    return text;
  },
};

function filesWith(directory: string, needle: string): string[] {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return names.filter((name) => {
    const file = join(directory, name);
    return statSync(file).isFile() && readFileSync(file).includes(needle);
  });
}

test('a codec is applied to inputs, outputs, errors, endings and dead letters', async () => {
  const directory = newDir();
  const journal = open(directory, { codec: turned });
  const [good, bad, aborted] = [1, 2, 3].map(
    (index) => new RunWriter(journal, runIdOf(index), { input: { secret: CANARY } }),
  );
  for (const run of [good, bad, aborted]) {
    await run!.start();
    await run!.done('main.work', { secret: CANARY });
  }
  const error = { name: 'Error', message: CANARY, stack: CANARY };
  await good!.end({ outcome: 'completed', state: 'main.persist', output: { secret: CANARY } });
  await bad!.end({ outcome: 'exhausted', state: 'main.work', error });
  await aborted!.end({ outcome: 'aborted', state: 'main.work', reason: CANARY, kind: 'user' });
  expect(filesWith(directory, CANARY)).toEqual([]);
  const image = killed(directory);
  journal.close();
  expect(filesWith(directory, CANARY)).toEqual([]);

  const again = open(image, { codec: turned });
  expect(again.deadLetters(10).map(({ reason }) => reason)).toEqual([CANARY, CANARY]);
  expect(again.find(runIdOf(1))?.ending?.output).toEqual({ secret: CANARY });
  expect(JSON.stringify(again.history(runIdOf(2)))).toContain(CANARY);
});

test('without a codec the same canary is found, so the search finds what is there', async () => {
  const directory = newDir();
  const journal = open(directory);
  await new RunWriter(journal, runIdOf(1), { input: CANARY }).start();
  expect(filesWith(directory, CANARY)).toEqual(['journal.db-wal']);
});

test('what another codec has written is damage, not nonsense', async () => {
  const directory = newDir();
  const journal = open(directory);
  const [live, ended] = [1, 2].map((index) => new RunWriter(journal, runIdOf(index)));
  await live!.start();
  await ended!.start();
  await ended!.end({ outcome: 'completed', state: 'main.persist', output: 1 });
  const again = open(killed(directory), { codec: turned });
  expect(() => again.history(runIdOf(1))).toThrow(DamagedRunError);
  expect(() => again.find(runIdOf(2))).toThrow(/its ending cannot be decoded/);
  expect([...again.unfinished(0)].map(({ damage }) => damage)).toEqual([
    expect.stringMatching(/record 0 cannot be decoded/),
  ]);
});

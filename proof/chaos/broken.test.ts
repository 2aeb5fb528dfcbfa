/** What is kept of a task of which a rule was broken: enough to understand it without the run. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import { EFFECTS, fileOf, PODS, task } from '../history/made-history.ts';
import { keepBroken } from './broken.ts';

const newDir = useTempDirs();

async function kept(examples: readonly string[]) {
  const directory = newDir();
  mkdirSync(directory, { recursive: true });
  const ledger = join(directory, 'pod-0.ledger');
  writeFileSync(ledger, EFFECTS.map((effect) => `${JSON.stringify(effect)}\n`).join(''));
  writeFileSync(join(directory, 'pod-0.log'), `12 run.started {"run":"${task}"}\nother\n`);
  const read = async (each: (file: ReturnType<typeof fileOf>) => void) => each(fileOf());
  const of = { examples, directory: () => directory, ledgers: [ledger], pods: PODS, read };
  const place = await keepBroken(of);
  return (
    place &&
    readFileSync(place, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  );
}

test('a finding with or without the name of its rule leads to all there is of its task', async () => {
  const words = [`an interruption is an attempt: ${task}: record 1`, `${task}: it is claimed`];
  const [line, ...more] = (await kept(words))!;
  expect(more).toEqual([]);
  expect(line).toMatchObject({ task, broken: words, row: { task } });
  expect(line.effects).toHaveLength(EFFECTS.length);
  expect(line.changes).toHaveLength(fileOf().changes.length);
  expect(line.segments[0].events[0]).toMatchObject({ seq: 0 });
  expect(line.logged).toEqual([`pod-0.log: 12 run.started {"run":"${task}"}`]);
});

test('what names no task keeps nothing', async () => {
  expect(await kept(['conservation: 3 tasks are nowhere'])).toBeUndefined();
});

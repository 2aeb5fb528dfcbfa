/** One entry to every proof: with a program of its own, or of tests alone. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from '../test/docs/markdown.ts';
import { run } from '../test/docs/workspace.ts';

const folders = readdirSync(`${ROOT}/proof`).filter((name) => !name.endsWith('.ts'));
const proof = (...args: readonly string[]) =>
  run(ROOT, process.execPath, ['proof/main.ts', ...args], { NO_COLOR: '1' });

test('every folder is listed, with what it is for', async () => {
  const { stdout } = await proof('list');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(folders);
  for (const line of lines) expect(line).toMatch(/^[\w-]+ {2,}[A-Z`n].{20}/);
});

test.each(['crash-matrix', 'crash-points', 'history'])('%s is run by vitest', async (name) => {
  const { stdout, code } = await proof(name, '-t', 'no test has this name');
  expect(stdout).toMatch(/Tests {2}\d+ skipped/);
  expect(code).toBe(0);
});

test('an unknown name is refused, and those that there are are named', async () => {
  const { stderr, code } = await proof('nothing');
  expect(stderr).toBe(`there is no proof "nothing"; there are: ${folders.join(', ')}\n`);
  expect(code).toBe(2);
});

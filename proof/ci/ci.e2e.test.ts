/** The gate: what it repeats of the slow tests, and what it says where it has no commit to choose by. */
import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../test/docs/markdown.ts';
import { run } from '../../test/docs/workspace.ts';
import { usePlanted } from '../../test/support/planted.ts';
import { secondRun } from './second-run.ts';

const runPlanted = usePlanted();
const SHARE = '--shard=2/4';

test('of files that failed, these alone are run again', async () => {
  const { code, report } = await runPlanted({ good: '', bad: 'expect(1).toBe(2);' });
  expect(code).toBe(1);
  const failed = report.replace('report.json', 'bad.planted.js');
  expect(secondRun(report, SHARE)).toEqual([relative(ROOT, failed)]);
});

test('a run that fails without a file that failed is repeated as it was', async () => {
  const { code, report } = await runPlanted({ bad: 'void Promise.reject(new Error());' });
  expect(code).toBe(1);
  expect(secondRun(report, SHARE)).toEqual([SHARE]);
});

test('and so is one that left no report', () => {
  expect(secondRun('/nowhere/report.json', SHARE)).toEqual([SHARE]);
});

test('where there is no commit, one sentence says so', async () => {
  const env = { GIT_DIR: '/nowhere' };
  const { code, stderr } = await run(ROOT, process.execPath, ['proof/main.ts', 'ci'], env);
  expect(stderr).toBe(
    'proof -- ci chooses by the commit what it runs, and git finds none here: run it in a clone\n',
  );
  expect(code).toBe(2);
});

/**
 * Real processes, SIGKILLed before and after records of runs that are sealed: the next one opens what they
 * have left and brings it to the same end. The journals have nothing of it that could be read.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AT_ONCE,
  CHILD,
  killPoints,
  thinned,
  useCrashes,
} from '../../proof/crash-matrix/crash-host.ts';
import { mapAtOnce } from '../../src/testing/map-at-once.ts';
import { childProgram } from '../support/children.ts';
import { SEALED_VARIABLE } from '../support/sealed.ts';

const { newCase, finish, crash, judge } = useCrashes();

beforeAll(() => {
  childProgram(CHILD);
  process.env[SEALED_VARIABLE] = '1';
});
afterAll(() => {
  delete process.env[SEALED_VARIABLE];
});

const left = (dataDir: string) =>
  ['journal.db', 'journal.db-wal']
    .map((name) => readFileSync(join(dataDir, name), 'latin1'))
    .join();

test.each(['three', 'flaky', 'sleeping'] as const)(
  'a run of the shape %s that is sealed survives kills before and after its records',
  async (shape) => {
    const [smooth] = await finish([newCase(shape)]);
    const points = thinned(killPoints(smooth!.records.length), 2);
    const cases = points.map(() => newCase(shape));
    await mapAtOnce(points, AT_ONCE, (point) => crash(cases[points.indexOf(point)]!, point));
    const texts = cases.map(({ dataDir }) => left(dataDir));
    // The first was killed before it had anything to write.
    expect(texts.filter((text) => text.includes('fqs1.test.'))).toHaveLength(points.length - 1);
    expect(texts.filter((text) => text.includes('apple'))).toEqual([]);
    const reports = await finish(cases);
    for (const [index, report] of reports.entries()) judge(cases[index]!, report, smooth!);
  },
  300_000,
);

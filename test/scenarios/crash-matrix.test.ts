/**
 * The crash matrix: real processes, SIGKILLed before and after every record of five machine shapes,
 * then finished by another real process. A case whose child did not die by SIGKILL at its record is
 * void, and void is a failure.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../src/index.ts';
import { childProgram, mapAtOnce, runChild } from '../support/children.ts';
import { readLedger } from '../support/ledger.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import type { CrashArgument, CrashCase, CrashReport, KillAt } from './crash-child.ts';
import {
  expectLinear,
  expectNothingRepeated,
  expectProbed,
  expectStableKeys,
} from './crash-judge.ts';
import { SHAPES, type Shape } from './shapes.ts';

const CHILD = 'scenarios/crash-child.ts';
const AT_ONCE = 2;
const newDir = useTempDirs();
const baseMs = Date.now();
const count = { cases: 0, kills: 0 };

beforeAll(() => {
  childProgram(CHILD);
});

function newCase(shape: Shape): CrashCase {
  const dataDir = newDir();
  return { dataDir, ledger: join(dataDir, '..', 'ledger'), shape };
}

/** Finishes all of them in one process that is not one of those that died. */
async function finish(cases: readonly CrashCase[]): Promise<CrashReport[]> {
  const argument: CrashArgument = { baseMs, cases };
  const { stdout, stderr, code } = await runChild(CHILD, argument);
  expect(code, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CrashReport);
}

/** One process that must die at the record it is told. */
async function crash(one: CrashCase, killAt: KillAt): Promise<string> {
  const argument: CrashArgument = { baseMs, killAt, cases: [one] };
  const { stdout, stderr, signal } = await runChild(CHILD, argument);
  const where = `${one.shape}, ${killAt.when} its record ${killAt.nth}`;
  expect(signal, `void: ${where} ended by itself: ${stdout}${stderr}`).toBe('SIGKILL');
  expect(stdout, `void: ${where} died elsewhere`).toMatch(
    new RegExp(`^dying ${killAt.when} record \\d+ [A-Z_]+ to \\S+\n$`),
  );
  count.kills++;
  return stdout;
}

function killPoints(recordCount: number): KillAt[] {
  return Array.from({ length: recordCount }, (_, index) => index + 1).flatMap((nth) => [
    { when: 'before' as const, nth },
    { when: 'after' as const, nth },
  ]);
}

function judge(one: CrashCase, report: CrashReport, smooth: CrashReport): void {
  count.cases++;
  const ledger = readLedger(one.ledger);
  expect(report.outcome).toBe(smooth.outcome);
  expect(report.output).toEqual(smooth.output);
  expect(report.reason).toBe(smooth.reason);
  expectLinear(report.records as StoredRecord[]);
  expectNothingRepeated(report, ledger);
  expectStableKeys(ledger);
  expectProbed(report, ledger);
}

describe('a process killed before and after every record', () => {
  test.each(SHAPES)(
    'finishes the shape %s in the next process, as if nothing had happened',
    async (shape) => {
      const [smooth] = await finish([newCase(shape)]);
      const points = killPoints(smooth!.records.length);
      const cases = points.map(() => newCase(shape));
      const dying = await mapAtOnce(points, AT_ONCE, (point) =>
        crash(cases[points.indexOf(point)]!, point),
      );
      const reports = await finish(cases);
      reports.forEach((report, index) => {
        const { when, nth } = points[index]!;
        const isStartDurable = !(when === 'before' && nth === 1);
        expect(report.found, dying[index]).toEqual(isStartDurable ? [report.run] : []);
        judge(cases[index]!, report, smooth!);
        // A kill right after a record leaves nothing cut off, so nothing at all happens twice.
        const done = readLedger(cases[index]!.ledger).filter((line) => line.phase !== 'probe');
        if (when === 'after' && shape !== 'flaky')
          expect(new Set(done.map((line) => `${line.step}.${line.phase}`)).size).toBe(done.length);
      });
    },
  );
});

test('a process killed again at every record of its recovery comes to the same end', async () => {
  const [smooth] = await finish([newCase('one')]);
  // Before each record of a phase: its effect is done, and the first process took that with it.
  const points = killPoints(smooth!.records.length).filter(
    ({ when, nth }) => when === 'before' && nth > 1,
  );
  const crashed = points.map(() => newCase('one'));
  await mapAtOnce(points, AT_ONCE, (point) => crash(crashed[points.indexOf(point)]!, point));
  const copy = (of: CrashCase): CrashCase => {
    const fresh = newCase('one');
    // The socket of a process that was killed is no file to copy, and says nothing to the next one.
    const filter = (path: string) => !path.endsWith('.sock');
    cpSync(join(of.dataDir, '..'), join(fresh.dataDir, '..'), { recursive: true, filter });
    return fresh;
  };
  const once = await finish(crashed.map(copy));
  const again = once.flatMap((report, index) =>
    killPoints(report.appended).map((point) => ({ one: copy(crashed[index]!), point })),
  );
  await mapAtOnce(again, AT_ONCE, ({ one, point }) => crash(one, point));
  const reports = await finish(again.map(({ one }) => one));
  reports.forEach((report, index) => {
    expect(report.found).toEqual([report.run]);
    judge(again[index]!.one, report, smooth!);
  });
  console.log(`crash matrix: ${count.cases} cases, ${count.kills} kills, 0 lost, 0 repeated`);
});

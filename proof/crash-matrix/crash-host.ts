/** What the tests of the crash matrix share: processes that must die where they are told, and a judge. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { StoredRecord } from '../../src/index.ts';
import { runChild } from '../../test/support/children.ts';
import { shimEnv } from '../../test/support/disk-shim.ts';
import { readLedger } from '../../test/support/ledger.ts';
import type { Shape } from '../../test/support/shapes.ts';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import type { CrashArgument, CrashCase, CrashReport, KillAt } from './crash-child.ts';
import {
  expectLinear,
  expectNothingRepeated,
  expectProbed,
  expectStableKeys,
} from './crash-judge.ts';

export const CHILD = 'proof/crash-matrix/crash-child.ts';
export const AT_ONCE = 2;
/** Every how many points a large matrix takes one; `FLEETQ_CRASH_STRIDE=1` takes all. */
export const STRIDE = Number(process.env['FLEETQ_CRASH_STRIDE'] ?? 10);
export const WHOLE_MS_MAX = 1_800_000;

/** A point inside a commit, by the calls that SQLite makes on the WAL: the nth is not made any more. */
export interface KillInCommit {
  readonly op: 'write' | 'sync';
  readonly nth: number;
}
export type Point = KillAt | KillInCommit;

const WAL = 'journal.db-wal';

/** Call once at the top of a test file. */
export function useCrashes() {
  const newDir = useTempDirs();
  const baseMs = Date.now();
  const count = { cases: 0, kills: 0 };

  const newCase = (...shapes: readonly Shape[]): CrashCase => {
    const dataDir = newDir();
    return { dataDir, ledger: join(dataDir, '..', 'ledger'), shapes };
  };

  /** What a killed process has left, once more. */
  const copy = (of: CrashCase): CrashCase => {
    const fresh = newCase(...of.shapes);
    cpSync(join(of.dataDir, '..'), join(fresh.dataDir, '..'), { recursive: true });
    return fresh;
  };

  /** Finishes all of them in one process that is not one of those that died. */
  const finish = async (
    cases: readonly CrashCase[],
    env?: NodeJS.ProcessEnv,
  ): Promise<CrashReport[]> => {
    const argument: CrashArgument = { baseMs, cases };
    const { stdout, stderr, code } = await runChild(CHILD, argument, env);
    expect(code, stderr).toBe(0);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as CrashReport);
  };

  /** One process that must die where it is told; one that did not is void, and that is a failure. */
  const crash = async (one: CrashCase, point: Point): Promise<string> => {
    const where = `${one.shapes.join()} at ${JSON.stringify(point)}`;
    const isInCommit = 'op' in point;
    const argument: CrashArgument = {
      baseMs,
      cases: [one],
      ...(isInCommit ? {} : { killAt: point }),
    };
    const env = isInCommit ? shimEnv({ kill: { ...point, path: WAL } }) : {};
    const { stdout, stderr, signal } = await runChild(CHILD, argument, env);
    expect(signal, `void: ${where} ended by itself: ${stdout}${stderr}`).toBe('SIGKILL');
    const said = isInCommit
      ? `dying at ${point.op}`
      : `dying ${point.when} record \\d+ [A-Z_]+ to \\S+`;
    expect(stdout, `void: ${where} died elsewhere`).toMatch(new RegExp(`^${said}\n$`));
    count.kills++;
    return stdout;
  };

  const judge = (one: CrashCase, report: CrashReport, smooth: CrashReport): void => {
    count.cases++;
    const ledger = readLedger(one.ledger).filter((line) => line.run === report.run);
    expect(report.outcome).toBe(smooth.outcome);
    expect(report.output).toEqual(smooth.output);
    expect(report.reason).toBe(smooth.reason);
    expectLinear(report.records as StoredRecord[]);
    expectNothingRepeated(report, ledger);
    expectStableKeys(ledger);
    expectProbed(report, ledger);
  };

  return { newDir, newCase, copy, finish, crash, judge, count };
}

export function killPoints(recordCount: number): KillAt[] {
  return Array.from({ length: recordCount }, (_, index) => index + 1).flatMap((nth) => [
    { when: 'before' as const, nth },
    { when: 'after' as const, nth },
  ]);
}

/** One of every `stride`, the first always among them. */
export function thinned<T>(items: readonly T[], stride: number): T[] {
  return items.filter((_, index) => index % stride === 0);
}

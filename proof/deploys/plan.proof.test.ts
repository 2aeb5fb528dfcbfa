/** A deploy that was planned, small: the same as `npm run proof -- deploys plan`, and what its judge notices. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlannedRun } from '../../src/cli/fleet/plan-runs.ts';
import { startPostgres, type TestPostgres } from '../../test/support/postgres.ts';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import { type PlanShown, showPlan } from './plan-figures.ts';
import { disagreements } from './plan-judge.ts';
import { MACHINES } from './plan-load.ts';

const RUNS = 300;
const newDir = useTempDirs();
let postgres: TestPostgres;
let shown: PlanShown;
beforeAll(async () => {
  postgres = await startPostgres();
  const [url, directory] = [await postgres.createDatabase(), join(newDir(), 'deploy')];
  shown = await showPlan({ runs: RUNS, url, directory, onProgress: () => undefined });
}, 300_000);
afterAll(() => postgres?.remove());

test('what was foretold of every run is what the deploy made of it', () => {
  expect(shown.wrong).toEqual([]);
  expect(shown.figures).toMatchObject({ exitCode: 9, leftAtEnd: 0, missed: [] });
  expect(shown.figures.runs).toBeGreaterThan(0.9 * RUNS);
});

test('there were runs of every machine, at many places, with every fate', () => {
  const { foretold } = shown.evidence;
  const seen = (of: (run: PlannedRun) => unknown) => new Set(foretold.map(of));
  expect([...seen(({ machine }) => machine)].sort()).toEqual([...MACHINES].sort());
  expect([...seen(({ fate }) => fate)].sort()).toEqual([
    'advances',
    'blocked',
    'continues',
    'upgrades',
  ]);
  expect([...seen(({ status }) => status)].sort()).toEqual(['claimed', 'pending', 'waiting']);
  expect(seen(({ at }) => at).size).toBeGreaterThanOrEqual(13);
  const isBetween = ({ status, records }: PlannedRun) => status === 'pending' && records > 0;
  expect(foretold.filter(isBetween).length).toBeGreaterThan(10);
  expect(shown.figures.repeats).toBeGreaterThan(5);
  expect(shown.figures.cutOff).toBeGreaterThan(0);
});

/** One line of the plan, as it would be if it had been wrong. */
const LIES: Readonly<Record<string, (run: PlannedRun) => Partial<PlannedRun> | undefined>> = {
  'continues for advances': ({ fate, version }) =>
    fate === 'advances' ? { fate: 'continues', to: version } : undefined,
  'advances for continues': ({ fate }) =>
    fate === 'continues' ? { fate: 'advances', to: 2 } : undefined,
  'advances for blocked': ({ fate }) =>
    fate === 'blocked' ? { fate: 'advances', to: 2 } : undefined,
  'blocked for advances': ({ fate }) =>
    fate === 'advances' ? { fate: 'blocked', to: undefined, reason: 'so' } : undefined,
  'advances for upgrades': ({ fate }) =>
    fate === 'upgrades' ? { fate: 'advances', resumesAt: undefined } : undefined,
  'another version': ({ fate }) => (fate === 'advances' ? { to: 3 } : undefined),
  'another step': ({ resumesAt, status }) =>
    resumesAt === undefined || status === 'claimed' ? undefined : { resumesAt: 'e' },
  'another place': ({ at }) => (at === 'b.work' ? { at: 'b.check' } : undefined),
  'a repeat of what was never begun': ({ at, fate }) =>
    at === '' && fate !== 'blocked' ? { repeats: 'a.work' } : undefined,
};

test.each(Object.entries(LIES))('a plan that says %s of one run is found out', (_, lie) => {
  const { evidence } = shown;
  const index = evidence.foretold.findIndex((run) => lie(run) !== undefined);
  expect(index, 'there is such a run').toBeGreaterThanOrEqual(0);
  const foretold = evidence.foretold.with(index, {
    ...evidence.foretold[index]!,
    ...lie(evidence.foretold[index]!),
  });
  const found = disagreements({ ...evidence, foretold });
  expect(new Set(found.map(({ run }) => run))).toEqual(new Set([foretold[index]!.run]));
});

test('a repeat that was not foretold, a run that is missing and one too many are found out', () => {
  const { evidence } = shown;
  const cut = evidence.foretold.findIndex(({ run, repeats, fate }) => {
    const calls = evidence.calls.get(run) ?? [];
    const isAgain = calls.some(({ place, code }) => place === repeats && code === 'v2');
    return repeats !== undefined && fate !== 'blocked' && isAgain;
  });
  const line = evidence.foretold[cut]!;
  const silent = evidence.foretold.with(cut, { ...line, repeats: undefined });
  expect(disagreements({ ...evidence, foretold: silent })).toMatchObject([{ run: line.run }]);
  const fewer = evidence.foretold.slice(1);
  expect(disagreements({ ...evidence, foretold: fewer })).toMatchObject([{ what: 'not foretold' }]);
  const twice = [...evidence.foretold, line];
  expect(disagreements({ ...evidence, foretold: twice })).toMatchObject([
    { what: 'foretold twice' },
  ]);
  const other = [...evidence.foretold, { ...line, run: 'another' }];
  expect(disagreements({ ...evidence, foretold: other })).toMatchObject([{ run: 'another' }]);
});

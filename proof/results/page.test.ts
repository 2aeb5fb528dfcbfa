/** The page of results says what the tools saved, and is the one that is in the docs. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { savedLegs } from '../../test/support/save-leg.ts';
import { renderResults } from './page.ts';

const ROOT = new URL('../../', import.meta.url);
const leg = (figures: Record<string, unknown>) => ({
  date: '2026-01-02',
  commit: 'abc',
  machine: 'a machine',
  command: 'npm run it',
  figures,
});

test('the page in the docs is what npm run proof -- results writes', () => {
  const page = readFileSync(new URL('docs/explanation/results.md', ROOT), 'utf8');
  expect(page, 'run: npm run proof -- results').toBe(renderResults());
});

test('what came of a broken leg is said', () => {
  const broken = { ...leg({ planted: 2, caught: 1, missed: 1, unusable: 0 }), note: 'mended' };
  const page = renderResults((tool) => (tool === 'mutants' ? [broken] : []), []);
  expect(page).toContain('- Leg 1, broken: mended\n');
});

test('every broken leg that is kept has such a note', () => {
  const shown = renderResults((tool) => savedLegs(tool).filter(({ note }) => note === undefined));
  expect(shown).not.toContain('| broken |');
});

test('a tool that does several things has a table for each', () => {
  const roll = {
    ...leg({ rolls: 4, broken: { lost: 0 } }),
    command: 'npm run proof -- deploys roll',
  };
  const plan = { ...leg({ runs: 9, disagreements: 1 }), command: 'npm run proof -- deploys plan' };
  const page = renderResults((tool) => (tool === 'deploys' ? [roll, plan] : []), []);
  expect(page.match(/deploys roll/g)).toHaveLength(1);
  expect(page).toContain('| `npm run proof -- deploys plan` | 9 | 1 | broken |');
});

const WELL = { missed: 0, unusable: 0 };

describe('the figures of several legs', () => {
  const legs = [
    leg({ ...WELL, planted: 3, caught: 3, medianSecondsToDetect: 4 }),
    leg({ ...WELL, planted: 5, caught: 5, medianSecondsToDetect: 6 }),
  ];
  const page = renderResults((tool) => (tool === 'mutants' ? legs : []), []);

  test('are shown one by one and added up', () => {
    expect(page).toContain('| 2026-01-02 | `abc` | `npm run it` | 3 | 3 | 4 | passed |');
    expect(page).toContain('| **all** |  |  | **8** | **8** | **6** |  |');
  });

  test.each([
    ['broken', { missed: 1, unusable: 0 }],
    ['void', { missed: 0, unusable: 0, void: true }],
    ['void', { missed: 0, unusable: 0, missing: ['kills'] }],
    ['void', { missed: 0 }],
  ])('are shown and not added up where a leg is %s: %o', (verdict, figures) => {
    const bad = leg({ planted: 7, caught: 6, medianSecondsToDetect: 1, ...figures });
    const shown = renderResults((tool) => (tool === 'mutants' ? [legs[0]!, bad] : []), []);
    expect(shown).toContain(`| 7 | 6 | 1 | ${verdict} |`);
    expect(shown).toContain('| **all** |  |  | **3** | **3** | **4** |  |');
  });

  test('count a planted bug once, in however many legs it was caught', () => {
    const of = (...names: string[]) => {
      const mutants = names.map((name) => ({ name, verdict: 'caught' }));
      return leg({ ...WELL, planted: names.length, caught: names.length, mutants });
    };
    const two = [of('a', 'b'), of('b', 'c')];
    const shown = renderResults((tool) => (tool === 'mutants' ? two : []), []);
    expect(shown).toContain('| **all** |  |  | **3** | **3** | **not counted** |  |');
  });

  test('count a seed once for each size, and those that run first once in all', () => {
    const of = (from: number, to: number, kept: number, size = '') => ({
      ...leg({ from, to, seeds: to - from + 1 + kept, violations: 0 }),
      command: `npm run proof -- simulate --from ${from}${size}`,
    });
    const legs = [of(1, 10, 3), of(6, 15, 4), of(1, 10, 4, ' --small')];
    const shown = renderResults((tool) => (tool === 'simulate' ? legs : []), []);
    expect(shown).toMatch(/\| \*\*all\*\* \| {2}\| {2}\| \*\*29\*\* \|/);
  });

  test('are added up where a tool counts by store', () => {
    const played = leg({ sequences: { sqlite: 20, postgres: 30 }, differences: 0 });
    const shown = renderResults((tool) => (tool === 'differential' ? [played] : []), []);
    expect(shown).toContain('| 50 | 0 | passed |');
  });

  test('are not made up where a tool has not run, or has not counted', () => {
    expect(page).toContain('Not run at its full size yet: `npm run proof -- simulate`');
    expect(renderResults((tool) => (tool === 'chaos' ? [leg({ tasks: 1 })] : []), [])).toContain(
      '| 1 | not counted |',
    );
  });
});

test('every file that a defect left behind to notice it is there', () => {
  const found: { stays: string }[] = JSON.parse(
    readFileSync(new URL('docs/results/found.json', ROOT), 'utf8'),
  );
  const files = found.flatMap(({ stays }) => stays.match(/test\/[\w./-]+/g) ?? []);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(existsSync(new URL(file, ROOT)), file).toBe(true);
});

test('a tool that has saved nothing has no legs', () => {
  expect(savedLegs('no-such-tool')).toEqual([]);
});

/** The page of results says what the tools saved, and is the one that is in the docs. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { savedLegs } from '../support/save-leg.ts';
import { renderResults } from './page.ts';

const ROOT = new URL('../../', import.meta.url);
const leg = (figures: Record<string, unknown>) => ({
  date: '2026-01-02',
  commit: 'abc',
  machine: 'a machine',
  command: 'npm run it',
  figures,
});

test('the page in the docs is what npm run results writes', () => {
  const page = readFileSync(new URL('docs/explanation/results.md', ROOT), 'utf8');
  expect(page, 'run: npm run results').toBe(renderResults());
});

describe('the figures of several legs', () => {
  const legs = [
    leg({ planted: 3, caught: 2, medianSecondsToDetect: 4 }),
    leg({ planted: 5, caught: 5, medianSecondsToDetect: 6 }),
  ];
  const page = renderResults((tool) => (tool === 'mutants' ? legs : []), []);

  test('are shown one by one and added up', () => {
    expect(page).toContain('| 2026-01-02 | `abc` | `npm run it` | 3 | 2 | 4 |');
    expect(page).toContain('| **all** |  |  | **8** | **7** | **6** |');
  });

  test('are not made up where a tool has not run, or has not counted', () => {
    expect(page).toContain('Not run at its full size yet: `npm run simulate`');
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

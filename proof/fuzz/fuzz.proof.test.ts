/** Requests that nobody would send: a share of what `npm run proof -- fuzz` sends. */
import { expect, test } from 'vitest';
import { HOSTILE } from '../../test/admin/hostile.ts';
import { useTempDirs } from '../../test/support/temp-dir.ts';
import { fuzz } from './fuzz.ts';

const newDir = useTempDirs();

test('there are two hundred hostile names, all different', () => {
  expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(200);
});

test('5,000 of them: no 5xx, nobody left without an answer, no row changed by what was refused', async () => {
  const report = await fuzz({ requests: 5_000, seed: 1, dataDir: newDir() });
  expect(report.examples).toEqual([]);
  expect(report).toMatchObject({
    serverErrors: 0,
    unanswered: 0,
    restarts: 0,
    rowsChangedByRefused: 0,
    isPrototypeClean: true,
  });
  // Otherwise it would have found nothing because it looked nowhere.
  expect(report.byStatus['200']).toBeGreaterThan(200);
  expect(report.byStatus['400']).toBeGreaterThan(200);
}, 500_000);

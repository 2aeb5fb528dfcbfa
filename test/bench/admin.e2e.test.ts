/** The bench of what people ask, as small as it gets, on a real Postgres. */
import { expect, test } from 'vitest';
import { benchAdmin } from '../../bench/admin.ts';

test('every question is asked and timed, and a search goes to the end', {
  timeout: 120_000,
}, async () => {
  const found = (await benchAdmin({ rows: 5_000, rounds: 2 })) as {
    ms: Record<string, { p50: number; p95: number }>;
  };
  const questions = ['firstPage', 'machineAndStatus', 'byKey', 'searchWithinBudget', 'countAll'];
  const more = ['histogram', 'errors', 'runDetail', 'deepPage', 'lookUp'];
  for (const name of [...questions, ...more]) {
    expect(found.ms[name], name).toEqual({ p50: expect.any(Number), p95: expect.any(Number) });
  }
  expect(found).toMatchObject({
    rows: 5_000,
    searchWhole: { oldest: { found: 1 }, nowhere: { found: 0 } },
  });
});

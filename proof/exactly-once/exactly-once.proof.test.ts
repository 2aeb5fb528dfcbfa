/** A small part of what `npm run proof -- exactly-once` shows: one row for each run, whatever happens to its pods. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { playExactlyOnce } from './play.ts';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const small = { runs: 160, pods: 2, kills: 1, stops: 1, killEvery: 70, seed: 1, secondsMax: 60 };

test('persist in the store adds one row for each run under kills, pauses and lost commits', async () => {
  // They wait for each other's deaths most of the time: both at once take no longer than one.
  const reports = await Promise.all(
    (['postgres', 'sqlite'] as const).map((store) =>
      playExactlyOnce({ ...small, dist, store, faultShare: 0.05 }),
    ),
  );
  for (const report of reports) {
    const { rows, booked, twice, stray, violations, isGood } = report;
    const counted = { rows: 160, booked: 160, twice: 0, stray: 0, violations: 0, isGood: true };
    expect({ rows, booked, twice, stray, violations, isGood }, report.store).toEqual(counted);
    expect(report.deaths, report.store).toBeGreaterThan(1);
  }
}, 120_000);

/** The smallest size of `npm run chaos`: the same processes, faults, ledgers and judges. */
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';
import { SIZES } from './sizes.ts';

test('kills, pauses, drains, cuts, lost answers and crashes of the store lose nothing and double nothing', async () => {
  const report = await runChaos({ ...SIZES.ci, seed: 7 });
  console.log(JSON.stringify(report));
  expect(report.examples).toEqual([]);
  expect(report).toMatchObject({
    missed: [],
    void: false,
    lost: 0,
    doubled: 0,
    zombieWrites: 0,
    stuck: 0,
    violations: 0,
    podDeaths: 0,
  });
  expect(report.drains).toBeGreaterThanOrEqual(SIZES.ci.doses.drains);
  // The faults did hit work that was under way.
  const { unrecorded, unarchived, late } = report.repeats;
  expect(unrecorded + unarchived + late).toBeGreaterThan(0);
}, 200_000);

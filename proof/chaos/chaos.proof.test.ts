/** The smallest size of `npm run proof -- chaos`: the same processes, faults, ledgers and judges. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';
import { MODE_KINDS } from './network-modes.ts';
import { type Fault, SIZES } from './sizes.ts';

test('every kind of fault, up to three at once, loses nothing and doubles nothing', async () => {
  const report = await runChaos({ ...SIZES.ci, seed: 7 });
  console.log(JSON.stringify(report));
  // Whoever sees only the output has to understand it from that.
  if (report.broken) console.log(readFileSync(report.broken, 'utf8'));
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
    leftBehind: 0,
  });
  const lacking = report.lacking.map((why) => why.split(':')[0]);
  for (const fault of Object.keys(SIZES.ci.doses) as Fault[]) {
    if (lacking.includes(fault)) continue;
    expect(report[fault], fault).toBeGreaterThanOrEqual(SIZES.ci.doses[fault]);
  }
  expect(Object.keys(report.networkModes).sort()).toEqual([...MODE_KINDS].sort());
  // The faults did hit work that was under way.
  const { unrecorded, unarchived, late } = report.repeats;
  expect(unrecorded + unarchived + late).toBeGreaterThan(0);
}, 500_000);

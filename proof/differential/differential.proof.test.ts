/** The store of the simulation answers as the real ones do; FLEETQ_DIFFERENTIAL_TIMES=10 plays ten times as many. */
import { expect, test } from 'vitest';
import { runDifferential } from './differential.ts';

const TIMES = Number(process.env['FLEETQ_DIFFERENTIAL_TIMES'] ?? 1);
const SEED = Number(process.env['FLEETQ_TEST_SEED'] ?? 20_261_115);
const timeout = 600_000;

/** What has to have been done to some effect, or nothing was compared. */
const DONE = ['enqueue', 'claim', 'settle', 'archive', 'mirror', 'beat', 'fence', 'take', 'retire'];
const CHANGED = ['act', 'failHopeless', 'prune', 'held'];

test.each([
  ['SQLite', 'sqlite', 150],
  ['Postgres', 'skip-locked', 60],
  ['a Postgres that claims by compare-and-set', 'cas', 40],
] as const)(
  'memory and %s give the same answers and keep the same rows',
  {
    timeout,
  },
  async (_, rival, count) => {
    const sequences = Math.max(1, Math.round(count * TIMES));
    const report = await runDifferential({ sequences, seed: SEED, rivals: [rival] });
    expect(report.difference).toBeUndefined();
    if (TIMES < 1) return;
    expect(Object.keys(report.told)).toEqual(expect.arrayContaining([...DONE, ...CHANGED]));
  },
);

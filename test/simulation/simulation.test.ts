/** The fleet in a storm of faults, many seeds of it, under virtual time. */
import { expect, test } from 'vitest';
import { keptSeeds } from './kept-seeds.ts';
import { simulate } from './simulate.ts';

const SEED_COUNT = 200;
const TEST_COUNT = 4;
/** On two cores that others use as well; alone they take a fraction of it. */
const TIMEOUT_MS = 180_000;

const seeds = Array.from({ length: SEED_COUNT }, (_, index) => index + 1);

/** What each of them broke, if anything. */
async function broken(some: readonly number[], isSmall: boolean): Promise<string[]> {
  const found: string[] = [];
  for (const seed of some) {
    const { violations } = await simulate(seed, { isSmall });
    if (violations.length > 0) found.push(`seed ${seed}: ${violations[0]}`);
  }
  return found;
}

test('seeds that have found something once find nothing any more', {
  timeout: TIMEOUT_MS,
}, async () => {
  expect(await broken(keptSeeds(), false)).toEqual([]);
});

for (let part = 0; part < TEST_COUNT; part++) {
  const some = seeds.filter((_, index) => index % TEST_COUNT === part);
  test(`no promise is broken by seeds ${part + 1} of ${TEST_COUNT}`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await broken(some, true)).toEqual([]);
  });
}

test('the same seed has the same trace, and another seed has another', async () => {
  const [once, again, other] = [await simulate(7), await simulate(7), await simulate(8)];
  expect(again).toEqual(once);
  expect(other.trace).not.toBe(once.trace);
});

test('the story of a seed tells it in words, and telling it changes nothing', async () => {
  const lines: string[] = [];
  const told = await simulate(7, { onLine: (line) => lines.push(line) });
  expect(lines.some((line) => /pod-\d +is killed/.test(line))).toBe(true);
  expect(lines.some((line) => /begins [a-z]+\.work of/.test(line))).toBe(true);
  expect(told.virtualMs).toBe((await simulate(7)).virtualMs);
});

test('every kind of fault comes up', { timeout: TIMEOUT_MS }, async () => {
  const counts = new Map<string, number>();
  for (const seed of seeds.slice(0, 40)) {
    for (const [name, count] of Object.entries((await simulate(seed, { isSmall: true })).counts)) {
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
  }
  const missing = FAULTS.filter((name) => !counts.get(name));
  expect(missing).toEqual([]);
});

const FAULTS = [
  'kills',
  'deaths in commits',
  'pauses',
  'partitions',
  'bad lines',
  'outages',
  'slow stores',
  'calls cut',
  'calls refused',
  'calls inDoubt',
  'calls late',
  'clock jumps',
  'full disks',
  'lost disks',
  'lost tails',
  'drains',
  'clones',
  'mass restarts',
];

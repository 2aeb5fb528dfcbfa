/** The fleet in a storm of faults, many seeds of it, under virtual time. */
import { afterAll, expect, test } from 'vitest';
import { Crew, type SeedOrder } from './campaign.ts';
import { keptSeeds } from './kept-seeds.ts';
import { type SeedReport, simulate } from './simulate.ts';
import { Tally, WANTED_KINDS } from './tally.ts';

const SMALL_COUNT = 1_000;
const FULL_COUNT = 30;
const TWICE_COUNT = 50;
/** On two cores that others use as well; alone they take a fraction of it. */
const TIMEOUT_MS = 900_000;

const order =
  (isSmall: boolean) =>
  (seed: number): SeedOrder => ({ seed, isSmall });

function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

const crew = new Crew();
const others = new Crew();
afterAll(() => {
  crew.end();
  others.end();
});

/** What came of each, in the order of the seeds. */
async function reportsOf(orders: readonly SeedOrder[], by = crew): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  await by.simulate(orders, { onReport: (report) => reports.push(report) });
  return reports.sort((a, b) => a.seed - b.seed);
}

/** What a seed costs is another each time. */
const withoutCost = ({ cpuMs: _, ...report }: SeedReport) => report;

function tallied(reports: readonly SeedReport[]): Tally {
  const tally = new Tally();
  for (const report of reports) tally.add(report);
  return tally;
}

async function tallyOf(orders: readonly SeedOrder[]): Promise<Tally> {
  return tallied(await reportsOf(orders));
}

/** What came of the small seeds, where they have been simulated: some of them are to come again. */
let small: readonly SeedReport[] = [];

test('seeds that have found something once find nothing any more', {
  timeout: TIMEOUT_MS,
}, async () => {
  expect((await tallyOf(keptSeeds())).failures).toEqual([]);
});

test('no promise is broken by small seeds, and every kind of fault comes up', {
  timeout: TIMEOUT_MS,
}, async () => {
  small = await reportsOf(seedsFrom(1, SMALL_COUNT).map(order(true)));
  const tally = tallied(small);
  expect(tally.failures).toEqual([]);
  expect(tally.missing()).toEqual([]);
  expect(tally.seeds).toBe(SMALL_COUNT);
});

test('no promise is broken by seeds of full size', { timeout: TIMEOUT_MS }, async () => {
  const tally = await tallyOf(seedsFrom(1, FULL_COUNT).map(order(false)));
  expect(tally.failures).toEqual([]);
});

test('the same seeds have the same traces, in other processes and orders too', {
  timeout: TIMEOUT_MS,
}, async () => {
  const seeds = seedsFrom(101, TWICE_COUNT);
  const orders = seeds.map(order(true));
  const known = small.filter(({ seed }) => seeds.includes(seed));
  const once = known.length === TWICE_COUNT ? known : await reportsOf(orders);
  const again = await reportsOf(orders.toReversed(), others);
  expect(again.map(withoutCost)).toEqual(once.map(withoutCost));
  expect(new Set(once.map(({ trace }) => trace)).size).toBe(TWICE_COUNT);
});

test('the story of a seed tells it in words, and telling it changes nothing', async () => {
  const lines: string[] = [];
  const told = await simulate(7, { onLine: (line) => lines.push(line) });
  expect(lines.some((line) => /pod-\d +is killed/.test(line))).toBe(true);
  expect(lines.some((line) => /begins [a-z]+\.work of/.test(line))).toBe(true);
  expect(told.trace).toBe((await simulate(7)).trace);
});

test('a campaign that came across nothing is void', () => {
  const tally = new Tally();
  expect(tally.missing()).toEqual(WANTED_KINDS);
});

/**
 * The crash table, row by row, in real processes on a real Postgres. With FLEETQ_CRASH_STRIDE=1 every
 * case is run; otherwise at least one for every row and disk.
 */
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CASES } from './cases.ts';
import { CORRUPT_CASES } from './corrupt-cases.ts';
import { DEPLOY_CASES } from './deploy-cases.ts';
import { MIGRATION_CASES } from './migration-cases.ts';
import { type Ground, useCrashRig } from './rig.ts';
import type { Case } from './strikes.ts';
import { SWEEP_CASES } from './sweep-cases.ts';
import { ROWS, rowOf, strayRows, WAITING } from './table.ts';
import { TIMER_CASES } from './timer-cases.ts';

const { newGround } = useCrashRig();
const isWhole = process.env['FLEETQ_CRASH_STRIDE'] === '1';
const ALL: readonly Case[] = [
  ...CASES,
  ...SWEEP_CASES,
  ...TIMER_CASES,
  ...MIGRATION_CASES,
  ...CORRUPT_CASES,
  ...DEPLOY_CASES,
];
/** Those that bring their own pods take longest: they come first. */
const wanted = ALL.filter((one) => isWhole || !one.isExtra).sort(
  (a, b) => Number(b.isAlone) - Number(a.isAlone),
);

test('every row of the table, with each of its disks, has a case', () => {
  expect(strayRows()).toEqual([]);
  const missing = ROWS.flatMap(({ number, disks }) =>
    disks
      .filter((disk) => !wanted.some((one) => one.row === number && one.disk === disk))
      .map((disk) => `${number} ${disk}`),
  );
  expect(missing).toEqual([]);
});

/** Cases that share tables have machines of their own, and pods that keep watch over all of them. */
let watched: Ground;
/** They wait far more than they work, so several are under way at any time; a test waits for its own. */
const ended = new Map<Case, Promise<void>>();

function begin(cases: readonly Case[]): void {
  for (const one of cases) {
    const run = inTurn(() => runCase(one));
    run.catch(() => undefined);
    ended.set(one, run);
  }
}

async function runCase(one: Case): Promise<void> {
  const ground = one.isAlone ? await newGround() : watched;
  await one.run(ground, `case-${wanted.indexOf(one)}`);
  if (ground !== watched) await ground.close();
}

const AT_ONCE = 4 * Math.min(4, Math.max(2, availableParallelism()));
const waiting: (() => void)[] = [];
let running = 0;
async function inTurn(act: () => Promise<void>): Promise<void> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    await act();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

afterAll(() => {
  const waits = Object.entries(WAITING).map(([row, feature]) => `${row} waits for ${feature}`);
  console.log(`${ended.size} cases over ${ROWS.length} rows, ${AT_ONCE} at a time`, waits);
});

function nameOf(one: Case): string {
  const { what, how } = rowOf(one.row);
  return `${one.row}, ${how}, disk ${one.disk}: ${what}: ${one.name}`;
}

describe('the crash table', () => {
  // biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern before the suite
  beforeAll(async ({}, { tasks }) => {
    watched = await newGround();
    const keepers = ['keeper', 'other', 'third'].map((name) => watched.start({ name }));
    await Promise.all(keepers.map((keeper) => keeper.says(/ready/)));
    // With `-t` only what is asked for.
    const asked = new Set(tasks.filter(({ mode }) => mode !== 'skip').map(({ name }) => name));
    begin(wanted.filter((one) => asked.has(nameOf(one))));
  });

  for (const one of wanted) test(nameOf(one), { timeout: 480_000 }, () => ended.get(one));
});

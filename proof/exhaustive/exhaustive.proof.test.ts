/** Every point of a small fleet's courses, each struck; all orders of the statements of two pods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MUTANTS } from '../simulate/mutants.ts';
import { runCourse } from './course.ts';
import { isChosen, missingRows, singlesOf, strikeOnce, tellStories } from './enumerate.ts';
import type { Figures } from './figures.ts';
import { searchInterleavings } from './interleavings.ts';
import { canStrike, KILLS, WAYS } from './points.ts';
import { STORIES } from './stories.ts';

const PROGRAM = fileURLToPath(new URL('../main.ts', import.meta.url));
/** On two cores that others use as well; alone it takes a fraction of it. */
const TIMEOUT_MS = 600_000;
const JOBS = String(Math.min(4, Math.max(2, availableParallelism())));

async function exhaust(...flags: readonly string[]): Promise<Figures> {
  const node = [PROGRAM, 'exhaustive', '--json', '--jobs', JOBS, ...flags];
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await once(child, 'close');
  return JSON.parse(text) as Figures;
}

const told = await tellStories();

test('every row of the crash table has its points, or says what shows it instead', () => {
  expect(missingRows(told)).toEqual([]);
});

test('undisturbed, no story breaks a promise', () => {
  expect(told.map(({ violation }) => violation)).toEqual(STORIES.map(() => undefined));
});

test('a row to which no point belongs is missed', () => {
  const withoutArchive = told.map((one) => ({
    ...one,
    points: one.points.filter(({ what }) => what !== 'archive'),
  }));
  expect(missingRows(withoutArchive)).toEqual([18, 19, 20]);
});

test('a course is the same every time, and so are its points', async () => {
  for (const { story, points } of told) {
    const strikes = [{ at: Math.floor(points.length / 2), way: 'kept' } as const];
    const [once, again] = [
      await runCourse({ story, strikes }),
      await runCourse({ story, strikes }),
    ];
    expect(again).toEqual(once);
    expect(again.points.slice(0, strikes[0]!.at)).toEqual(points.slice(0, strikes[0]!.at));
  }
});

test('killed at every point, with its disk and without in turn, no promise is broken', {
  timeout: TIMEOUT_MS,
}, async () => {
  const figures = await exhaust('--depth', '0', '--stride', '2');
  expect(figures).toMatchObject({ violations: 0, found: [] });
  expect(figures.cases).toBe(told.flatMap((one) => singlesOf(one, ['kept'])).length);
});

test('of every two strikes one is chosen, at each point another disk', () => {
  const chosen = told.flatMap((one) => singlesOf(one, KILLS)).filter((_, at) => isChosen(at, 2, 0));
  const points = told.flatMap((one) => singlesOf(one, ['kept']));
  expect(chosen.map(({ at }) => at)).toEqual(points.map(({ at }) => at));
  expect(chosen.slice(0, 4).map(({ way }) => way)).toEqual(['kept', 'lost', 'kept', 'lost']);
});

test('struck in every other way, at a stride, no promise is broken', {
  timeout: TIMEOUT_MS,
}, async () => {
  const others = WAYS.filter((way) => !KILLS.includes(way));
  const figures = await exhaust('--depth', '0', '--ways', others.join(','), '--stride', '53');
  expect(figures).toMatchObject({ violations: 0, found: [] });
  expect(Object.keys(figures.strikes).sort()).toEqual([...others].sort());
});

test('killed again inside its recovery, at a stride, no promise is broken', {
  timeout: TIMEOUT_MS,
}, async () => {
  const figures = await exhaust(
    '--depth',
    '0',
    '--pairs',
    '--stride',
    '113',
    '--second-stride',
    '47',
  );
  expect(figures).toMatchObject({ violations: 0, found: [] });
  expect(figures.pairs).toBeGreaterThan(50);
});

test('in no order of the statements of two pods a promise is broken', {
  timeout: TIMEOUT_MS,
}, () => {
  for (const [tasks, depth] of [
    [1, 6],
    [2, 4],
  ] as const) {
    const { violation, states } = searchInterleavings({ tasks, depth });
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(500);
  }
});

const BUGS_OF_COURSES = [
  'take-without-epoch',
  'self-fence-ignored',
  'acknowledged-early',
  'evidence-dropped',
];

for (const name of BUGS_OF_COURSES) {
  test(`${name} is found by striking`, { timeout: TIMEOUT_MS }, async () => {
    const mutant = MUTANTS.find((one) => one.name === name)!;
    const found: string[] = [];
    const choice = { ways: WAYS, stride: 29, from: 3, secondStride: 1, mutant };
    await strikeOnce(await tellStories(mutant), {
      ...choice,
      onCourse: (_, one) => {
        if (one) found.push(one.violation);
        return found.length === 0;
      },
    });
    expect(found[0]).toMatch(mutant.breaks);
  });
}

const BUGS_OF_ORDERS = [
  'settle-without-fence',
  'take-without-epoch',
  'claim-by-the-dead',
  'sweep-the-living',
];

for (const name of BUGS_OF_ORDERS) {
  test(`${name} is found by an order of statements`, () => {
    const mutant = MUTANTS.find((one) => one.name === name)!;
    const { violation } = searchInterleavings({ tasks: 1, depth: 6, mutant });
    expect(violation?.broken).toMatch(mutant.breaks);
  });
}

test('what cannot happen at a point is not counted', () => {
  const [story] = STORIES;
  const of = told.find((one) => one.story === story)!;
  const commit = of.points.find(({ kind }) => kind === 'record')!;
  expect(WAYS.filter((way) => canStrike(commit, way))).toEqual(['kept', 'lost', 'late', 'torn']);
});

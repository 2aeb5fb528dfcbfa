/** All strikes there are: at every point of every story, and again at every point of the recovery. */
import type { Mutant } from '../simulate/mutants.ts';
import { type CourseReport, runCourse } from './course.ts';
import { canStrike, nameOf, type Point, type Strike, type Way } from './points.ts';
import { rowTable } from './rows.ts';
import { STORIES, type Story } from './stories.ts';

export interface Told {
  readonly story: Story;
  readonly points: readonly Point[];
  /** What is wrong before anybody is struck. */
  readonly violation: string | undefined;
}

export interface Found {
  readonly story: string;
  /** Point and way, as `--strike` takes them. */
  readonly strikes: readonly string[];
  readonly at: readonly string[];
  readonly violation: string;
}

export interface Choice {
  readonly ways: readonly Way[];
  /** Of so many strikes one, and which of them. */
  readonly stride: number;
  readonly from: number;
  /** Of so many second strikes one. */
  readonly secondStride: number;
  readonly mutant?: Mutant | undefined;
  /** Told of every course, with how often it is struck; answers whether to go on. */
  readonly onCourse: (strikes: readonly Strike[], found: Found | undefined) => boolean;
}

/** Every story once, undisturbed: its points. */
export async function tellStories(mutant?: Mutant): Promise<Told[]> {
  const told: Told[] = [];
  for (const story of STORIES) {
    const { points, violations } = await runCourse({ story, mutant });
    told.push({ story, points, violation: violations[0] });
  }
  return told;
}

/** Rows of the crash table that no point belongs to. */
export function missingRows(told: readonly Told[]): number[] {
  const table = rowTable(told.map(({ story, points }) => ({ name: story.name, points })));
  return [...table].flatMap(([row, count]) => (count === 0 ? [row] : []));
}

export function singlesOf({ story, points }: Told, ways: readonly Way[]): Strike[] {
  const own = points.filter(({ atMs }) => atMs >= story.isOwnFromMs);
  return own.flatMap((point) =>
    ways.filter((way) => canStrike(point, way)).map((way) => ({ at: point.index, way })),
  );
}

/**
 * One of every `stride` that follow each other, not always the same one: ways of striking come in a
 * fixed order, and each is to have its turn.
 */
export function isChosen(number: number, stride: number, from: number): boolean {
  return (number + Math.floor(number / stride)) % stride === from % stride;
}

/** Strikes once, each time elsewhere. */
export async function strikeOnce(told: readonly Told[], choice: Choice): Promise<void> {
  const { ways, stride, from, mutant, onCourse } = choice;
  let number = 0;
  for (const one of told) {
    for (const strike of singlesOf(one, ways)) {
      if (!isChosen(number++, stride, from)) continue;
      const { found } = await strikeAt(one, [strike], [one.points[strike.at]!], mutant);
      if (!onCourse([strike], found)) return;
    }
  }
}

/** Strikes once, and then again between that and the end of the recovery from it. */
export async function strikeTwice(told: readonly Told[], choice: Choice): Promise<void> {
  const { ways, stride, from, secondStride, mutant, onCourse } = choice;
  let number = 0;
  for (const one of told) {
    for (const first of singlesOf(one, ways)) {
      if (!isChosen(number++, stride, from)) continue;
      const point = one.points[first.at]!;
      // What comes to be struck then is known only from a course with the first strike alone.
      const { found, report } = await strikeAt(one, [first], [point], mutant);
      if (!onCourse([first], found)) return;
      if (found) continue;
      const after = { ...one, points: report.points.slice(first.at + 1, report.recoveredAt) };
      for (const [index, second] of singlesOf(after, ways).entries()) {
        if (!isChosen(index, secondStride, number)) continue;
        const points = [point, report.points[second.at]!];
        const twice = await strikeAt(one, [first, second], points, mutant);
        if (!onCourse([first, second], twice.found)) return;
      }
    }
  }
}

async function strikeAt(
  { story }: Told,
  strikes: readonly Strike[],
  points: readonly Point[],
  mutant: Mutant | undefined,
): Promise<{ readonly found: Found | undefined; readonly report: CourseReport }> {
  const report = await runCourse({ story, strikes, mutant });
  const [violation] = report.violations;
  if (!violation) {
    // A course that was struck elsewhere proves nothing of this point.
    const isThere = points.every((point, index) => isSame(point, report.struck[index]));
    if (!isThere) throw new Error(`the points of ${story.name} are not the same every time`);
    return { found: undefined, report };
  }
  const found: Found = {
    story: story.name,
    strikes: strikes.map(({ at, way }) => `${at}:${way}`),
    at: points.map(nameOf),
    violation,
  };
  return { found, report };
}

function isSame(a: Point, b: Point | undefined): boolean {
  return a.who === b?.who && a.kind === b.kind && a.moment === b.moment && a.atMs === b.atMs;
}

/** What an enumeration has come to, counted; and the counts of several put together. */
import {
  type Choice,
  type Found,
  missingRows,
  strikeOnce,
  strikeTwice,
  tellStories,
} from './enumerate.ts';
import { searchInterleavings } from './interleavings.ts';
import type { Strike } from './points.ts';

/** Enough to see what is wrong. */
const FOUND_COUNT_MAX = 20;
const PROGRESS_EVERY = 500;
/** With two tasks the same depth has far more orders. */
const SECOND_TASK_LEVELS = 2;

export interface Figures {
  readonly stories: number;
  /** Of all stories. */
  readonly points: number;
  /** Rows of the crash table to which no point belongs. */
  readonly missingRows: readonly number[];
  /** Courses that were struck once, and twice. */
  readonly cases: number;
  readonly pairs: number;
  /** By way: strikes that were carried out. */
  readonly strikes: Readonly<Record<string, number>>;
  /** Of the search: states of two pods that were reached, and steps out of them. */
  readonly states: number;
  readonly steps: number;
  readonly violations: number;
  readonly found: readonly Found[];
}

export interface Asked extends Omit<Choice, 'onCourse'> {
  readonly isTwice: boolean;
  /** These stories; all where nobody says. */
  readonly only?: readonly string[] | undefined;
  readonly depth: number;
  readonly onProgress: (text: string) => void;
}

export function noFigures(): Figures {
  const counts = { stories: 0, points: 0, cases: 0, pairs: 0, states: 0, steps: 0 };
  return { ...counts, missingRows: [], strikes: {}, violations: 0, found: [] };
}

export async function figuresOf(asked: Asked): Promise<Figures> {
  const { isTwice, depth, mutant, only, onProgress } = asked;
  const told = await tellStories(mutant);
  const strikes: Record<string, number> = {};
  const found: Found[] = told.flatMap(({ story: { name: story }, violation }) =>
    violation ? [{ story, strikes: [], at: [], violation }] : [],
  );
  let [cases, pairs] = [0, 0];
  const onCourse = (struck: readonly Strike[], one: Found | undefined) => {
    if (struck.length === 1) cases += 1;
    else pairs += 1;
    for (const { way } of struck) strikes[way] = (strikes[way] ?? 0) + 1;
    if (one) {
      found.push(one);
      onProgress(`${one.story} ${one.strikes.join(' ')}: ${one.violation}`);
    }
    if ((cases + pairs) % PROGRESS_EVERY === 0) onProgress(`${cases} once, ${pairs} twice`);
    return found.length < FOUND_COUNT_MAX;
  };
  const sound = told.filter(
    ({ violation, story }) => violation === undefined && (only?.includes(story.name) ?? true),
  );
  await (isTwice ? strikeTwice : strikeOnce)(sound, { ...asked, onCourse });
  const searched = searchAll(depth, mutant);
  found.push(...searched.found);
  return {
    stories: told.length,
    points: told.reduce((sum, { points }) => sum + points.length, 0),
    missingRows: missingRows(told),
    cases,
    pairs,
    strikes,
    states: searched.states,
    steps: searched.steps,
    violations: found.length,
    found,
  };
}

function searchAll(depth: number, mutant: Choice['mutant']) {
  const searches = [
    { tasks: 1, depth },
    { tasks: 2, depth: Math.max(0, depth - SECOND_TASK_LEVELS) },
  ];
  const reports = depth === 0 ? [] : searches.map((one) => searchInterleavings({ ...one, mutant }));
  return {
    states: reports.reduce((sum, { states }) => sum + states, 0),
    steps: reports.reduce((sum, { steps }) => sum + steps, 0),
    found: reports.flatMap(({ tasks, violation }): Found[] =>
      violation
        ? [
            {
              story: `two pods, ${tasks} tasks`,
              strikes: [],
              at: violation.path,
              violation: violation.broken,
            },
          ]
        : [],
    ),
  };
}

export function add(a: Figures, b: Figures): Figures {
  const strikes = { ...a.strikes };
  for (const [way, count] of Object.entries(b.strikes)) strikes[way] = (strikes[way] ?? 0) + count;
  return {
    stories: b.stories,
    points: b.points,
    missingRows: b.missingRows,
    cases: a.cases + b.cases,
    pairs: a.pairs + b.pairs,
    strikes,
    states: a.states + b.states,
    steps: a.steps + b.steps,
    violations: a.violations + b.violations,
    found: [...a.found, ...b.found].slice(0, FOUND_COUNT_MAX),
  };
}

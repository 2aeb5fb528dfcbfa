/**
 * The rows of the crash table, and the points of the courses that are theirs. A row without a point
 * would be a hole in the enumeration; what cannot be simulated says which real processes show it.
 */
import { ROWS } from '../crash-points/table.ts';
import { canStrike, type Moment, type Point, WAYS, type Way } from './points.ts';

export interface Struck {
  readonly story: string;
  readonly point: Point;
  readonly way: Way;
}

type Is = (struck: Struck) => boolean;

const KILL: readonly Way[] = ['kept', 'lost', 'late'];
const SWEEPING = ['fence', 'take', 'retire'];

const call =
  (verb: string, moment: Moment, ways = KILL): Is =>
  ({ point: { kind, what, moment: at }, way }) =>
    kind === 'call' && what === verb && at === moment && ways.includes(way);

const record =
  (pattern: RegExp, moment: Moment, ways = KILL): Is =>
  ({ point: { kind, what, moment: at }, way }) =>
    kind === 'record' && pattern.test(what) && at === moment && ways.includes(way);

const phase =
  (pattern: RegExp, moments: readonly Moment[], ways = KILL): Is =>
  ({ point: { kind, what, moment }, way }) =>
    kind === 'phase' && pattern.test(what) && moments.includes(moment) && ways.includes(way);

const within =
  (story: string, is: Is): Is =>
  (struck) =>
    struck.story === story && is(struck);

const any =
  (...all: readonly Is[]): Is =>
  (struck) =>
    all.some((is) => is(struck));

/** Not to be had in one thread over tables in memory. */
const REAL: Readonly<Record<number, string>> = {
  22: 'a checkpoint of SQLite: proof/crash-points, row 22; proof/powerloss has every image',
  32: 'tables that are migrated: proof/crash-points, row 32',
  33: 'new code on an old run: proof/crash-points, row 33; proof/deploys rolls fleets',
  37: 'a corrupt file: proof/crash-points, row 37; proof/corruption has every byte',
};

const POINTS: Readonly<Record<number, Is>> = {
  1: call('enqueue', 'before'),
  2: call('enqueue', 'committed'),
  3: call('claim', 'before'),
  4: call('claim', 'before', ['cut']),
  5: call('claim', 'answered'),
  6: record(/STARTED>/, 'after'),
  7: record(/DONE>/, 'before'),
  8: record(/./, 'before', ['torn']),
  9: phase(/\.(work|persist)$/, ['begun']),
  10: phase(/\.(work|persist)$/, ['half']),
  11: phase(/\.(work|persist)$/, ['done']),
  12: record(/DONE>/, 'after'),
  13: phase(/\.validate$/, ['begun', 'done']),
  14: call('settle', 'before'),
  15: call('settle', 'committed'),
  16: call('settle', 'answered'),
  17: phase(/\.(work|persist)$/, ['half'], ['pause']),
  18: call('archive', 'before'),
  19: call('archive', 'committed'),
  20: call('archive', 'answered'),
  21: any(record(/^removal$/, 'before'), record(/^removal$/, 'after')),
  23: record(/DONE>/, 'after', ['full']),
  24: call('beat', 'before', ['cut']),
  25: any(
    phase(/^recovery\/sweep /, ['begun']),
    within('sweep', any(...SWEEPING.map((verb) => call(verb, 'before')))),
  ),
  26: within('sweep', any(...SWEEPING.map((verb) => call(verb, 'committed')))),
  // The leader stands still in its sweep; the next one sweeps; then the first goes on.
  27: any(
    phase(/^recovery\/sweep .*\.work$/, ['begun', 'half'], ['pause']),
    within('sweep', any(...['fence', 'take'].map((verb) => call(verb, 'before', ['pause'])))),
  ),
  28: call('markDraining', 'committed'),
  // A settlement is one statement there; what is released before it and what is not, is half of them.
  29: within('drain', any(call('settle', 'committed'), call('settle', 'answered'))),
  30: within('adopt', call('take', 'committed')),
  // Recovery is part of these courses, so one strike in it is the second crash.
  31: any(
    record(/TAKEN>|INTERRUPTED>/, 'before'),
    within('adopt', any(...['heads', 'fence', 'take'].map((verb) => call(verb, 'before')))),
  ),
  34: record(/ASLEEP>/, 'after'),
  // One that was left to the store, and one that was waited for in memory.
  35: any(...['work', 'adopt'].map((story) => within(story, record(/DONE>b\.work/, 'after')))),
};

/** The rows that striking there is a case of. */
export function rowsOf(struck: Struck): number[] {
  return Object.entries(POINTS).flatMap(([row, is]) => (is(struck) ? [Number(row)] : []));
}

/** By row: how many points there are for it, or what shows it instead. */
export function rowTable(
  stories: readonly { readonly name: string; readonly points: readonly Point[] }[],
): Map<number, number | string> {
  const counts = new Map<number, number>();
  for (const { name: story, points } of stories) {
    for (const point of points) {
      const rows = new Set(
        WAYS.filter((way) => canStrike(point, way)).flatMap((way) => rowsOf({ story, point, way })),
      );
      for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
    }
  }
  return new Map(ROWS.map(({ number }) => [number, REAL[number] ?? counts.get(number) ?? 0]));
}

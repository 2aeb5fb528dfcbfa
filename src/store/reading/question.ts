/**
 * A filter as the stores look for it: which part of an index to walk, what to ask of every row there,
 * and the last word, which is spoken here. A store may let through more rows than fit, never fewer;
 * so all of them answer alike, whatever their own ways with letters and numbers are.
 */

import { assertNever } from '../../ground/index.ts';
import {
  FACTS,
  type Fact,
  type Filter,
  instantOf,
  matches,
  type NumberField,
  type NumberTerm,
  type Term,
  type TimeField,
  type When,
  type WordTerm,
  wordFits,
} from '../../query/index.ts';
import { isBlocked, LiveRoutes } from '../blocked.ts';
import { TIME_MS_MAX, TIME_MS_MIN } from '../bounds.ts';
import { factsOfTask } from '../facts.ts';
import type { TaskGlance } from '../reader.ts';
import type { TaskStatus } from '../words.ts';
import { type Wanted, wantedOf } from './searching.ts';
import { isStorable, type Words, wordsOf } from './words.ts';

export const STATUSES: readonly TaskStatus[] = [
  'pending',
  'waiting',
  'claimed',
  'completed',
  'failed',
  'cancelled',
];

/** Fields of which a row has one word, but for those that other conditions tell. */
export type WordColumn =
  | 'id'
  | 'machine'
  | 'version'
  | 'outcome'
  | 'queue'
  | 'pod'
  | 'key'
  | 'wait';

/** What is asked of every row that is walked over; each for itself, and all of them have to hold. */
export type Condition =
  | ({ readonly kind: 'words'; readonly column: WordColumn; readonly isNot: boolean } & Words)
  | {
      readonly kind: 'number';
      readonly column: NumberField;
      readonly isNot: boolean;
      readonly from: number | undefined;
      readonly until: number | undefined;
    }
  | {
      readonly kind: 'time';
      readonly column: TimeField;
      readonly isNot: boolean;
      /** Whole milliseconds, which every store can hold. */
      readonly from: number | undefined;
      readonly until: number | undefined;
    }
  /** One of them is so. */
  | { readonly kind: 'facts'; readonly facts: readonly Fact[]; readonly isNot: boolean }
  | { readonly kind: 'hasError' }
  | ({ readonly kind: 'text' } & Wanted);

/** A few rows that an index finds at once, if they are few. */
export interface Hook extends Words {
  readonly column: 'id' | 'key' | 'pod';
  /** Of these machines alone, where that is known. */
  readonly machines: readonly string[] | undefined;
}

export interface Question {
  /** None: nothing fits. */
  readonly statuses: readonly TaskStatus[];
  /** When it was created, in whole milliseconds; `until` is not included. */
  readonly from: number;
  readonly until: number;
  readonly conditions: readonly Condition[];
  /** Whether a row fits where the conditions hold; otherwise the last word is `fits`. */
  readonly isExact: boolean;
  readonly hooks: readonly Hook[];
  readonly live: LiveRoutes;
  readonly fits: (task: TaskGlance) => boolean;
}

export interface Asked {
  readonly filter: Filter;
  readonly nowMs: number;
  readonly liveRoutes: readonly string[];
}

export function asksForBlocked({ terms }: Filter): boolean {
  return terms.some(
    (term) =>
      term.kind === 'words' &&
      term.field === 'is' &&
      term.words.some((word) => wordFits(word, 'blocked')),
  );
}

export function countsFromNow({ terms }: Filter): boolean {
  const isAgo = (when: When | undefined) => when !== undefined && 'agoMs' in when;
  return terms.some((term) => term.kind === 'time' && (isAgo(term.from) || isAgo(term.until)));
}

export function questionOf(asked: Asked): Question {
  const { filter, nowMs, liveRoutes } = asked;
  const live = new LiveRoutes([{ status: 'up', routes: liveRoutes }]);
  const parts = filter.terms.map((term) => partOf(term, nowMs));
  const all = <Value>(pick: (part: Part) => Value | undefined): Value[] =>
    parts.flatMap((part) => pick(part) ?? []);
  const conditions = all(({ condition }) => condition);
  return {
    statuses: STATUSES.filter((status) =>
      parts.every(({ statuses }) => statuses?.includes(status) ?? true),
    ),
    from: Math.max(TIME_MS_MIN, ...all(({ from }) => from)),
    until: Math.min(TIME_MS_MAX + 1, ...all(({ until }) => until)),
    conditions,
    isExact: parts.every(({ isExact }) => isExact),
    hooks: hooksOf(conditions),
    live,
    fits: (task) => matches(filter, factsOfTask(task, isBlocked(live, task)), nowMs),
  };
}

/** What one term says of the walk and of the rows. */
interface Part {
  readonly statuses?: readonly TaskStatus[];
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly condition?: Condition;
  readonly isExact: boolean;
}

const FACT_STATUSES: Partial<Record<Fact, readonly TaskStatus[]>> = {
  unfinished: ['pending', 'waiting', 'claimed'],
  finished: ['completed', 'failed', 'cancelled'],
  blocked: ['pending', 'waiting'],
  'dead-letter': ['failed'],
};

function partOf(term: Term, nowMs: number): Part {
  switch (term.kind) {
    case 'words':
      return partOfWords(term);
    case 'number':
      return { condition: numberCondition(term), isExact: true };
    case 'time': {
      const { field: column, isNot } = term;
      const [from, until] = [boundOf(term.from, nowMs), boundOf(term.until, nowMs)];
      if (column === 'created' && !isNot) return { from, until, isExact: true };
      return { condition: { kind: 'time', column, isNot, from, until }, isExact: true };
    }
    case 'text':
      if (term.isNot) return { isExact: false };
      // No row can hold it.
      if (!isStorable(term.text)) return { statuses: [], isExact: true };
      return { condition: { kind: 'text', ...wantedOf(term.text) }, isExact: false };
    default:
      return assertNever(term);
  }
}

/** Rows tell whole milliseconds, so a bound between two of them is the later one. */
function boundOf(when: When | undefined, nowMs: number): number | undefined {
  if (when === undefined) return undefined;
  const ms = Math.ceil(instantOf(when, nowMs));
  return Number.isNaN(ms) ? TIME_MS_MIN : Math.min(Math.max(ms, TIME_MS_MIN), TIME_MS_MAX + 1);
}

/** What is no number is above none and below none, and every store has its own opinion of it. */
function numberCondition({ field: column, isNot, from, until }: NumberTerm): Condition {
  const isNone = Number.isNaN(from) || Number.isNaN(until);
  if (isNone) return { kind: 'number', column, isNot, from: Infinity, until: -Infinity };
  return { kind: 'number', column, isNot, from, until };
}

function partOfWords({ field, isNot, words }: WordTerm): Part {
  if (field === 'error') {
    return isNot ? { isExact: false } : { condition: { kind: 'hasError' }, isExact: false };
  }
  const sorted =
    field === 'version' ? { exact: words.filter(isStorable), prefixes: [] } : wordsOf(words);
  if (field === 'status') {
    const { exact, prefixes } = sorted;
    const isNamed = (status: string) =>
      exact.includes(status) || prefixes.some((prefix) => status.startsWith(prefix));
    return { statuses: STATUSES.filter((status) => isNamed(status) !== isNot), isExact: true };
  }
  if (field === 'is') {
    const facts = FACTS.filter((fact) => words.some((word) => wordFits(word, fact)));
    const statuses = isNot ? STATUSES : facts.flatMap((fact) => FACT_STATUSES[fact] ?? STATUSES);
    return { statuses, condition: { kind: 'facts', facts, isNot }, isExact: true };
  }
  const condition: Condition = { kind: 'words', column: field, isNot, ...sorted };
  if (isNot) return { condition, isExact: true };
  if (field === 'wait') return { statuses: ['waiting'], condition, isExact: true };
  if (field === 'pod') return { statuses: ['claimed'], condition, isExact: true };
  return { condition, isExact: true };
}

function hooksOf(conditions: readonly Condition[]): Hook[] {
  const wanted = (column: WordColumn) =>
    conditions.flatMap((condition) =>
      condition.kind === 'words' && condition.column === column && !condition.isNot
        ? [condition]
        : [],
    );
  const machines = wanted('machine').find(({ prefixes }) => prefixes.length === 0)?.exact;
  return (['id', 'key', 'pod'] as const).flatMap((column) =>
    wanted(column)
      // A key that only begins so is found by no index.
      .filter(({ prefixes }) => column !== 'key' || prefixes.length === 0)
      .map(({ exact, prefixes }) => ({ column, exact, prefixes, machines })),
  );
}

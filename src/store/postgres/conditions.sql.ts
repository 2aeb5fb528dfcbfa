/**
 * What is asked of a row of step_tracker, called `task`, as an expression. Whatever comes from people
 * is bound; the texts here are all there are.
 */
import { assertNever, isoTime } from '../../ground/index.ts';
import type { Fact, NumberField, TimeField } from '../../query/index.ts';
import type { LiveRoutes } from '../blocked.ts';
import type { Condition, Question, WordColumn } from '../reading/question.ts';
import { ERROR_CHARACTERS_MAX, ESCAPE } from '../reading/searching.ts';
import { SUSPECT_CRASHES } from '../words.ts';
import { sql } from './sql.ts';

/** Values in the order of their places. */
export class Binds {
  readonly values: unknown[] = [];

  readonly bind = (value: unknown): string => {
    this.values.push(value);
    return `$${this.values.length}`;
  };
}

type Bind = Binds['bind'];

const WORDS: Record<WordColumn, string> = {
  id: 'task.task_id',
  machine: 'task.machine',
  version: 'task.version::text',
  outcome: 'task.outcome',
  queue: 'task.queue',
  pod: 'task.claimed_by',
  key: 'task.key',
  wait: 'task.wait_for',
};

const NUMBERS: Record<NumberField, string> = {
  priority: 'task.priority',
  retries: 'task.retry_count',
  crashes: 'task.crashes',
  claims: 'task.claims',
  generation: 'task.generation',
};

const TIMES: Record<TimeField, string> = {
  created: 'task.created_at',
  updated: 'task.last_update',
  finished: 'task.finished_at',
  due: 'task.run_at',
};

/** An instant, from milliseconds: as text, since no number holds microseconds of the year 9999. */
export function instant(bind: Bind, ms: number): string {
  return sql`${bind(isoTime(ms))}::timestamptz`;
}

/** Whether all of them hold; `true` where there are none. */
export function fitsOf({ conditions, live }: Question, bind: Bind): string {
  const parts = conditions.map((condition) => conditionOf(condition, live, bind));
  return parts.length === 0 ? 'true' : parts.join('\n       and ');
}

function conditionOf(condition: Condition, live: LiveRoutes, bind: Bind): string {
  switch (condition.kind) {
    case 'words':
      return decided(condition.isNot, wordsOf(condition, bind));
    case 'number':
      return decided(condition.isNot, numberOf(condition, bind));
    case 'time':
      return decided(condition.isNot, timeOf(condition, bind));
    case 'facts': {
      const facts = condition.facts.map((fact) => `(${factOf(fact, live, bind)})`);
      return decided(condition.isNot, facts.join(' or ') || 'false');
    }
    case 'hasError':
      return 'task.error is not null';
    case 'text':
      return textOf(condition, bind);
    default:
      return assertNever(condition);
  }
}

/** What is not known does not hold; and then its contrary does. */
function decided(isNot: boolean, expression: string): string {
  return sql`${isNot ? 'not ' : ''}coalesce(${expression}, false)`;
}

function wordsOf(
  { column, exact, prefixes }: Extract<Condition, { kind: 'words' }>,
  bind: Bind,
): string {
  const said = WORDS[column];
  const parts: string[] = [];
  if (exact.length > 0) parts.push(sql`${said} = any (${bind(exact)}::text[])`);
  if (prefixes.length > 0) {
    parts.push(sql`exists (select 1 from unnest(${bind(prefixes)}::text[]) as prefix
                    where starts_with(${said}, prefix))`);
  }
  return parts.join(' or ') || 'false';
}

function numberOf(
  { column, from, until }: Extract<Condition, { kind: 'number' }>,
  bind: Bind,
): string {
  const parts: string[] = [];
  if (from !== undefined) parts.push(sql`${NUMBERS[column]} >= ${bind(from)}::float8`);
  if (until !== undefined) parts.push(sql`${NUMBERS[column]} <= ${bind(until)}::float8`);
  return parts.join(' and ') || 'true';
}

function timeOf({ column, from, until }: Extract<Condition, { kind: 'time' }>, bind: Bind): string {
  const parts = [sql`${TIMES[column]} is not null`];
  if (from !== undefined) parts.push(sql`${TIMES[column]} >= ${instant(bind, from)}`);
  if (until !== undefined) parts.push(sql`${TIMES[column]} < ${instant(bind, until)}`);
  return parts.join(' and ');
}

function factOf(fact: Fact, live: LiveRoutes, bind: Bind): string {
  switch (fact) {
    case 'unfinished':
      return 'task.finished_at is null';
    case 'finished':
      return 'task.finished_at is not null';
    case 'paused':
      return 'task.paused';
    case 'suspect':
      return sql`task.finished_at is null and task.crashes >= ${SUSPECT_CRASHES}`;
    case 'pinned':
      return 'task.pinned_to is not null';
    case 'dead-letter':
      return sql`task.status = 'failed' and task.discarded_at is null`;
    case 'discarded':
      return 'task.discarded_at is not null';
    case 'blocked':
      return blockedOf(live, bind);
    default:
      return assertNever(fact);
  }
}

/** The rule of src/store/blocked.ts. */
function blockedOf(live: LiveRoutes, bind: Bind): string {
  if (live.isEmpty) return 'false';
  const machines = bind(live.heirs.map(([machine]) => machine));
  const versions = bind(live.heirs.map(([, version]) => version));
  return sql`task.status in ('pending', 'waiting') and task.pinned_to is null
         and task.route <> all (${bind(live.routes)}::text[])
         and (task.wait_for = 'version' or task.crashes >= ${SUSPECT_CRASHES} or not exists (
           select 1 from unnest(${machines}::text[], ${versions}::float8[]) as heir (machine, version)
            where heir.machine = task.machine and heir.version > task.version))`;
}

/** A to Z alone have two cases in the collation "C". */
function textOf({ text, inError }: Extract<Condition, { kind: 'text' }>, bind: Bind): string {
  const wanted = bind(text);
  const has = (said: string, what: string) => sql`strpos(lower(${said} collate "C"), ${what}) > 0`;
  const error = sql`left(task.error, ${ERROR_CHARACTERS_MAX})`;
  const inErrors =
    inError === ''
      ? 'task.error is not null'
      : sql`${has(error, bind(inError))} or strpos(${error}, ${bind(ESCAPE)}) > 0`;
  return sql`coalesce(${has('task.task_id', wanted)} or ${has('task.machine', wanted)}
         or coalesce(${has('task.key', wanted)}, false) or coalesce(${inErrors}, false), false)`;
}

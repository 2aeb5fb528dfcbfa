/**
 * What is asked of a row of step_tracker, called `task`, as an expression. Whatever comes from people
 * is bound, lists as JSON; the texts here are all there are.
 */
import { assertNever } from '../../ground/index.ts';
import type { Fact, NumberField, TimeField } from '../../query/index.ts';
import type { LiveRoutes } from '../blocked.ts';
import type { Condition, Question, WordColumn } from '../reading/question.ts';
import { ERROR_CHARACTERS_MAX, ESCAPE } from '../reading/searching.ts';
import { SUSPECT_CRASHES } from '../words.ts';

/** Values under the names of their places. */
export class Binds {
  readonly values: Record<string, string | number> = {};
  #count = 0;

  readonly bind = (value: string | number | readonly unknown[]): string => {
    this.#count += 1;
    const isPlain = typeof value === 'string' || typeof value === 'number';
    this.values[`p${this.#count}`] = isPlain ? value : JSON.stringify(value);
    return `@p${this.#count}`;
  };
}

type Bind = Binds['bind'];

const WORDS: Record<WordColumn, string> = {
  id: 'task.task_id',
  machine: 'task.machine',
  version: 'cast(task.version as text)',
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

/** Whether all of them hold; 1 where there are none. */
export function fitsOf({ conditions, live }: Question, bind: Bind): string {
  const parts = conditions.map((condition) => conditionOf(condition, live, bind));
  return parts.length === 0 ? '1' : parts.join('\n       and ');
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
      return decided(condition.isNot, facts.join(' or ') || '0');
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
  return `${isNot ? 'not ' : ''}coalesce(${expression}, 0)`;
}

function wordsOf(
  { column, exact, prefixes }: Extract<Condition, { kind: 'words' }>,
  bind: Bind,
): string {
  const said = WORDS[column];
  const parts: string[] = [];
  if (exact.length > 0) parts.push(`${said} in (select value from json_each(${bind(exact)}))`);
  if (prefixes.length > 0) {
    parts.push(`exists (select 1 from json_each(${bind(prefixes)}) as prefix
                    where substr(${said}, 1, length(prefix.value)) = prefix.value)`);
  }
  return parts.join(' or ') || '0';
}

function numberOf(
  { column, from, until }: Extract<Condition, { kind: 'number' }>,
  bind: Bind,
): string {
  const parts: string[] = [];
  if (from !== undefined) parts.push(`${NUMBERS[column]} >= ${bind(from)}`);
  if (until !== undefined) parts.push(`${NUMBERS[column]} <= ${bind(until)}`);
  return parts.join(' and ') || '1';
}

function timeOf({ column, from, until }: Extract<Condition, { kind: 'time' }>, bind: Bind): string {
  const parts = [`${TIMES[column]} is not null`];
  if (from !== undefined) parts.push(`${TIMES[column]} >= ${bind(from)}`);
  if (until !== undefined) parts.push(`${TIMES[column]} < ${bind(until)}`);
  return parts.join(' and ');
}

function factOf(fact: Fact, live: LiveRoutes, bind: Bind): string {
  switch (fact) {
    case 'unfinished':
      return 'task.finished_at is null';
    case 'finished':
      return 'task.finished_at is not null';
    case 'paused':
      return 'task.paused = 1';
    case 'suspect':
      return `task.finished_at is null and task.crashes >= ${SUSPECT_CRASHES}`;
    case 'pinned':
      return 'task.pinned_to is not null';
    case 'dead-letter':
      return `task.status = 'failed' and task.discarded_at is null`;
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
  if (live.isEmpty) return '0';
  return `task.status in ('pending', 'waiting') and task.pinned_to is null
         and task.route not in (select value from json_each(${bind(live.routes)}))
         and (task.wait_for = 'version' or task.crashes >= ${SUSPECT_CRASHES} or not exists (
           select 1 from json_each(${bind(live.heirs)}) as heir
            where json_extract(heir.value, '$[0]') = task.machine
              and json_extract(heir.value, '$[1]') > task.version))`;
}

/** SQLite knows two cases of A to Z alone. */
function textOf({ text, inError }: Extract<Condition, { kind: 'text' }>, bind: Bind): string {
  const wanted = bind(text);
  const has = (said: string, what: string) => `instr(lower(${said}), ${what}) > 0`;
  const error = `substr(task.error, 1, ${ERROR_CHARACTERS_MAX})`;
  const inErrors =
    inError === ''
      ? 'task.error is not null'
      : `${has(error, bind(inError))} or instr(${error}, ${bind(ESCAPE)}) > 0`;
  return `(${has('task.task_id', wanted)} or ${has('task.machine', wanted)}
         or coalesce(${has('task.key', wanted)}, 0) or coalesce(${inErrors}, 0))`;
}

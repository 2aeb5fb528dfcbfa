/**
 * What Snowflake refuses though Postgres would take it. The emulator refuses it with these words, and
 * the lint finds it in texts that no test happens to run.
 */
import { SnowflakeError } from './errors.ts';
import { subqueryRefusals } from './subqueries.ts';
import { isWords, type Node, remembering, type Token, tokensOf, treeOf, walk } from './tokens.ts';
import { RESERVED } from './words.ts';

export interface Refusal {
  readonly rule: string;
  readonly at: number;
  readonly found: string;
}

type Rule = (items: readonly Node[], index: number) => boolean;

const words =
  (...sequence: string[]): Rule =>
  (items, index) =>
    isWords(items, index, ...sequence);

const operator =
  (...operators: string[]): Rule =>
  (items, index) =>
    items[index]!.kind === 'op' && operators.includes(items[index]!.upper);

const castTo =
  (...types: string[]): Rule =>
  (items, index) =>
    items[index]!.upper === '::' && types.includes(items[index + 1]?.upper ?? '');

const isCallOf =
  (pattern: RegExp): Rule =>
  (items, index) => {
    const item = items[index]!;
    return item.kind === 'word' && pattern.test(item.upper) && items[index + 1]?.kind === 'group';
  };

const holds = (node: Node | undefined, word: string) =>
  node?.kind === 'group' && [...walk(node.items)].some(([items, at]) => isWords(items, at, word));

/** A query in WITH that changes rows. */
const changesInWith: Rule = (items, index) => {
  const group = items[index + 1];
  return (
    isWords(items, index, 'AS') &&
    group?.kind === 'group' &&
    ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(group.items[0]?.upper ?? '')
  );
};

/** WITH … before a statement that changes rows: Snowflake wants it inside. */
const withBeforeChange: Rule = (items, index) =>
  index === 0 &&
  isWords(items, 0, 'WITH') &&
  items.some((item) => ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(item.upper));

const VALUES_TAKE_NO = ['PARSE_JSON', 'OBJECT_CONSTRUCT', 'ARRAY_CONSTRUCT', 'TO_VARIANT'];

const functionInValues: Rule = (items, index) =>
  isWords(items, index, 'VALUES') &&
  items.slice(index + 1).some((one) => VALUES_TAKE_NO.some((name) => holds(one, name)));

const rowAssignment: Rule = (items, index) =>
  isWords(items, index, 'SET') && items[index + 1]?.kind === 'group';

const rowComparison: Rule = (items, index) =>
  items[index]!.kind === 'group' &&
  ['<', '>', '<=', '>='].includes(items[index + 1]?.upper ?? '') &&
  items[index + 2]?.kind === 'group' &&
  (items[index] as { items: readonly Node[] }).items.some((item) => item.upper === ',');

const limitedByBind: Rule = (items, index) =>
  (isWords(items, index, 'LIMIT') || isWords(items, index, 'OFFSET')) &&
  items[index + 1]?.kind === 'bind';

/** UPDATE t SET t.a = 1. */
const qualifiedSet: Rule = (items, index) =>
  isWords(items, 0, 'UPDATE') &&
  isWords(items, index, 'SET') &&
  items[index + 2]?.upper === '.' &&
  items[index + 4]?.upper === '=';

const RULES: Readonly<Record<string, Rule>> = {
  returning: words('RETURNING'),
  'on conflict': words('ON', 'CONFLICT'),
  'skip locked': words('SKIP', 'LOCKED'),
  'numbered bind': (items, index) => items[index]!.kind === 'place',
  'limit by a bind': limitedByBind,
  'lock of Postgres': (items, index) =>
    isWords(items, index, 'FOR', 'SHARE') ||
    isWords(items, index, 'FOR', 'KEY') ||
    isWords(items, index, 'FOR', 'NO', 'KEY'),
  'filter clause': (items, index) =>
    isWords(items, index, 'FILTER') && items[index - 1]?.kind === 'group',
  'distinct on': words('DISTINCT', 'ON'),
  'materialized query': words('AS', 'MATERIALIZED'),
  'change inside WITH': changesInWith,
  'WITH before a change': withBeforeChange,
  'function in VALUES': functionInValues,
  'row assignment': rowAssignment,
  'row comparison': rowComparison,
  'qualified column in SET': qualifiedSet,
  'array of Postgres': (items, index) =>
    isWords(items, index, 'ARRAY') && items[index + 1]?.upper === '[',
  'any of an array': (items, index) =>
    items[index]!.upper === '=' &&
    (isWords(items, index + 1, 'ANY') || isWords(items, index + 1, 'ALL')) &&
    !holds(items[index + 2], 'SELECT'),
  'operator of Postgres': operator('->', '->>', '#>', '#>>', '@>', '<@', '~', '!~', '!'),
  'type of Postgres': castTo('JSONB', 'JSON', 'TIMESTAMPTZ', 'BIGSERIAL', 'INTERVAL', 'UUID'),
  'function of Postgres': isCallOf(
    /^(NOW|CLOCK_TIMESTAMP|STATEMENT_TIMESTAMP|JSONB?_\w+|TO_JSONB|UNNEST|GENERATE_SERIES|STRING_AGG|BOOL_(AND|OR)|GEN_RANDOM_UUID|PG_\w+|STRPOS|ARRAY_LENGTH|MAKE_INTERVAL|STARTS_WITH)$/,
  ),
  'default values': words('DEFAULT', 'VALUES'),
};

/** Every place in one statement that Snowflake would refuse. */
export const refusalsOf: (sql: string) => readonly Refusal[] = remembering(findRefusals);

function findRefusals(sql: string): Refusal[] {
  const tokens = tokensOf(sql);
  const tree = treeOf(sql);
  const found: Refusal[] = [];
  for (const [items, index] of walk(tree)) {
    for (const [rule, isBroken] of Object.entries(RULES)) {
      if (isBroken(items, index))
        found.push({ rule, at: items[index]!.at, found: textOf(items[index]!) });
    }
  }
  const second = tokens.findIndex((token) => token.upper === ';');
  if (second >= 0) found.push({ rule: 'two statements', at: tokens[second]!.at, found: ';' });
  return [...found, ...reservedColumns(tree), ...subqueryRefusals(tree)];
}

function textOf(node: Node): string {
  return node.kind === 'group' ? '(' : node.text;
}

/** CREATE TABLE t (start NUMBER): START is a word of Snowflake. */
function reservedColumns(tree: readonly Node[]): Refusal[] {
  if (!isWords(tree, 0, 'CREATE') || !tree.some((item) => item.upper === 'TABLE')) return [];
  const group = tree.find((item) => item.kind === 'group');
  if (group?.kind !== 'group') return [];
  const clauses = new Set(['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'FOREIGN', 'INDEX', 'CHECK', 'LIKE']);
  const firsts = group.items.filter((_, i) => i === 0 || group.items[i - 1]!.upper === ',');
  return firsts
    .filter((item): item is Token => item.kind === 'word')
    .filter(({ upper }) => RESERVED.has(upper) && !clauses.has(upper))
    .map(({ at, text }) => ({ rule: 'reserved word as a column', at, found: text }));
}

/** Refuses as Snowflake does: with the first thing it does not understand. */
export function refuse(sql: string): void {
  const [first] = [...refusalsOf(sql)].sort((one, other) => one.at - other.at);
  if (first === undefined) return;
  if (first.rule === 'two statements') {
    throw new SnowflakeError(
      '000008',
      '0A000',
      'Actual statement count 2 did not match the desired statement count 1.',
    );
  }
  if (first.rule === 'limit by a bind') {
    throw SnowflakeError.invalid("Invalid row count '?' in limit clause");
  }
  if (first.rule === 'function in VALUES') {
    throw new SnowflakeError(
      '002014',
      '22000',
      'SQL compilation error:\nInvalid expression in VALUES clause',
    );
  }
  if (/subquery/.test(first.rule)) {
    throw new SnowflakeError(
      '002031',
      '42601',
      `SQL compilation error:\nUnsupported subquery type cannot be evaluated (${first.rule})`,
    );
  }
  if (first.rule === 'function of Postgres') throw SnowflakeError.unknownFunction(first.found);
  throw SnowflakeError.syntax(sql, first.at, first.found);
}

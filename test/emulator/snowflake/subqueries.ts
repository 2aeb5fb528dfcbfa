/**
 * Which subqueries Snowflake evaluates, by its documentation of subquery operators: EXISTS that is
 * correlated, and IN, ANY and ALL of a query, only in WHERE and not as an argument of OR; scalar ones
 * that are correlated only if an aggregate makes them one row; LIMIT in none that is correlated.
 * Servers may be more lenient than their documentation; a store cannot rest on that.
 */
import type { Refusal } from './refusals.ts';
import { type Group, isWords, type Node, walk } from './tokens.ts';

type Clause = 'select' | 'from' | 'where' | 'other';

interface Around {
  readonly clause: Clause;
  readonly isUnderOr: boolean;
}

const CLAUSES: Readonly<Record<string, Clause>> = {
  ...{ SELECT: 'select', FROM: 'from', USING: 'from', WHERE: 'where', QUALIFY: 'other' },
  ...{ ON: 'other', HAVING: 'other', GROUP: 'other', ORDER: 'other', SET: 'other', WHEN: 'other' },
  ...{ LIMIT: 'other', WITH: 'from', UNION: 'other', JOIN: 'from' },
};

const AGGREGATES = new Set([
  ...['COUNT', 'SUM', 'MIN', 'MAX', 'AVG', 'ANY_VALUE', 'LISTAGG', 'ARRAY_AGG', 'COUNT_IF'],
]);

export function subqueryRefusals(tree: readonly Node[]): Refusal[] {
  return [...judge(tree, { clause: 'select', isUnderOr: false })];
}

function* judge(items: readonly Node[], around: Around): Generator<Refusal> {
  let { clause } = around;
  let hasOr = around.isUnderOr || orFollows(items, 0);
  for (const [index, item] of items.entries()) {
    const next = item.kind === 'word' ? clauseAt(items, index) : undefined;
    if (next !== undefined) {
      clause = next;
      hasOr = orFollows(items, index + 1);
    }
    if (item.kind !== 'group') continue;
    if (isQuery(item)) {
      const rule = faultOf(items, index, item, { clause, isUnderOr: hasOr });
      if (rule !== undefined) yield { rule, at: item.at, found: '(' };
      yield* judge(item.items, { clause: 'select', isUnderOr: false });
    } else yield* judge(item.items, { clause, isUnderOr: hasOr });
  }
}

/** `THEN UPDATE SET` and `WHEN` of CASE begin no clause that matters; `IS DISTINCT FROM` none at all. */
function clauseAt(items: readonly Node[], index: number): Clause | undefined {
  const { upper } = items[index]!;
  if (upper === 'FROM' && items[index - 1]?.upper === 'DISTINCT') return undefined;
  if (upper === 'WHEN' && !isWords(items, 0, 'MERGE')) return undefined;
  return CLAUSES[upper];
}

/** Whether an OR stands beside, up to the next clause. */
function orFollows(items: readonly Node[], from: number): boolean {
  for (let index = from; index < items.length; index += 1) {
    const item = items[index]!;
    if (item.kind !== 'word') continue;
    if (item.upper === 'OR') return !isWords(items, index, 'OR', 'REPLACE');
    if (clauseAt(items, index) !== undefined) return false;
  }
  return false;
}

function isQuery({ items }: Group): boolean {
  return isWords(items, 0, 'SELECT') || isWords(items, 0, 'WITH');
}

function faultOf(
  items: readonly Node[],
  index: number,
  query: Group,
  { clause, isUnderOr }: Around,
): string | undefined {
  const before = items[index - 1]?.upper ?? '';
  const isCorrelated = namesOutside(query).length > 0;
  const isLimited = [...query.items].some((item) => item.upper === 'LIMIT');
  const isMany = ['IN', 'ANY', 'ALL', 'SOME'].includes(before);
  if (isCorrelated && isLimited) return 'limit in a correlated subquery';
  if (isMany || (before === 'EXISTS' && isCorrelated)) {
    if (isUnderOr) return 'subquery as an argument of OR';
    return clause === 'where' ? undefined : 'subquery outside WHERE';
  }
  const isScalar = before !== 'EXISTS' && clause !== 'from' && before !== 'AS';
  const isOneRow = query.items.some((item) => item.kind === 'word' && AGGREGATES.has(item.upper));
  return isScalar && isCorrelated && !isOneRow ? 'correlated scalar subquery' : undefined;
}

/** Qualifiers that name nothing inside. */
function namesOutside(query: Group): string[] {
  const inside = new Set<string>();
  const used: string[] = [];
  for (const [items, index] of walk(query.items)) {
    const item = items[index]!;
    if (item.kind !== 'word' && item.kind !== 'group') continue;
    if (isNaming(items, index)) inside.add(item.upper);
    const isQualifier = items[index + 1]?.upper === '.' && items[index - 1]?.upper !== '.';
    if (item.kind === 'word' && isQualifier && items[index - 1]?.upper !== ':')
      used.push(item.upper);
  }
  return used.filter((name) => !inside.has(name));
}

/** Whether the word is a table or an alias: in FROM, up to the next clause, outside ON. */
function isNaming(items: readonly Node[], index: number): boolean {
  for (let at = index - 1; at >= 0; at -= 1) {
    const { upper, kind } = items[at]!;
    if (kind !== 'word') continue;
    if (upper === 'FROM' || upper === 'JOIN' || upper === 'WITH') return true;
    if (upper === 'ON' || CLAUSES[upper] !== undefined) return false;
  }
  return false;
}

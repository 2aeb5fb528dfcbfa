/**
 * Judges texts without running them: a grammar of Snowflake's dialect must read them, and nothing in
 * them may be what Snowflake refuses. The grammar is laxer than Snowflake, the list of refusals knows
 * only what is on it: together they find what either would let pass.
 */
import { init, parse } from '@guanmingchiu/sqlparser-ts';
import { SnowflakeError } from './errors.ts';
import { refusalsOf } from './refusals.ts';
import { tokensOf } from './tokens.ts';

export interface Fault {
  readonly rule: string;
  readonly text: string;
}

/** Words that the grammar does not know yet, though Snowflake does. */
function forGrammar(sql: string): string {
  let text = sql;
  const cut = (pattern: RegExp, by: string) => {
    text = text.replace(pattern, by);
  };
  cut(/\bcreate(\s+or\s+replace)?\s+hybrid\s+table\b/i, 'create$1 table');
  cut(/\bfor\s+update\s+wait\s+\d+\s*$/i, 'for update');
  cut(/,\s*index\s+\w+\s*\([^()]*\)(\s*include\s*\([^()]*\))?/gi, '');
  cut(/\bcreate\s+view\s+if\s+not\s+exists\b/i, 'create view');
  return text;
}

/** What a store should not do although Snowflake lets it: texts that vary, names in two spellings. */
const HABITS: Readonly<Record<string, (sql: string) => string | undefined>> = {
  'qualified table': (sql) => {
    const tokens = tokensOf(sql);
    const at = tokens.findIndex(
      ({ upper }, index) =>
        ['FROM', 'INTO', 'JOIN', 'UPDATE', 'TABLE'].includes(upper) &&
        tokens[index + 2]?.upper === '.' &&
        tokens[index + 1]?.kind === 'word' &&
        tokens[index + 1]?.upper !== 'INFORMATION_SCHEMA',
    );
    return at < 0 ? undefined : tokens[at + 1]!.text;
  },
  'case-insensitive like': (sql) => tokensOf(sql).find(({ upper }) => upper === 'ILIKE')?.text,
  'clock of the session': (sql) =>
    tokensOf(sql).find(({ upper }) =>
      ['CURRENT_TIMESTAMP', 'GETDATE', 'LOCALTIMESTAMP'].includes(upper),
    )?.text,
  'text that varies': (sql) =>
    tokensOf(sql).find(({ kind, text }) => kind === 'string' && VARIES.test(text))?.text,
};

/** ULIDs, UUIDs and times of day, spelt into a statement: every text would have a plan of its own. */
const VARIES = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$|^[0-9a-f]{8}-[0-9a-f]{4}-|^\d{4}-\d\d-\d\dT\d\d:/i;

const OFF_FAST_PATH = ['WITH', 'UNION', 'INTERSECT', 'EXCEPT', 'MINUS', 'FLATTEN', 'CALL', 'BEGIN'];

/** Why the fast path of hybrid tables, as documented, does not take a statement; nothing if it does. */
export function offFastPath(sql: string): string[] {
  const tokens = tokensOf(sql);
  const has = (...words: string[]) =>
    tokens.some((_, at) => words.every((word, offset) => tokens[at + offset]?.upper === word));
  return [
    ...OFF_FAST_PATH.filter((word) => has(word)),
    ...(has('GROUP', 'BY') ? ['GROUP BY'] : []),
    ...(has('FOR', 'UPDATE') ? ['FOR UPDATE'] : []),
    ...(has('(', 'SELECT') ? ['subquery'] : []),
    ...(has('LIMIT') && !has('ORDER', 'BY') ? ['LIMIT without ORDER BY'] : []),
  ];
}

let ready: Promise<void> | undefined;

/** Everything that is wrong with one statement. */
export async function lint(sql: string): Promise<Fault[]> {
  ready ??= init();
  await ready;
  return [...grammarFaults(sql), ...knownFaults(sql), ...habitFaults(sql)];
}

/** The same for many, such as all texts that an emulated account has seen: what is wrong, and where. */
export async function lintAll(
  texts: Iterable<string>,
): Promise<(Fault & { readonly sql: string })[]> {
  const found = await Promise.all(
    [...texts].map(async (sql) => (await lint(sql)).map((fault) => ({ ...fault, sql }))),
  );
  return found.flat();
}

function grammarFaults(sql: string): Fault[] {
  try {
    parse(forGrammar(sql), 'snowflake');
    return [];
  } catch (error) {
    return [{ rule: 'grammar', text: error instanceof Error ? error.message : String(error) }];
  }
}

function knownFaults(sql: string): Fault[] {
  try {
    return refusalsOf(sql).map(({ rule, at }) => ({ rule, text: sql.slice(at, at + 40) }));
  } catch (error) {
    if (error instanceof SnowflakeError) return [{ rule: 'syntax', text: error.message }];
    throw error;
  }
}

function habitFaults(sql: string): Fault[] {
  return Object.entries(HABITS).flatMap(([rule, find]) => {
    const text = find(sql);
    return text === undefined ? [] : [{ rule, text }];
  });
}

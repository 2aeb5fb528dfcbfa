/**
 * Snowflake's SQL as tokens, and tokens as a tree of parentheses: enough to find a word without
 * finding it in a string, and to take a call apart. Comments are gone; everything keeps its place.
 */
import { SnowflakeError } from './errors.ts';

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'bind' | 'place' | 'op';

export interface Token {
  readonly kind: TokenKind;
  /** Words as written; of strings and quoted names, what they mean. */
  readonly text: string;
  /** Of words, upper case: what Snowflake takes them for. Of operators, themselves. */
  readonly upper: string;
  readonly at: number;
  /** Of a `?`: the how many-th it is, from 0. */
  readonly bind?: number;
}

export interface Group {
  readonly kind: 'group';
  readonly items: readonly Node[];
  readonly upper: '()';
  readonly at: number;
}

export type Node = Token | Group;

const SPACE = /^(?:\s+|--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/;
const WORD = /^[A-Za-z_][A-Za-z0-9_$]*/;
const NUMBER = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;
const STRING = /^'(?:[^'\\]|''|\\[\s\S])*'/;
const DOLLARS = /^\$\$([\s\S]*?)\$\$/;
const QUOTED = /^"((?:[^"]|"")*)"/;
const PLACE = /^[$:]\d+/;
const OPERATOR =
  /^(?:::|=>|<=>|<=|>=|<>|!=|\|\||->>|->|#>>|#>|@>|<@|!~|[-+*/%=<>()[\],.;:~^&|!#@])/;

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' },
  '0': '\u0000',
};

/** In Snowflake's strings a backslash escapes, as well as a doubled quote. */
function meaningOf(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/''|\\u([0-9a-fA-F]{4})|\\([\s\S])/g, (all, code?: string, one?: string) => {
      if (all === "''") return "'";
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return ESCAPES[one!] ?? one!;
    });
}

export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  let binds = 0;
  let at = 0;
  const take = (kind: TokenKind, length: number, text: string, more: { bind?: number } = {}) => {
    const upper = kind === 'word' || kind === 'op' || kind === 'bind' ? text.toUpperCase() : '';
    tokens.push({ kind, text, upper, at, ...more });
    at += length;
  };
  while (at < sql.length) {
    const rest = sql.slice(at, at + 2_000_000);
    let found: RegExpExecArray | null;
    if ((found = SPACE.exec(rest)) !== null) at += found[0].length;
    else if ((found = STRING.exec(rest)) !== null) {
      take('string', found[0].length, meaningOf(found[0]));
    } else if ((found = DOLLARS.exec(rest)) !== null) take('string', found[0].length, found[1]!);
    else if ((found = QUOTED.exec(rest)) !== null) {
      take('quoted', found[0].length, found[1]!.replaceAll('""', '"'));
    } else if ((found = PLACE.exec(rest)) !== null) take('place', found[0].length, found[0]);
    else if ((found = WORD.exec(rest)) !== null) take('word', found[0].length, found[0]);
    else if ((found = NUMBER.exec(rest)) !== null) take('number', found[0].length, found[0]);
    else if (rest.startsWith('?')) take('bind', 1, '?', { bind: binds++ });
    else if ((found = OPERATOR.exec(rest)) !== null) take('op', found[0].length, found[0]);
    else throw SnowflakeError.syntax(sql, at, rest[0]!);
  }
  while (tokens.at(-1)?.upper === ';') tokens.pop();
  return tokens;
}

/** What stands between parentheses becomes one node. */
export function treeOf(sql: string, tokens: readonly Token[]): Node[] {
  const stack: { items: Node[]; at: number }[] = [{ items: [], at: 0 }];
  for (const token of tokens) {
    if (token.upper === '(') stack.push({ items: [], at: token.at });
    else if (token.upper === ')') {
      const group = stack.pop()!;
      if (stack.length === 0) throw SnowflakeError.syntax(sql, token.at, ')');
      stack.at(-1)!.items.push({ kind: 'group', items: group.items, upper: '()', at: group.at });
    } else stack.at(-1)!.items.push(token);
  }
  if (stack.length > 1) throw SnowflakeError.syntax(sql, sql.length, '<EOF>');
  return stack[0]!.items;
}

/** The parts between commas. */
export function partsOf(items: readonly Node[], separator = ','): Node[][] {
  const parts: Node[][] = [[]];
  for (const item of items) {
    if (item.upper === separator) parts.push([]);
    else parts.at(-1)!.push(item);
  }
  return parts.length === 1 && parts[0]!.length === 0 ? [] : parts;
}

/** Every token in the tree, with its group's siblings. */
export function* walk(items: readonly Node[]): Generator<readonly [readonly Node[], number]> {
  for (const [index, item] of items.entries()) {
    yield [items, index];
    if (item.kind === 'group') yield* walk(item.items);
  }
}

/** The words from `index` on: `isWords(items, 3, 'ON', 'CONFLICT')`. */
export function isWords(items: readonly Node[], index: number, ...words: string[]): boolean {
  return words.every((word, offset) => {
    const item = items[index + offset];
    return item?.kind === 'word' && item.upper === word;
  });
}

export function indexOfWord(items: readonly Node[], word: string, from = 0): number {
  return items.findIndex(
    (item, index) => index >= from && item.kind === 'word' && item.upper === word,
  );
}

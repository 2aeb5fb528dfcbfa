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

/** In this order; the first that fits is it. Sticky: a text is never cut to be looked at. */
const SHAPES: readonly (readonly [TokenKind | 'space', RegExp])[] = [
  ['space', /(?:\s+|--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y],
  ['string', /'(?:[^'\\]|''|\\[\s\S])*'|\$\$[\s\S]*?\$\$/y],
  ['quoted', /"(?:[^"]|"")*"/y],
  ['place', /[$:]\d+/y],
  ['word', /[A-Za-z_][A-Za-z0-9_$]*/y],
  ['number', /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['bind', /\?/y],
  ['op', /::|=>|<=>|<=|>=|<>|!=|\|\||->>|->|#>>|#>|@>|<@|!~|[-+*/%=<>()[\],.;:~^&|!#@]/y],
];

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' },
  '0': '\u0000',
};

/** In Snowflake's strings a backslash escapes, as well as a doubled quote. */
function stringOf(raw: string): string {
  if (raw.startsWith('$$')) return raw.slice(2, -2);
  return raw
    .slice(1, -1)
    .replaceAll(/''|\\u([0-9a-fA-F]{4})|\\([\s\S])/g, (all, code?: string, one?: string) => {
      if (all === "''") return "'";
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return ESCAPES[one!] ?? one!;
    });
}

function tokenOf(kind: TokenKind, raw: string, at: number): Token {
  switch (kind) {
    case 'string':
      return { kind, text: stringOf(raw), upper: '', at };
    case 'quoted':
      return { kind, text: raw.slice(1, -1).replaceAll('""', '"'), upper: '', at };
    case 'place':
    case 'number':
      return { kind, text: raw, upper: '', at };
    default:
      return { kind, text: raw, upper: raw.toUpperCase(), at };
  }
}

/** The store's texts are few and come often: what is found out about one is kept. */
const KEPT_MAX = 1000;

export function remembering<T>(find: (sql: string) => T): (sql: string) => T {
  const kept = new Map<string, T>();
  return (sql) => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const found = find(sql);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(sql, found);
    return found;
  };
}

export const tokensOf: (sql: string) => readonly Token[] = remembering(readTokens);

/** What stands between parentheses becomes one node. */
export const treeOf: (sql: string) => readonly Node[] = remembering((sql) =>
  readTree(sql, tokensOf(sql)),
);

function readTokens(sql: string): Token[] {
  const tokens: Token[] = [];
  let binds = 0;
  let at = 0;
  while (at < sql.length) {
    const [kind, raw] = shapeAt(sql, at);
    if (kind === 'bind') tokens.push({ ...tokenOf(kind, raw, at), bind: binds++ });
    else if (kind !== 'space') tokens.push(tokenOf(kind, raw, at));
    at += raw.length;
  }
  while (tokens.at(-1)?.upper === ';') tokens.pop();
  return tokens;
}

function shapeAt(sql: string, at: number): readonly [TokenKind | 'space', string] {
  for (const [kind, shape] of SHAPES) {
    shape.lastIndex = at;
    const raw = shape.exec(sql)?.[0];
    if (raw !== undefined) return [kind, raw];
  }
  throw SnowflakeError.syntax(sql, at, sql[at]!);
}

function readTree(sql: string, tokens: readonly Token[]): Node[] {
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

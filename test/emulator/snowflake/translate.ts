/** Snowflake's expressions and queries as Postgres says them. */
import { SnowflakeError } from './errors.ts';
import { FUNCTIONS, gathered, listed, MAKES_VARIANT } from './functions.ts';
import { literal, nameOf } from './names.ts';
import { indexOfWord, isWords, type Node, partsOf, type Token, walk } from './tokens.ts';
import { isTypeName, typeAt } from './types.ts';
import { KEYWORDS } from './words.ts';

export interface Setting {
  /** The n-th `?` as a literal of Postgres. */
  bind(index: number): string;
  readonly database: string;
  /** CURRENT_ROLE() and its kin, by their names. */
  readonly context: Readonly<Record<string, string>>;
  lastChangeOf(table: string): string;
}

interface Primary {
  readonly text: string;
  /** Of what lies at a path of a VARIANT: its text, if it is no object and no array. */
  readonly scalar?: string;
  readonly isVariant: boolean;
  readonly next: number;
}

const NAMES_BEFORE_COLUMNS = new Set(['INTO', 'AS', 'WITH', 'JOIN', 'FROM', 'USING']);

export class Translator {
  readonly #setting: Setting;
  readonly #flattened = new Set<string>();

  constructor(setting: Setting, statement: readonly Node[]) {
    this.#setting = setting;
    for (const [items, index] of walk(statement)) this.#noteFlatten(items, index);
  }

  /** Aliases of FLATTEN, whose VALUE is a VARIANT. */
  #noteFlatten(items: readonly Node[], index: number): void {
    const isTable =
      isWords(items, index, 'TABLE') && items[index + 1]?.kind === 'group' && index > 0;
    const isLateral = isWords(items, index, 'LATERAL', 'FLATTEN');
    if (!isTable && !isLateral) return;
    const behind = index + 2 + (isLateral ? 1 : 0);
    const alias = items[behind]?.upper === 'AS' ? items[behind + 1] : items[behind];
    if (alias?.kind === 'word' && !KEYWORDS.has(alias.upper)) this.#flattened.add(alias.upper);
  }

  translate(items: readonly Node[]): string {
    const qualify = indexOfWord(items, 'QUALIFY');
    if (qualify >= 0) return this.#qualified(items, qualify);
    const out: string[] = [];
    let index = 0;
    while (index < items.length) {
      const item = items[index]!;
      if (item.kind === 'word' && (item.upper === 'LIKE' || item.upper === 'ILIKE')) {
        const [text, next] = this.#like(items, index);
        out.push(text);
        index = next;
      } else if (item.kind === 'op' || (item.kind === 'word' && this.#isKeyword(items, index))) {
        out.push(item.upper === 'MINUS' ? 'except' : item.text);
        index += 1;
      } else {
        const primary = this.#primary(items, index);
        out.push(primary.text);
        index = primary.next;
      }
    }
    return out.join(' ');
  }

  /** LEFT and RIGHT are also functions. */
  #isKeyword(items: readonly Node[], index: number): boolean {
    const word = items[index]!.upper;
    const isCall = (word === 'LEFT' || word === 'RIGHT') && items[index + 1]?.kind === 'group';
    return KEYWORDS.has(word) && !isCall;
  }

  /** Without ESCAPE, no character escapes. */
  #like(items: readonly Node[], index: number): [string, number] {
    let next = index + 1;
    while (next < items.length) {
      const { upper, kind } = items[next]!;
      if (upper === ',' || (kind === 'word' && KEYWORDS.has(upper))) break;
      next += 1;
    }
    const pattern = this.translate(items.slice(index + 1, next));
    const escaped = items[next]?.upper === 'ESCAPE' ? '' : " escape ''";
    return [`${items[index]!.upper.toLowerCase()} ${pattern}${escaped}`, next];
  }

  /** SELECT a, b FROM … QUALIFY c ORDER BY …: the condition becomes a column of a query within. */
  #qualified(items: readonly Node[], at: number): string {
    const tail = ['ORDER', 'LIMIT']
      .map((word) => indexOfWord(items, word, at))
      .filter((i) => i > 0);
    const end = Math.min(items.length, ...tail);
    const start = items.findLastIndex((one, i) => i < at && one.upper === 'SELECT');
    const from = indexOfWord(items, 'FROM', start);
    const names = partsOf(items.slice(start + 1, from)).map((part) => {
      const last = part.at(-1)!;
      if (last.kind === 'group' || last.upper === '*') {
        throw new Error('the emulator knows QUALIFY only over columns that have names');
      }
      return nameOf(last);
    });
    const inner = this.translate(items.slice(start + 1, from));
    const condition = this.translate(items.slice(at + 1, end));
    const source = this.translate(items.slice(from, at));
    return (
      `${this.translate(items.slice(0, start))} select ${names.join(', ')} from ` +
      `(select ${inner}, (${condition}) as snow_qualifies ${source}) as snow_within ` +
      `where snow_qualifies ${this.translate(items.slice(end))}`
    );
  }

  #primary(items: readonly Node[], index: number): Primary {
    let found = this.#operand(items, index);
    for (;;) {
      const mark = items[found.next]?.upper;
      if (mark === ':' || (mark === '[' && found.next > index)) found = this.#path(items, found);
      else if (mark === '::') found = this.#cast(items, found, found.next + 1);
      else return found;
    }
  }

  #operand(items: readonly Node[], index: number): Primary {
    const item = items[index]!;
    const done = (text: string, next = index + 1) => ({ text, isVariant: false, next });
    switch (item.kind) {
      case 'group':
        return done(`(${this.translate(item.items)})`);
      case 'string':
        return done(literal(item.text));
      case 'number':
        return done(item.text);
      case 'bind':
        return done(this.#setting.bind(item.bind!));
      case 'word':
      case 'quoted':
        return this.#name(items, index);
      default:
        throw SnowflakeError.invalid(`unexpected '${item.text}'`);
    }
  }

  /** A name with its qualifiers, or a call. */
  #name(items: readonly Node[], index: number): Primary {
    const first = items[index] as Token;
    const group = items[index + 1];
    const contextual = this.#contextual(items, index);
    if (contextual !== undefined) return contextual;
    if (group?.kind === 'group' && first.kind === 'word') {
      const call = this.#call(items, index, first, group.items);
      if (call !== undefined) return call;
    }
    const chain: Token[] = [first];
    let next = index + 1;
    while (items[next]?.upper === '.' && next + 1 < items.length) {
      const part = items[next + 1]!;
      if (part.kind === 'group') break;
      chain.push(part);
      next += 2;
    }
    return { ...this.#chained(chain), next };
  }

  #chained(given: readonly Token[]): Omit<Primary, 'next'> {
    let chain = given;
    if (chain.length > 2 && chain[0]!.text.toUpperCase() === this.#setting.database) {
      chain = chain.slice(1);
    }
    const last = chain.at(-1)!;
    if (chain.length > 1 && chain.at(-2)!.upper === 'INFORMATION_SCHEMA') {
      return { text: `snow.is_${last.text.toLowerCase()}`, isVariant: false };
    }
    const isVariant =
      last.upper === 'VALUE' &&
      this.#flattened.size > 0 &&
      (chain.length === 1 || this.#flattened.has(chain.at(-2)!.upper));
    const text = chain.map((one) => (one.text === '*' ? '*' : nameOf(one))).join('.');
    return { text, isVariant };
  }

  /** CURRENT_TIMESTAMP and its kin need no parentheses. */
  #contextual(items: readonly Node[], index: number): Primary | undefined {
    const { upper } = items[index]!;
    const next = index + (items[index + 1]?.kind === 'group' ? 2 : 1);
    const isQualified = items[index - 1]?.upper === '.' || items[index + 1]?.upper === '.';
    if (isQualified) return undefined;
    if (upper === 'CURRENT_TIMESTAMP') {
      return { text: 'snow.current_ts()', isVariant: false, next };
    }
    const known = this.#setting.context[upper];
    if (known === undefined) return undefined;
    return { text: `${literal(known)}::text`, isVariant: false, next };
  }

  #call(
    items: readonly Node[],
    index: number,
    name: Token,
    inside: readonly Node[],
  ): Primary | undefined {
    const next = index + 2;
    const done = (text: string, isVariant = false) => ({ text, isVariant, next });
    const before = items[index - 1]?.upper ?? '';
    if (name.upper === 'TABLE') return done(this.translate(inside));
    if (name.upper === 'FLATTEN') return done(this.#flatten(inside));
    if (name.upper === 'CAST' || name.upper === 'TRY_CAST') {
      const as = indexOfWord(inside, 'AS');
      const of = this.#primary(
        [{ ...name, kind: 'group', items: inside.slice(0, as), upper: '()' }],
        0,
      );
      return { ...this.#cast(inside, of, as + 1), next };
    }
    if (name.upper === 'EXTRACT') return done(this.#extract(inside));
    if (name.upper === 'SYSTEM$LAST_CHANGE_COMMIT_TIME') {
      const table = inside[0]?.kind === 'string' ? inside[0].text : '';
      return done(`(${this.#setting.lastChangeOf(table)})::numeric`);
    }
    if (name.upper === 'LISTAGG' || name.upper === 'ARRAY_AGG') {
      return this.#aggregate(items, index, name, inside);
    }
    const known = FUNCTIONS.get(name.upper);
    if (known !== undefined) {
      const parts = partsOf(inside);
      const text = known(
        parts.map((part) => this.translate(part)),
        parts,
      );
      return done(text, MAKES_VARIANT.has(name.upper));
    }
    const hasColumns = NAMES_BEFORE_COLUMNS.has(before) || items[next]?.upper === 'AS';
    if (hasColumns || isTypeName(name.upper) || before === '.') return undefined;
    const isAlias = /^[A-Z_]/.test(before) && !KEYWORDS.has(before);
    if (items[index - 1]?.kind === 'group' || isAlias) return undefined;
    throw SnowflakeError.unknownFunction(name.upper);
  }

  /** [INPUT =>] x [, PATH => 'p'] [, OUTER => TRUE] */
  #flatten(inside: readonly Node[]): string {
    const args = partsOf(inside).map((part) => {
      if (part[1]?.upper !== '=>') return this.translate(part);
      const name = (part[0] as Token).upper.toLowerCase();
      return `"${name}" => ${this.translate(part.slice(2))}`;
    });
    return `snow.flatten(${args.join(', ')})`;
  }

  #extract(inside: readonly Node[]): string {
    const from = indexOfWord(inside, 'FROM');
    const part = inside.slice(0, from);
    const of = this.translate(inside.slice(from + 1));
    return FUNCTIONS.get('DATE_PART')!(['', of], [part, []]);
  }

  /** LISTAGG(x, ',') and ARRAY_AGG(x), each with [WITHIN GROUP (ORDER BY y)]. */
  #aggregate(items: readonly Node[], index: number, name: Token, inside: readonly Node[]): Primary {
    const isDistinct = inside[0]?.upper === 'DISTINCT';
    const parts = partsOf(isDistinct ? inside.slice(1) : inside);
    const [of = '', mark] = parts.map((part) => this.translate(part));
    const within = isWords(items, index + 2, 'WITHIN', 'GROUP') ? items[index + 4] : undefined;
    const order = within?.kind === 'group' ? this.translate(within.items) : '';
    const next = index + (within === undefined ? 2 : 5);
    const isList = name.upper === 'LISTAGG';
    const text = isList
      ? listed({ of, mark, order, isDistinct })
      : gathered({ of, order, isDistinct });
    return { text, isVariant: !isList, next };
  }

  /** x:a.b[0]['c'] */
  #path(items: readonly Node[], of: Primary): Primary {
    const keys: string[] = [];
    let next = of.next;
    while (next < items.length) {
      const mark = items[next]!.upper;
      const isName = mark === ':' || (mark === '.' && keys.length > 0);
      const key = items[next + 1];
      if (!isName && mark !== '[') break;
      if (key === undefined || key.kind === 'group' || key.kind === 'op') break;
      keys.push(key.text);
      next += isName ? 2 : 3;
    }
    if (keys.length === 0) throw SnowflakeError.invalid("unexpected ':'");
    const path = keys.map((key) => `"${key.replaceAll(/["\\]/g, '\\$&')}"`).join(',');
    const at = literal(`{${path}}`);
    const scalar = `(${of.text} #>> ${at})`;
    return { text: `(${of.text} #> ${at})`, scalar, isVariant: true, next };
  }

  #cast(items: readonly Node[], of: Primary, at: number): Primary {
    const type = typeAt(items, at);
    const { next, isVariant } = type;
    if (isVariant) {
      const text = of.isVariant ? of.text : `to_jsonb(${of.text})`;
      return { text, isVariant, next };
    }
    if (of.scalar !== undefined && !type.isText) {
      return { text: `(${of.scalar})::${type.pg}`, isVariant, next };
    }
    const isLiteral = /^E?'|^null\b/.test(of.text);
    const isRead = of.isVariant || (type.isText && !isLiteral);
    const text = isRead ? `snow.to_varchar(${of.text})` : of.text;
    return { text: `(${text})::${type.pg}`, isVariant, next };
  }
}

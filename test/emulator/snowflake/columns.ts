/**
 * What stands between the parentheses of CREATE TABLE. A standard table loses its keys on the way,
 * because Snowflake does not enforce them there; an index that enforces nothing stands in, so that
 * tests stay fast.
 */
import { SnowflakeError } from './errors.ts';
import { nameOf } from './names.ts';
import { isWords, type Node, partsOf, type Token } from './tokens.ts';
import type { Translator } from './translate.ts';
import { typeAt } from './types.ts';

export type TableKind = 'hybrid' | 'standard';

export interface Body {
  readonly lines: string[];
  readonly indexes: string[];
  readonly keyColumns: string[];
}

export function columnsIn(part: readonly Node[]): string[] {
  const group = part.find((item) => item.kind === 'group');
  if (group?.kind !== 'group') return [];
  return partsOf(group.items).map(([column]) => nameOf(column as Token));
}

export function tableBody(
  inside: readonly Node[],
  kind: TableKind,
  place: string,
  translator: Translator,
): Body {
  const body: Body = { lines: [], indexes: [], keyColumns: [] };
  const enforces = kind === 'hybrid';
  for (const part of partsOf(inside)) {
    const clause = isWords(part, 0, 'CONSTRAINT') ? part.slice(2) : part;
    switch (clause[0]!.upper) {
      case 'PRIMARY':
        body.keyColumns.push(...columnsIn(clause));
        break;
      case 'UNIQUE':
        if (enforces) body.lines.push(`unique (${columnsIn(clause).join(', ')})`);
        break;
      case 'FOREIGN':
        if (enforces) body.lines.push(translator.translate(clause));
        break;
      case 'CHECK':
        if (!enforces) throw SnowflakeError.unsupported('CHECK constraint on a standard table');
        body.lines.push(translator.translate(clause));
        break;
      case 'INDEX':
        if (!enforces) throw SnowflakeError.unsupported('INDEX on a standard table');
        body.indexes.push(indexOf(place, nameOf(clause[1] as Token), columnsIn(clause)));
        break;
      default:
        body.lines.push(column(part, kind, body, translator));
    }
  }
  if (body.keyColumns.length > 0) {
    const columns = body.keyColumns.join(', ');
    if (enforces) body.lines.push(`primary key (${columns})`);
    else body.indexes.push(indexOf(place, 'unenforced_key', body.keyColumns));
  }
  return body;
}

/** Names of indexes are a table's in Snowflake, and a schema's in Postgres. */
export function indexOf(place: string, name: string, columns: readonly string[]): string {
  const own = `${place.split('.').at(-1)!}_${name}`.replaceAll('"', '').slice(0, 63);
  return `create index ${own} on ${place} (${columns.join(', ')})`;
}

/** name TYPE [NOT NULL] [DEFAULT x] [PRIMARY KEY] [UNIQUE] [CHECK (x)] [COMMENT 'x'] */
export function column(
  part: readonly Node[],
  kind: TableKind,
  body: Body,
  translator: Translator,
): string {
  const name = nameOf(part[0] as Token);
  const type = typeAt(part, 1);
  if (kind === 'hybrid' && type.pg === 'uuid')
    throw SnowflakeError.unsupported('UUID in a hybrid table');
  const words = [name, type.pg];
  let index = type.next;
  while (index < part.length) {
    const item = part[index]!;
    if (isWords(part, index, 'NOT', 'NULL')) {
      words.push('not null');
      index += 2;
    } else if (isWords(part, index, 'PRIMARY', 'KEY')) {
      body.keyColumns.push(name);
      index += 2;
    } else if (item.upper === 'UNIQUE') {
      if (kind === 'hybrid') words.push('unique');
      index += 1;
    } else if (item.upper === 'COMMENT') index += 2;
    else if (item.upper === 'CHECK') {
      if (kind !== 'hybrid')
        throw SnowflakeError.unsupported('CHECK constraint on a standard table');
      words.push(translator.translate(part.slice(index, index + 2)));
      index += 2;
    } else if (item.upper === 'DEFAULT') {
      const ends = part.findIndex(
        (one, i) => i > index && ['NOT', 'PRIMARY', 'UNIQUE', 'COMMENT'].includes(one.upper),
      );
      const end = ends < 0 ? part.length : ends;
      words.push(`default ${translator.translate(part.slice(index + 1, end))}`);
      index = end;
    } else if (item.upper === 'NULL') index += 1;
    else throw SnowflakeError.unsupported(`${item.upper} in a column`);
  }
  return words.join(' ');
}

/** Tables, views and indexes: what makes, alters and drops them. */
import { type Body, column, columnsIn, indexOf, type TableKind, tableBody } from './columns.ts';
import { SnowflakeError } from './errors.ts';
import { nameOf } from './names.ts';
import { indexOfWord, isWords, type Node, partsOf, type Token } from './tokens.ts';
import type { Translator } from './translate.ts';

export interface MadeTable {
  readonly place: string;
  readonly kind: TableKind;
  readonly keyColumns: readonly string[];
}

export interface Ddl {
  readonly statements: readonly string[];
  readonly says: string;
  readonly makes?: MadeTable;
  readonly drops?: string;
  /** A schema that is gone, with every table in it. */
  readonly dropsSchema?: string;
}

export interface DdlSetting {
  readonly translator: Translator;
  readonly hybridAllowed: boolean;
  /** `T` or `S.T` as schema.table of Postgres. */
  placeOf(name: readonly Node[]): string;
  kindOf(place: string): TableKind | undefined;
}

const PLAIN_SQL = new Set(['GRANT', 'REVOKE', 'COMMENT']);

export function ddlOf(items: readonly Node[], setting: DdlSetting): Ddl {
  const verb = items[0]!.upper;
  if (PLAIN_SQL.has(verb)) return { statements: [], says: 'Statement executed successfully.' };
  if (verb === 'CREATE') return create(items, setting);
  if (verb === 'DROP') return drop(items, setting);
  if (isWords(items, 0, 'ALTER', 'TABLE')) return alterTable(items, setting);
  if (isWords(items, 0, 'ALTER', 'WAREHOUSE'))
    return { statements: [], says: 'Statement executed.' };
  throw SnowflakeError.unsupported(`${verb} ${items[1]?.upper ?? ''}`);
}

interface Named {
  readonly name: readonly Node[];
  readonly ifThere: boolean;
  readonly next: number;
}

/** [IF [NOT] EXISTS] a.b.c from `index` on. */
function namedAt(items: readonly Node[], index: number): Named {
  let next = index;
  const ifThere = isWords(items, next, 'IF');
  if (ifThere) next += isWords(items, next, 'IF', 'NOT') ? 3 : 2;
  const name: Node[] = [];
  while (next < items.length) {
    name.push(items[next]!);
    next += 1;
    if (items[next]?.upper !== '.') break;
    next += 1;
  }
  return { name, ifThere, next };
}

const KINDS = ['TABLE', 'VIEW', 'INDEX', 'SCHEMA', 'DATABASE', 'WAREHOUSE'];

function create(items: readonly Node[], setting: DdlSetting): Ddl {
  const at = items.findIndex((item) => item.kind === 'word' && KINDS.includes(item.upper));
  if (at < 0) throw SnowflakeError.unsupported(`CREATE ${items[1]?.upper ?? ''}`);
  const replaces = isWords(items, 1, 'OR', 'REPLACE');
  const words = items.slice(1, at).map((item) => item.upper);
  switch (items[at]!.upper) {
    case 'TABLE':
      return createTable(items, at, { replaces, isHybrid: words.includes('HYBRID') }, setting);
    case 'VIEW':
      return createView(items, at, setting);
    case 'INDEX':
      return createIndex(items, at, setting);
    case 'SCHEMA': {
      const { name, ifThere } = namedAt(items, at + 1);
      const schema = nameOf(name.at(-1) as Token);
      const statement = `create schema ${ifThere ? 'if not exists ' : ''}${schema}`;
      return { statements: [statement], says: `Schema ${schema} successfully created.` };
    }
    default:
      return { statements: [], says: 'Statement executed successfully.' };
  }
}

function createTable(
  items: readonly Node[],
  at: number,
  { replaces, isHybrid }: { replaces: boolean; isHybrid: boolean },
  setting: DdlSetting,
): Ddl {
  const kind = isHybrid ? 'hybrid' : 'standard';
  if (isHybrid && !setting.hybridAllowed) {
    const text = 'Hybrid tables are not supported in this account or region.';
    throw new SnowflakeError('391404', '0A000', text);
  }
  const { name, ifThere, next } = namedAt(items, at + 1);
  const place = setting.placeOf(name);
  const before = replaces ? [`drop table if exists ${place} cascade`] : [];
  const says = `Table ${place.toUpperCase()} successfully created.`;
  const group = items[next];
  if (group?.kind !== 'group') {
    const query = setting.translator.translate(items.slice(indexOfWord(items, 'AS', next) + 1));
    const statement = `create table ${place} as ${query}`;
    return { statements: [...before, statement], says, makes: { place, kind, keyColumns: [] } };
  }
  const exists = setting.kindOf(place) !== undefined && !replaces;
  if (exists && ifThere)
    return { statements: [], says: `${place} already exists, statement succeeded.` };
  const body = tableBody(group.items, kind, place, setting.translator);
  if (isHybrid && body.keyColumns.length === 0) {
    throw SnowflakeError.invalid('A hybrid table must have a primary key.');
  }
  return {
    statements: [...before, `create table ${place} (${body.lines.join(', ')})`, ...body.indexes],
    says,
    makes: { place, kind, keyColumns: body.keyColumns },
  };
}

function createView(items: readonly Node[], at: number, setting: DdlSetting): Ddl {
  const { name, next, ifThere } = namedAt(items, at + 1);
  const place = setting.placeOf(name);
  const columns = items[next]?.kind === 'group' ? `(${columnsIn([items[next]!]).join(', ')})` : '';
  const query = setting.translator.translate(items.slice(indexOfWord(items, 'AS', next) + 1));
  const says = `View ${place.toUpperCase()} successfully created.`;
  const dropped = ifThere ? [] : [`drop view if exists ${place}`];
  const verb = ifThere ? 'create or replace view' : 'create view';
  return { statements: [...dropped, `${verb} ${place} ${columns} as ${query}`], says };
}

function createIndex(items: readonly Node[], at: number, setting: DdlSetting): Ddl {
  const { name, ifThere } = namedAt(items, at + 1);
  const on = indexOfWord(items, 'ON', at);
  const table = namedAt(items, on + 1);
  const place = setting.placeOf(table.name);
  if (setting.kindOf(place) !== 'hybrid') {
    throw SnowflakeError.unsupported('CREATE INDEX on a standard table');
  }
  const statement = indexOf(
    place,
    nameOf(name.at(-1) as Token),
    columnsIn(items.slice(table.next)),
  );
  const text = ifThere
    ? statement.replace('create index', 'create index if not exists')
    : statement;
  return { statements: [text], says: 'Statement executed successfully.' };
}

function drop(items: readonly Node[], setting: DdlSetting): Ddl {
  const what = items[1]!.upper;
  const { name, ifThere } = namedAt(items, 2);
  const exists = ifThere ? 'if exists ' : '';
  const says = `${name.map((part) => (part as Token).text.toUpperCase()).join('.')} successfully dropped.`;
  if (what === 'SCHEMA') {
    const schema = nameOf(name.at(-1) as Token);
    return { statements: [`drop schema ${exists}${schema} cascade`], says, dropsSchema: schema };
  }
  if (what === 'INDEX') {
    const table = setting.placeOf(name.slice(0, -1));
    const [schema, own] = table.split('.');
    return {
      statements: [`drop index ${exists}${schema}.${own}_${nameOf(name.at(-1) as Token)}`],
      says,
    };
  }
  if (what !== 'TABLE' && what !== 'VIEW') throw SnowflakeError.unsupported(`DROP ${what}`);
  const place = setting.placeOf(name);
  const statement = `drop ${what.toLowerCase()} ${exists}${place} cascade`;
  return { statements: [statement], says, drops: place };
}

function alterTable(items: readonly Node[], setting: DdlSetting): Ddl {
  const { name, next } = namedAt(items, 2);
  const place = setting.placeOf(name);
  const says = 'Statement executed successfully.';
  const kind = setting.kindOf(place) ?? 'standard';
  const rest = items.slice(next);
  const verb = rest[0]!.upper;
  if (verb === 'SET' || verb === 'UNSET' || verb === 'CLUSTER') return { statements: [], says };
  if (verb === 'ADD') {
    const ifThere = indexOfWord(rest, 'EXISTS') > 0 ? 'if not exists ' : '';
    const start = rest.findIndex(
      (item, i) => i > 0 && !['COLUMN', 'IF', 'NOT', 'EXISTS'].includes(item.upper),
    );
    const body: Body = { lines: [], indexes: [], keyColumns: [] };
    const added = partsOf(rest.slice(start)).map(
      (part) => `add column ${ifThere}${column(part, kind, body, setting.translator)}`,
    );
    return { statements: [`alter table ${place} ${added.join(', ')}`], says };
  }
  if (verb === 'DROP' && rest[1]?.upper === 'COLUMN') {
    return { statements: [`alter table ${place} ${setting.translator.translate(rest)}`], says };
  }
  throw SnowflakeError.unsupported(`ALTER TABLE ${verb}`);
}

/**
 * Statements made of the lists of columns. Every text is made once and is always the same, so that the
 * account may keep its plan; what changes is bound, and a batch is one bind: a JSON array. There is no
 * RETURNING: the number of rows tells whether all were written, and `rev` tells which.
 */
import { assert } from '../../ground/index.ts';
import type { Column, Table } from './columns.ts';

/** Marks a statement, for editors and for people. */
export const sql = String.raw;

/** The account's clock; the session's zone has no part in it. */
export const NOW = 'date_part(epoch_millisecond, sysdate())';

const TYPES = {
  text: 'varchar',
  count: 'number(19,0)',
  fact: 'boolean',
  list: 'varchar',
} as const satisfies Record<Column['kind'], string>;

/** One array bind, as rows. */
export const FLATTENED = 'table(flatten(input => parse_json(?))) f';
/** The texts of one array bind, for `in (…)`. */
export const BOUND_TEXTS = `select f.value::varchar from ${FLATTENED}`;

function names(columns: readonly Column[], prefix = ''): string {
  return columns.map(({ name }) => `${prefix}${name}`).join(', ');
}

function bound(columns: readonly Column[]): string {
  return columns.map(({ name, kind }) => `f.value:${name}::${TYPES[kind]} as ${name}`).join(', ');
}

/** The rows of the bind, with the `rev` they get and the one they must have had. */
function source(columns: readonly Column[]): string {
  return `(select ${bound(columns)}, f.value:rev::varchar as rev, f.value:was::varchar as was
    from ${FLATTENED}) s`;
}

function matching({ name, key }: Table): string {
  return key.map((column) => `${name}.${column.name} = s.${column.name}`).join(' and ');
}

function light({ columns, heavy }: Table): readonly Column[] {
  return columns.filter(({ name }) => !heavy.includes(name));
}

/** `t`, each row with the account's clock. */
export function selectFrom(table: Table, options: { readonly isLight?: boolean } = {}): string {
  const columns = options.isLight ? light(table) : table.columns;
  return `select ${names(columns, 't.')}, t.rev, ${NOW} as now_ms from ${table.name} t`;
}

/** The same with a row in any case: the clock is told where nothing is found, too. */
export function selectOrNow(table: Table, condition: string): string {
  return `select n.now_ms, ${names(table.columns, 't.')}, t.rev
    from (select ${NOW} as now_ms) n left join ${table.name} t on ${condition}`;
}

export const selectNow = sql`select ${NOW} as now_ms`;

/** Fails where a key is there already; where keys are not enforced it is `insertMissing` that sees it. */
export function insertInto(table: Table): string {
  return `insert into ${table.name} (${names(table.columns)}, rev)
    select ${bound(table.columns)}, f.value:rev::varchar as rev from ${FLATTENED}`;
}

/** Puts in what is not there. `twin` is what else makes two rows one, besides their keys. */
export function insertMissing(table: Table, twin = ''): string {
  return `merge into ${table.name} using ${source(table.columns)} on (${matching(table)})${twin}
    when not matched then insert (${names(table.columns)}, rev)
      values (${names(table.columns, 's.')}, s.rev)`;
}

/** Compare and set: rows that somebody has written since are left alone. `fence` is one more condition. */
export function updateSeen(
  table: Table,
  options: { readonly isLight?: boolean; readonly fence?: string } = {},
): string {
  const columns = options.isLight ? light(table) : table.columns;
  const keys = table.key.map(({ name }) => name);
  const set = columns.filter(({ name }) => !keys.includes(name));
  return `update ${table.name} set ${set.map(({ name }) => `${name} = s.${name}`).join(', ')}, rev = s.rev
    from ${source(columns)}
    where ${matching(table)} and ${table.name}.rev = s.was${options.fence ?? ''}`;
}

export function deleteSeen(table: Table): string {
  return `delete from ${table.name} using ${source(table.key)}
    where ${matching(table)} and ${table.name}.rev = s.was`;
}

/** ? rev: the keys of what a statement wrote and nobody has written since. */
export function selectWritten({ name, key }: Table): string {
  return `select ${names(key)} from ${name} where rev = ?`;
}

/**
 * Writes a row as it is, or the few that share a key's first part: no promise rests on what it sets, so
 * that it harms nobody even where an account would write what it saw before it waited.
 */
export function touchOf({ name, key }: Table): string {
  const column = key.at(key.length === 2 ? 1 : 0)!.name;
  return `update ${name} set ${column} = ${column}
    where ${column} = (select min(${column}) from ${name})`;
}

/** Sizes of lists of binds: few texts, each list padded by its last. */
const LADDER = [1, 4, 16, 64, 256, 1_024] as const;

export const LIST_MAX = 1_024;

export function rungOf(count: number): number {
  const rung = LADDER.find((one) => one >= count);
  assert(rung !== undefined, `a list of ${count} is cut before it comes here`);
  return rung;
}

/** Numbers of rows that a text may end with: no more are read at once. */
const LIMITS = [...LADDER, 4_096, 16_384, 65_536] as const;

export function limitOf(count: number): number {
  return LIMITS.find((one) => one >= count) ?? LIMITS.at(-1)!;
}

/** `?, ?, ?, ?` for a list of that many. */
export function marks(rung: number): string {
  return Array.from({ length: rung }, () => '?').join(', ');
}

export function padded(values: readonly string[]): string[] {
  const rung = rungOf(values.length);
  return [...values, ...Array<string>(rung - values.length).fill(values.at(-1)!)];
}

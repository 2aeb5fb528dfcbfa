/** What the driver binds, as literals of Postgres; and what Postgres answers, as the driver reads it. */
import type { FieldDef, QueryResult } from 'pg';
import { SnowflakeError } from './errors.ts';
import { literal, swapCase } from './names.ts';

export interface Binding {
  readonly type: string;
  readonly value: string | null | readonly (string | null)[];
}

export type Bindings = Readonly<Record<string, Binding>>;

/** Postgres keeps no NUL in a text; Snowflake does. */
const NUL = '\u0000';
const NUL_KEPT = '\uE000';

function literalOf(type: string, value: string | null): string {
  if (value === null) return 'null';
  switch (type) {
    case 'FIXED':
      return `(${literal(value)})::numeric`;
    case 'REAL':
      return `(${literal(value)})::float8`;
    case 'BOOLEAN':
      return value === 'true' || value === '1' ? 'true' : 'false';
    case 'VARIANT':
      return `snow.parse_json(${literal(value)})`;
    default:
      return literal(value.replaceAll(NUL, NUL_KEPT));
  }
}

/** One answerer of binds per row: arrays of binds run a statement once for each of their rows. */
export function bindRows(bindings: Bindings, wanted: number): ((index: number) => string)[] {
  const given = Object.keys(bindings).length;
  if (given < wanted)
    throw SnowflakeError.invalid(`Bind variable ? not set: ${given} of ${wanted}.`);
  const arrays = Object.values(bindings).filter(({ value }) => Array.isArray(value));
  const count = arrays.length === 0 ? 1 : arrays[0]!.value!.length;
  return Array.from({ length: count }, (_, row) => (index: number) => {
    const { type, value } = bindings[String(index + 1)]!;
    return literalOf(type, Array.isArray(value) ? value[row]! : (value as string | null));
  });
}

export interface ColumnType {
  readonly name: string;
  readonly type: string;
  readonly scale: number | null;
  readonly precision: number | null;
  readonly length: number | null;
  readonly byteLength: number | null;
  readonly nullable: boolean;
}

export interface Rows {
  readonly rowtype: readonly ColumnType[];
  readonly rowset: readonly (readonly (string | null)[])[];
}

/** By the type numbers of Postgres. */
const TYPES: Readonly<Record<number, string>> = {
  ...{
    16: 'boolean',
    17: 'binary',
    20: 'fixed',
    21: 'fixed',
    23: 'fixed',
    700: 'real',
    701: 'real',
  },
  ...{ 1700: 'fixed', 1082: 'date', 1114: 'timestamp_ntz', 1184: 'timestamp_tz', 3802: 'variant' },
};

const DAY_MS = 86_400_000;

function wireOf(type: string, value: string | null): string | null {
  if (value === null) return null;
  switch (type) {
    case 'boolean':
      return value === 't' ? 'true' : 'false';
    case 'date':
      return String(Date.parse(`${value}T00:00:00Z`) / DAY_MS);
    case 'timestamp_ntz':
      return secondsOf(value);
    case 'timestamp_tz':
      return `${secondsOf(value.replace(/[+-]\d\d(:\d\d)?$/, ''))} 1440`;
    default:
      return value.replaceAll(NUL_KEPT, NUL);
  }
}

/** The session of Postgres is in UTC. */
function secondsOf(text: string): string {
  const [whole, fraction = ''] = text.split('.');
  const seconds = Date.parse(`${whole!.replace(' ', 'T')}Z`) / 1000;
  return `${seconds}.${fraction.padEnd(9, '0')}`;
}

export function columnOf(name: string, type: string, scale = 0): ColumnType {
  const isText = type === 'text' || type === 'variant';
  return {
    ...{ name, type, nullable: true },
    scale: type === 'fixed' ? scale : type.startsWith('timestamp') ? 9 : null,
    precision: type === 'fixed' ? 38 : null,
    length: isText ? 16_777_216 : null,
    byteLength: isText ? 16_777_216 : null,
  };
}

function scaleOf(rows: readonly (string | null)[][], index: number): number {
  return Math.max(0, ...rows.map((row) => row[index]?.split('.')[1]?.length ?? 0));
}

export function rowsOf(result: QueryResult): Rows {
  const raw = result.rows as (string | null)[][];
  const kinds = result.fields.map(({ dataTypeID }: FieldDef) => TYPES[dataTypeID] ?? 'text');
  return {
    rowtype: result.fields.map(({ name }, index) =>
      columnOf(swapCase(name), kinds[index]!, kinds[index] === 'fixed' ? scaleOf(raw, index) : 0),
    ),
    rowset: raw.map((row) => row.map((value, index) => wireOf(kinds[index]!, value))),
  };
}

/** What a statement that changes rows says: one row of counts. */
export function countsOf(counts: Readonly<Record<string, number>>): Rows {
  return {
    rowtype: Object.keys(counts).map((name) => columnOf(name, 'fixed')),
    rowset: [Object.values(counts).map(String)],
  };
}

export function saysOf(text: string, name = 'status'): Rows {
  return { rowtype: [columnOf(name, 'text')], rowset: [[text]] };
}

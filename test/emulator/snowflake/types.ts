/** Snowflake's types as Postgres's, in columns and in casts. */
import { SnowflakeError } from './errors.ts';
import type { Node } from './tokens.ts';

const PLAIN: Readonly<Record<string, string>> = {
  ...{ INT: 'numeric(38,0)', INTEGER: 'numeric(38,0)', BIGINT: 'numeric(38,0)' },
  ...{ SMALLINT: 'numeric(38,0)', TINYINT: 'numeric(38,0)', BYTEINT: 'numeric(38,0)' },
  ...{ FLOAT: 'float8', FLOAT4: 'float8', FLOAT8: 'float8', DOUBLE: 'float8', REAL: 'float8' },
  ...{ BOOLEAN: 'boolean', DATE: 'date', BINARY: 'bytea', VARBINARY: 'bytea' },
  ...{ VARIANT: 'jsonb', OBJECT: 'jsonb', ARRAY: 'jsonb' },
  ...{ TIMESTAMP: 'timestamp', TIMESTAMP_NTZ: 'timestamp', DATETIME: 'timestamp', TIME: 'time' },
  ...{ TIMESTAMP_TZ: 'timestamptz', TIMESTAMP_LTZ: 'timestamptz' },
};

const NUMBERS = new Set(['NUMBER', 'NUMERIC', 'DECIMAL', 'DEC']);
const TEXTS = new Set(['VARCHAR', 'STRING', 'TEXT', 'CHAR', 'CHARACTER', 'NVARCHAR']);

export interface TypeFound {
  readonly pg: string;
  readonly isText: boolean;
  readonly isVariant: boolean;
  /** The first node behind it. */
  readonly next: number;
}

export function isTypeName(word: string): boolean {
  return NUMBERS.has(word) || TEXTS.has(word) || Object.hasOwn(PLAIN, word);
}

/** The type that begins at `index`, with what it has in parentheses. */
export function typeAt(items: readonly Node[], index: number): TypeFound {
  const name = items[index];
  const group = items[index + 1];
  const sizes = group?.kind === 'group' ? group.items : undefined;
  const next = index + (sizes === undefined ? 1 : 2);
  const inside = (sizes ?? []).map((one) => (one.kind === 'group' ? '' : one.text)).join('');
  const isText = TEXTS.has(name?.upper ?? '');
  const found = { isText, isVariant: false, next };
  if (name === undefined || name.kind !== 'word') throw SnowflakeError.invalid('a type is wanted');
  if (isText) return { ...found, pg: sizes === undefined ? 'text' : `varchar(${inside})` };
  if (NUMBERS.has(name.upper)) {
    const size = inside === '' ? '38,0' : inside;
    return { ...found, pg: `numeric(${size.includes(',') ? size : `${size},0`})` };
  }
  const pg = PLAIN[name.upper];
  if (pg === undefined) {
    throw SnowflakeError.invalid(`Unsupported data type '${name.upper}'.`);
  }
  const isDouble = name.upper === 'DOUBLE' && items[index + 1]?.upper === 'PRECISION';
  return { ...found, pg, isVariant: pg === 'jsonb', next: isDouble ? index + 2 : next };
}

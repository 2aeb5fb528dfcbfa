/**
 * The functions of Snowflake that the emulator knows, each as Postgres would say it. Whatever is not
 * here is refused: a store that calls a function of Postgres by mistake hears of it.
 */
import { SnowflakeError } from './errors.ts';
import type { Node } from './tokens.ts';

/** `args` are translated already; `raw` is what was written. */
export type Call = (args: readonly string[], raw: readonly (readonly Node[])[]) => string;

const as =
  (name: string): Call =>
  (args) =>
    `${name}(${args.join(', ')})`;

/** Many functions have one name on both sides, and mean the same. */
const SAME =
  `count sum min max avg coalesce nullif abs ceil floor round trunc mod sqrt exp ln upper lower
  length concat concat_ws trim ltrim rtrim replace reverse split_part md5 row_number rank dense_rank lag
  lead first_value last_value ntile any_value translate ascii chr sign stddev initcap octet_length
  percentile_cont`
    .split(/\s+/)
    .map((name) => [name.toUpperCase(), as(name)] as const);

/** And some are made in the schema `snow`, by functions.sql.ts. */
const OWN =
  `parse_json try_parse_json to_varchar sysdate object_keys array_size typeof get substr left right
  lpad rpad repeat power greatest least array_contains to_number try_to_number array_cat array_append
  array_to_string split to_timestamp_ntz to_variant to_json object_delete to_boolean array_distinct`
    .split(/\s+/)
    .map((name) => [name.toUpperCase(), as(`snow.${name}`)] as const);

const UNITS: Readonly<Record<string, readonly [interval: string, perSecond: number]>> = {
  MICROSECOND: ['microsecond', 1_000_000],
  MILLISECOND: ['millisecond', 1000],
  MS: ['millisecond', 1000],
  SECOND: ['second', 1],
  MINUTE: ['minute', 1 / 60],
  HOUR: ['hour', 1 / 3600],
  DAY: ['day', 1 / 86_400],
};

const EPOCHS: Readonly<Record<string, number>> = {
  ...{ EPOCH: 1, EPOCH_SECOND: 1, EPOCH_MILLISECOND: 1000, EPOCH_MICROSECOND: 1_000_000 },
  EPOCH_NANOSECOND: 1_000_000_000,
};

function wordOf(part: readonly Node[] | undefined): string {
  const node = part?.[0];
  return node === undefined || node.kind === 'group' ? '' : node.text.toUpperCase();
}

function unitOf(part: readonly Node[] | undefined): readonly [string, number] {
  const unit = UNITS[wordOf(part).replace(/S$/, '')] ?? UNITS[wordOf(part)];
  if (unit === undefined) throw SnowflakeError.invalid(`${wordOf(part)} is not a date part`);
  return unit;
}

const datePart: Call = (args, raw) => {
  const part = wordOf(raw[0]);
  const factor = EPOCHS[part];
  if (factor === undefined) return `extract(${part.toLowerCase()} from ${args[1]})`;
  return `floor(extract(epoch from ${args[1]}) * ${factor})`;
};

const dateAdd: Call = (args, raw) =>
  `(${args[2]} + (${args[1]})::float8 * interval '1 ${unitOf(raw[0])[0]}')`;

const dateDiff: Call = (args, raw) => {
  const perSecond = unitOf(raw[0])[1];
  const ticks = (at: string) => `floor(extract(epoch from ${at}) * ${perSecond})`;
  return `(${ticks(args[2]!)} - ${ticks(args[1]!)})`;
};

/** DECODE(of, a, b, c, d, otherwise): nulls are alike. */
const decode: Call = ([of, ...rest]) => {
  const arms: string[] = [];
  while (rest.length > 1) {
    arms.push(`when (${of}) is not distinct from (${rest.shift()}) then ${rest.shift()}`);
  }
  return `(case ${arms.join(' ')} else ${rest[0] ?? 'null'} end)`;
};

const SPECIAL: Readonly<Record<string, Call>> = {
  DATE_PART: datePart,
  DATEADD: dateAdd,
  TIMESTAMPADD: dateAdd,
  DATEDIFF: dateDiff,
  TIMESTAMPDIFF: dateDiff,
  DATE_TRUNC: (args, raw) => `date_trunc('${wordOf(raw[0]).toLowerCase()}', ${args[1]})`,
  DECODE: decode,
  IFF: ([when, then, otherwise]) => `(case when ${when} then ${then} else ${otherwise} end)`,
  NVL: as('coalesce'),
  IFNULL: as('coalesce'),
  NVL2: ([of, then, otherwise]) =>
    `(case when ${of} is not null then ${then} else ${otherwise} end)`,
  ZEROIFNULL: ([of]) => `coalesce(${of}, 0)`,
  NULLIFZERO: ([of]) => `nullif(${of}, 0)`,
  EQUAL_NULL: ([one, other]) => `((${one}) is not distinct from (${other}))`,
  GREATEST_IGNORE_NULLS: as('greatest'),
  LEAST_IGNORE_NULLS: as('least'),
  COUNT_IF: ([of]) => `count(*) filter (where ${of})`,
  BOOLAND_AGG: as('bool_and'),
  BOOLOR_AGG: as('bool_or'),
  LEN: as('length'),
  CEILING: as('ceil'),
  SUBSTRING: as('snow.substr'),
  TO_CHAR: as('snow.to_varchar'),
  TO_DECIMAL: as('snow.to_number'),
  TO_TIMESTAMP: as('snow.to_timestamp_ntz'),
  GET_PATH: ([of, path]) => `snow.get_path(${of}, ${path})`,
  POSITION: ([part, whole]) => `strpos(${whole}, ${part})`,
  CHARINDEX: ([part, whole]) => `strpos(${whole}, ${part})`,
  CONTAINS: ([whole, part]) => `(strpos(${whole}, ${part}) > 0)`,
  STARTSWITH: as('starts_with'),
  ENDSWITH: ([whole, part]) => `(right(${whole}, length(${part})) = ${part})`,
  REGEXP_LIKE: ([whole, pattern]) => `(${whole} ~ ('^(?:' || ${pattern} || ')$'))`,
  SHA2: ([of]) => `encode(sha256(convert_to(${of}, 'UTF8')), 'hex')`,
  HASH: (args) => `snow.hash(${args.map((arg) => `(${arg})::text`).join(" || '|' || ")})`,
  UUID_STRING: () => 'gen_random_uuid()::text',
  RANDOM: () => '(random() * 1e18)::numeric(19,0)',
  OBJECT_CONSTRUCT: (args) => `snow.drop_nulls(jsonb_build_object(${args.join(', ')}))`,
  OBJECT_CONSTRUCT_KEEP_NULL: as('jsonb_build_object'),
  OBJECT_INSERT: ([of, key, value]) => `(${of} || jsonb_build_object(${key}, ${value}))`,
  ARRAY_CONSTRUCT: as('jsonb_build_array'),
  IS_NULL_VALUE: ([of]) => `(${of} = 'null'::jsonb)`,
  OBJECT_AGG: ([key, value]) => `coalesce(jsonb_object_agg(${key}, ${value}), '{}'::jsonb)`,
  MAX_BY: ([of, by]) => `(array_agg(${of} order by ${by} desc))[1]`,
  MIN_BY: ([of, by]) => `(array_agg(${of} order by ${by}))[1]`,
  BITAND: ([one, other]) => `((${one})::bigint & (${other})::bigint)`,
};

export const FUNCTIONS: ReadonlyMap<string, Call> = new Map([
  ...SAME,
  ...OWN,
  ...Object.entries(SPECIAL),
]);

/** Those whose answer is a VARIANT. */
export const MAKES_VARIANT = new Set([
  ...['PARSE_JSON', 'TRY_PARSE_JSON', 'GET', 'GET_PATH', 'TO_VARIANT', 'OBJECT_CONSTRUCT'],
  ...['OBJECT_CONSTRUCT_KEEP_NULL', 'ARRAY_CONSTRUCT', 'ARRAY_AGG', 'OBJECT_AGG', 'OBJECT_KEYS'],
]);

interface Aggregate {
  readonly of: string;
  readonly order: string;
  readonly isDistinct: boolean;
}

/** LISTAGG: of nothing it makes an empty text. */
export function listed({ of, mark, order, isDistinct }: Aggregate & { mark?: string | undefined }) {
  const given = `${isDistinct ? 'distinct ' : ''}(${of})::text, ${mark ?? "''"} ${order}`;
  return `coalesce(string_agg(${given}), '')`;
}

/** ARRAY_AGG: it leaves nulls out, and of nothing it makes an empty array. */
export function gathered({ of, order, isDistinct }: Aggregate): string {
  const given = `${isDistinct ? 'distinct ' : ''}${of} ${order}`;
  return `coalesce(jsonb_agg(${given}) filter (where (${of}) is not null), '[]'::jsonb)`;
}

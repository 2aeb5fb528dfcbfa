/**
 * The tables as lists of columns: what each is called, and which property of a record it holds. The
 * statements, and the way a row goes in and out, are made of these lists, so that no column can be
 * forgotten in one of them. Times are milliseconds since the epoch, by the account's clock; `rev` names
 * the statement that wrote the row last, and whoever writes next must have seen it.
 */
import { assert } from '../../ground/index.ts';

/** What a column holds; `list` is JSON text of an array. */
type Kind = 'text' | 'count' | 'fact' | 'list';

export interface Column {
  readonly name: string;
  readonly property: string;
  readonly kind: Kind;
}

export interface Table {
  readonly name: string;
  readonly key: readonly Column[];
  /** All of them, without `rev`. */
  readonly columns: readonly Column[];
  /** Left alone by statements that need not touch them: they are large. */
  readonly heavy: readonly string[];
}

function tableOf(
  name: string,
  key: readonly string[],
  kinds: Readonly<Record<Kind, string>>,
  heavy: readonly string[] = [],
): Table {
  const columns = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
    kinds[kind]
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => columnOf(word, kind)),
  );
  return { name, key: key.map((word) => found(columns, word)), columns, heavy };
}

/** `task_key:key`: a column whose property has another name; otherwise it is the same in camel case. */
function columnOf(word: string, kind: Kind): Column {
  const [name = '', property] = word.split(':');
  const camel = name.replaceAll(/_[a-z]/g, (text) => text.slice(1).toUpperCase());
  return { name, property: property ?? camel, kind };
}

function found(columns: readonly Column[], name: string): Column {
  const column = columns.find((one) => one.name === name);
  assert(column !== undefined, `there is no column ${name}`);
  return column;
}

export const STEP_TRACKER = tableOf(
  'step_tracker',
  ['task_id'],
  {
    text: `task_id machine queue status wait_for payload pinned_to parent_id trace_parent claimed_by
      claim_token interrupted control control_reason serial_key task_key:key outcome result error
      last_hash`,
    count: `version priority retries_max key_ms created_at begun_at recorded_at generation run_at
      claim_epoch acts claimed_at retry_count crashes cut_epoch claims key_until key_generation
      carry_from deadline_at put_off_ms last_seq last_update finished_at discarded_at`,
    fact: 'paused serial_held',
    list: '',
  },
  ['payload'],
);

export const POD_HEALTH = tableOf('pod_health', ['pod_id'], {
  text: 'pod_id name journal_id beat_nonce status desired report dead_by',
  count: `boot birth_timestamp silence_ms last_heartbeat beat_seq journal_lsn dead_at`,
  fact: '',
  list: 'routes',
});

export const RUN_EVENTS = tableOf(
  'run_events',
  ['task_id', 'generation', 'epoch', 'first_seq'],
  {
    text: 'task_id:task prev_hash last_hash state events',
    count: 'generation epoch first_seq last_seq',
    fact: '',
    list: '',
  },
  ['events'],
);

export const AUDIT_LOG = tableOf('audit_log', ['request_id'], {
  text: 'request_id:id who what task_id detail',
  count: 'noted_at:at',
  fact: '',
  list: '',
});

/**
 * Whatever there is little of, as JSON texts: routes, leaders, queues, APIs, schedules, bulk operations.
 * In one table, so that one statement reads several kinds: here it is statements that cost.
 */
export const FLEET_FACT = tableOf('fleet_fact', ['kind', 'fact_id'], {
  text: 'kind fact_id:id body',
  count: '',
  fact: '',
  list: '',
});

export const TABLES = [STEP_TRACKER, POD_HEALTH, RUN_EVENTS, AUDIT_LOG, FLEET_FACT] as const;

export type Cells = Readonly<Record<string, unknown>>;

/** A record as the JSON bind of a statement carries it. */
export function cellsOf(table: Table, record: object): Record<string, unknown> {
  return Object.fromEntries(
    table.columns.map(({ name, property, kind }) => {
      const value = (record as Cells)[property];
      return [name, kind === 'list' ? JSON.stringify(value) : (value ?? null)];
    }),
  );
}

/** A row of an answer as the record it was written from; columns that were not asked for are missing. */
export function recordOf<Row>(table: Table, cells: Cells): Row {
  const entries = table.columns.map(({ name, property, kind }) => {
    const value = cells[name] ?? undefined;
    return [property, value === undefined ? undefined : readCell(kind, value)] as const;
  });
  return Object.fromEntries(entries) as Row;
}

function readCell(kind: Kind, value: unknown): unknown {
  switch (kind) {
    case 'count':
      return Number(value);
    case 'fact':
      return value === true || value === 'true' || value === 1;
    case 'list':
      return JSON.parse(String(value));
    default:
      return String(value);
  }
}

export function keyOf(table: Table, record: object): string {
  return JSON.stringify(table.key.map(({ property }) => (record as Cells)[property]));
}

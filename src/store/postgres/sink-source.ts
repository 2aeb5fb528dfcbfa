/** What a sink reads of a Postgres, on connections of its own. */
import { StoreOptionsError } from '../errors.ts';
import type { FilledStoreOptions } from '../options.ts';
import type {
  Archived,
  Cells,
  KnownSink,
  Look,
  Page,
  PageLimits,
  Round,
  SinkName,
  SinkSource,
} from '../sink/sink.ts';
import * as statements from './archive-sink.sql.ts';
import { refuseUnmigrated } from './migrate.ts';
import { readPostgresWay } from './options.ts';
import { Pool, type Row } from './pool.ts';

/** A table with much in it takes its time to be indexed. */
const INDEX_MS = 1_800_000;
const PAGE_MS = 60_000;

const FIRST_KEY = {
  run_events: ['', 0, 0, -1],
  step_tracker: [''],
} as const satisfies Record<Archived, readonly (string | number)[]>;

export async function openPostgresSource(
  address: string,
  options: FilledStoreOptions,
): Promise<SinkSource> {
  const source = new PostgresSource(address, { ...options, deadlineMs: PAGE_MS, poolSize: 2 });
  try {
    await source.refuseUnmigrated();
    return source;
  } catch (error) {
    await source.close();
    throw error;
  }
}

class PostgresSource implements SinkSource {
  readonly kind = 'postgres';
  readonly #address: string;
  readonly #options: FilledStoreOptions;
  readonly #pool: Pool;

  constructor(address: string, options: FilledStoreOptions) {
    this.#address = address;
    this.#options = options;
    this.#pool = this.#open(PAGE_MS);
  }

  #open(deadlineMs: number): Pool {
    const { clock, random } = this.#options;
    return new Pool(
      readPostgresWay(this.#address, { ...this.#options, deadlineMs }),
      clock,
      random,
    );
  }

  refuseUnmigrated(): Promise<void> {
    return refuseUnmigrated(this.#pool);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async prepare(isToMake: boolean): Promise<boolean> {
    if (await this.#hasIndexes()) return true;
    if (!isToMake) return false;
    const patient = this.#open(INDEX_MS);
    try {
      for (const text of statements.CREATE_INDEXES) await patient.query(text);
    } finally {
      await patient.close();
    }
    return this.#hasIndexes();
  }

  async #hasIndexes(): Promise<boolean> {
    const [row] = await this.#pool.query(statements.selectHasIndexes);
    return row?.['has'] === true;
  }

  async look(): Promise<Look> {
    const [row] = await this.#pool.query(statements.selectLook);
    if (!row || row['is_blind']) {
      throw new StoreOptionsError(
        `the role ${String(row?.['role'])} may not see when transactions of others began, ` +
          'so a sink could miss what they commit late',
        { hint: `grant pg_read_all_stats to ${String(row?.['role'])}` },
      );
    }
    return {
      nowMs: Number(row['now_ms']),
      since: String(row['since']),
      upper: { run_events: textOf(row['run_events']), step_tracker: textOf(row['step_tracker']) },
      writer: String(row['writer']),
      timeline: String(row['timeline']),
    };
  }

  async page({ table, from, to, after }: Round, { countMax, bytesMax }: PageLimits): Promise<Page> {
    const first = FIRST_KEY[table];
    const isAll = from === null;
    if (!isAll && to.upper[table] === null) return { rows: [], after, isLast: true };
    const cursor = after ?? (isAll ? first : [from.since, ...first]);
    const text = isAll ? statements.PAGE_OF_ALL[table] : statements.PAGE_OF_CHANGED[table];
    const bounds = isAll ? [] : [to.upper[table], from.writer];
    const found = await this.#pool.query(text, [countMax, bytesMax, ...bounds, ...cursor]);
    const last = found.at(-1);
    const count = Number(last?.['page_found'] ?? 0);
    return {
      rows: found.map(cellsOf),
      after: last ? placeOf(table, last, isAll) : after,
      isLast: count < countMax && found.length === count,
    };
  }

  async hold(
    { name, target, holder }: SinkName,
    leaseMs: number,
    isForced = false,
  ): Promise<boolean> {
    const values = [name, target, holder, leaseMs, isForced];
    return (await this.#pool.query(statements.holdSink, values)).length > 0;
  }

  async confirm({ name, holder }: SinkName, { since }: Look): Promise<void> {
    await this.#pool.query(statements.confirmSent, [name, holder, since]);
  }

  async free({ name, holder }: SinkName): Promise<void> {
    await this.#pool.query(statements.freeSink, [name, holder]);
  }

  async forget(name: string): Promise<boolean> {
    return (await this.#pool.query(statements.deleteSink, [name])).length > 0;
  }

  async sinks(): Promise<KnownSink[]> {
    const rows = await this.#pool.query(statements.selectSinks);
    return rows.map((row) => ({
      name: String(row['name']),
      target: String(row['target']),
      holder: textOf(row['holder']),
      isHeld: row['is_held'] === true,
      behindMs: row['behind_ms'] === null ? null : Number(row['behind_ms']),
    }));
  }
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function placeOf(table: Archived, row: Row, isAll: boolean): (string | number)[] {
  const key =
    table === 'step_tracker'
      ? [row['task_id']]
      : [row['task_id'], row['generation'], row['epoch'], row['first_seq']];
  return (isAll ? key : [row['page_stamp'], ...key]) as (string | number)[];
}

function cellsOf({ page_stamp: _stamp, page_found: _found, ...cells }: Row): Cells {
  return cells as Cells;
}

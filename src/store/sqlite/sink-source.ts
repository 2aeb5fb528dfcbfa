/**
 * What a sink reads of the shared file. Whoever holds the file's lock knows that nobody else is writing,
 * and every row bears the time at which its writer got that lock: so a look under it misses nothing.
 */
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
import * as sql from './archive-sink.sql.ts';
import { connect } from './migrate.ts';
import { placeOf } from './place.ts';
import { refuseUnmigrated } from './schema.ts';
import { Session, unlessBusy, type Values } from './session.ts';

export async function openSqliteSource(
  path: string,
  options: FilledStoreOptions,
): Promise<SinkSource> {
  const place = placeOf(path);
  const connection = await connect(place, { ...options, migrates: false });
  try {
    await unlessBusy(place.file, options, () => refuseUnmigrated(connection));
    return new SqliteSource(new Session(connection, options));
  } catch (error) {
    connection.close();
    throw error;
  }
}

type Raw = Readonly<Record<string, string | number | null>>;

class SqliteSource implements SinkSource {
  readonly kind = 'sqlite';
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async close(): Promise<void> {
    this.#session.close();
  }

  prepare(isToMake: boolean): Promise<boolean> {
    return this.#session.write((tx) => {
      if (isToMake) for (const text of sql.CREATE_INDEXES) tx.run(text);
      return tx.get<{ count: number }>(sql.selectHasIndexes)?.count === 2;
    });
  }

  look(): Promise<Look> {
    return this.#session.write((tx) => {
      const upper = tx.get<Record<Archived | 'made_at', number | null>>(sql.selectUppers);
      return {
        nowMs: tx.now,
        since: String(tx.now),
        upper: {
          run_events: textOf(upper?.run_events),
          step_tracker: textOf(upper?.step_tracker),
        },
        writer: null,
        timeline: String(upper?.made_at),
      };
    });
  }

  page({ table, from, to, after }: Round, { countMax, bytesMax }: PageLimits): Promise<Page> {
    const isAll = from === null;
    const text = isAll ? sql.PAGE_OF_ALL[table] : sql.PAGE_OF_CHANGED[table];
    const place = after ?? (isAll ? FIRST_KEY[table] : [Number(from.since), ...FIRST_KEY[table]]);
    const values: Values = {
      ...valuesOf(table, place, isAll),
      ...(isAll ? {} : { upper: Number(to.upper[table] ?? -1) }),
      count: countMax,
    };
    return this.#session.read((tx) => {
      const rows: Raw[] = [];
      let bytes = 0;
      for (const row of tx.each<Raw>(text, values)) {
        const size = sizeOf(row);
        if (rows.length > 0 && bytes + size > bytesMax) {
          return { rows: rows.map(cellsOf), after: lastOf(table, rows, isAll), isLast: false };
        }
        bytes += size;
        rows.push(row);
      }
      const isLast = rows.length < countMax;
      return {
        rows: rows.map(cellsOf),
        after: rows.length === 0 ? after : lastOf(table, rows, isAll),
        isLast,
      };
    });
  }

  hold({ name, target, holder }: SinkName, leaseMs: number, isForced = false): Promise<boolean> {
    return this.#session.write((tx) => {
      const until = tx.now + Math.round(leaseMs);
      const values = { name, target, holder, until, now: tx.now, forced: isForced ? 1 : 0 };
      return tx.run(sql.holdSink, values) > 0;
    });
  }

  async confirm({ name, holder }: SinkName, { since }: Look): Promise<void> {
    await this.#session.write((tx) =>
      tx.run(sql.confirmSent, { name, holder, until: Number(since), now: tx.now }),
    );
  }

  async free({ name, holder }: SinkName): Promise<void> {
    await this.#session.write((tx) => tx.run(sql.freeSink, { name, holder }));
  }

  forget(name: string): Promise<boolean> {
    return this.#session.write((tx) => tx.run(sql.deleteSink, { name, now: tx.now }) > 0);
  }

  sinks(): Promise<KnownSink[]> {
    return this.#session.read((tx) =>
      tx.all<Raw>(sql.selectSinks).map((row) => ({
        name: String(row['name']),
        target: String(row['target']),
        holder: textOf(row['holder']),
        isHeld: row['held_until'] !== null && Number(row['held_until']) > tx.now,
        behindMs: row['sent_until'] === null ? null : tx.now - Number(row['sent_until']),
      })),
    );
  }
}

const FIRST_KEY = {
  run_events: ['', 0, 0, -1],
  step_tracker: [''],
} as const satisfies Record<Archived, readonly (string | number)[]>;

const KEY_NAMES = {
  run_events: ['task', 'generation', 'epoch', 'first_seq'],
  step_tracker: ['task'],
} as const satisfies Record<Archived, readonly string[]>;

function valuesOf(table: Archived, place: readonly (string | number)[], isAll: boolean): Values {
  const names = isAll ? KEY_NAMES[table] : ['stamp', ...KEY_NAMES[table]];
  return Object.fromEntries(names.map((name, index) => [name, place[index] ?? null]));
}

function lastOf(table: Archived, rows: readonly Raw[], isAll: boolean): (string | number)[] {
  const row = rows.at(-1)!;
  const names = table === 'step_tracker' ? ['task_id'] : ['task_id', ...KEY_NAMES[table].slice(1)];
  return (isAll ? names : ['page_stamp', ...names]).map((name) => row[name] as string | number);
}

function sizeOf(row: Raw): number {
  let size = 0;
  for (const name in row) size += typeof row[name] === 'string' ? row[name].length : 8;
  return size;
}

function cellsOf({ page_stamp: _stamp, ...row }: Raw): Cells {
  return 'paused' in row ? { ...row, paused: row['paused'] === 1 } : row;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** What can be told of a server: for whoever looks why something is slow, or does not work. */
import type { FilledStoreOptions } from '../options.ts';
import {
  selectConnections,
  selectFacts,
  selectHolders,
  selectOldestTransaction,
} from './doctor.sql.ts';
import { readPostgresWay } from './options.ts';
import { Pool } from './pool.ts';
import { selectTimeline } from './sql.ts';
import { NO_TIMELINE } from './timeline.ts';

export interface PostgresFacts {
  /** 'PostgreSQL 16.3 on …', or whatever speaks like it. */
  readonly version: string;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly now: number;
  /** How long the server lets a statement of this way run; 0: for ever. */
  readonly statementTimeoutMs: number;
  readonly isolation: string;
  /** A standby answers, and takes no writes. */
  readonly isStandby: boolean;
  readonly isPooled: boolean;
  /** Undefined where the role may not ask for it, and of a standby. */
  readonly timeline: string | undefined;
  /** Of the server, and of the role and the database where they have limits of their own. */
  readonly connections: readonly Connections[];
  /** The oldest first; undefined where the role is not shown the sessions of other roles. */
  readonly holders: readonly Holder[] | undefined;
}

/** What keeps the server from removing rows that have ended. */
export interface Holder {
  readonly kind: 'session' | 'prepared transaction' | 'replication slot' | 'standby';
  /** Of the program, of the prepared transaction or of the slot. */
  readonly name: string;
  readonly pid: number | undefined;
  readonly database: string | undefined;
  /** How long ago its transaction began; undefined where the server does not know. */
  readonly ms: number | undefined;
  /** How many transactions have begun since. */
  readonly transactions: number;
}

export interface Connections {
  readonly whose: 'server' | 'role' | 'database';
  readonly name: string;
  /** Of everybody, this one included. */
  readonly count: number;
  /** So many may be there, beside what is reserved for others; not above 0 where that is not told. */
  readonly countMax: number;
  readonly reserved: number;
}

export async function postgresFacts(
  address: string,
  options: FilledStoreOptions,
): Promise<PostgresFacts> {
  const { clock, random } = options;
  const way = readPostgresWay(address, options);
  const pool = new Pool(way, clock, random);
  try {
    const [row] = await pool.query(selectFacts);
    const isStandby = row?.['is_standby'] === true;
    const [told] = isStandby ? [] : await pool.query(selectTimeline);
    const timeline = told?.['timeline'] as string | undefined;
    // Not every server that speaks like Postgres has all of these tables; those that do not tell nothing.
    const limits = await pool.query(selectConnections).catch(() => []);
    const holders = await holdersOf(pool).catch(() => undefined);
    return {
      version: String(row?.['version']),
      now: Number(row?.['now_ms']),
      statementTimeoutMs: Number(row?.['timeout_ms']),
      isolation: String(row?.['isolation']),
      isStandby,
      isPooled: way.isPooled,
      timeline: timeline === NO_TIMELINE ? undefined : timeline,
      connections: limits.map((limit) => ({
        whose: limit['whose'] as Connections['whose'],
        name: String(limit['name']),
        count: Number(limit['count']),
        countMax: Number(limit['count_max']),
        reserved: Number(limit['reserved']),
      })),
      holders,
    };
  } finally {
    await pool.close();
  }
}

async function holdersOf(pool: Pool): Promise<Holder[] | undefined> {
  if ((await oldestTransactionMs(pool)) === undefined) return undefined;
  const rows = await pool.query(selectHolders);
  return rows.map((row) => ({
    kind: row['kind'] as Holder['kind'],
    name: String(row['name'] ?? ''),
    pid: maybe(row['pid']),
    database: maybe(row['database']),
    ms: maybe(row['ms']),
    transactions: Number(row['transactions']),
  }));
}

/** How long ago the oldest transaction began; 0 where none is open, undefined where the role may not know. */
export async function oldestTransactionMs(pool: Pick<Pool, 'query'>): Promise<number | undefined> {
  // Not every server that speaks like Postgres has all of these tables; the figure is left out there.
  const [row] = await pool.query(selectOldestTransaction).catch(() => []);
  return maybe(row?.['oldest_ms']);
}

function maybe<T>(value: unknown): T | undefined {
  return (value ?? undefined) as T | undefined;
}

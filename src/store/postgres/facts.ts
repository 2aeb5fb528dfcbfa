/** What can be told of a server: for whoever looks why something is slow, or does not work. */
import type { FilledStoreOptions } from '../options.ts';
import { selectConnections, selectFacts } from './doctor.sql.ts';
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
    };
  } finally {
    await pool.close();
  }
}

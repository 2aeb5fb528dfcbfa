/** What can be told of a server: for whoever looks why something is slow, or does not work. */
import type { FilledStoreOptions } from '../options.ts';
import { selectFacts } from './doctor.sql.ts';
import { readPostgresWay } from './options.ts';
import { Pool } from './pool.ts';

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
  /** Of everybody, to any of its databases, this one included. */
  readonly connectionCount: number;
  readonly connectionCountMax: number;
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
    return {
      version: String(row?.['version']),
      now: Number(row?.['now_ms']),
      statementTimeoutMs: Number(row?.['timeout_ms']),
      isolation: String(row?.['isolation']),
      isStandby: row?.['is_standby'] === true,
      isPooled: way.isPooled,
      connectionCount: Number(row?.['connections']),
      connectionCountMax: Number(row?.['connections_max']),
    };
  } finally {
    await pool.close();
  }
}

/** How a connection to Postgres is made: what it tells the server, and how values are read. */
import pg from 'pg';
import { type Hosts, locating } from './hosts.ts';
import type { PostgresWay } from './options.ts';

/**
 * Ways to carry out a statement that read all there is. Where the planner knows of a few rows they look as
 * good as an index does, and the plan may be used when there are a million.
 */
export const PLANS = ['seqscan', 'bitmapscan', 'mergejoin'] as const;

/** How a connection introduces itself. A pooler would refuse, or mix up, what it does not know. */
export function connectionOf(way: PostgresWay, url: string, hosts?: Hosts): pg.PoolConfig {
  const settings = [
    `-c statement_timeout=${way.serverMs}`,
    '-c default_transaction_isolation=read\\ committed',
    // Statements here are short, and compiling one of them took seconds once the table had some rows.
    '-c jit=off',
    ...PLANS.map((way) => `-c enable_${way}=off`),
    ...(way.schema === undefined ? [] : [`-c search_path=${way.schema}`]),
  ];
  return {
    connectionString: url,
    connectionTimeoutMillis: way.deadlineMs,
    keepAlive: true,
    application_name: way.applicationName,
    ...(way.isPooled ? {} : { options: settings.join(' ') }),
    ...(hosts ? { Client: locating(hosts) } : {}),
    types: { getTypeParser: parserOf } as pg.CustomTypesConfig,
  };
}

const INT8 = 20;

/** Counts and epochs stay far below 2^53, so they are numbers. */
function parserOf(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (type === INT8) return Number;
  return pg.types.getTypeParser(type, format as 'text');
}

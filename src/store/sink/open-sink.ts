/** Opens both ends by their addresses; drivers are loaded where one of their addresses comes. */
import { StoreOptionsError } from '../errors.ts';
import { sqlitePath } from '../open-store.ts';
import type { FilledStoreOptions } from '../options.ts';
import type { Sink, SinkSource } from './sink.ts';

export async function openSinkSource(
  address: string,
  options: FilledStoreOptions,
): Promise<SinkSource> {
  if (/^postgres(ql)?:\/\//i.test(address)) {
    const { openPostgresSource } = await import('../postgres/sink-source.ts');
    return openPostgresSource(address, options);
  }
  if (/^sqlite:/i.test(address)) {
    const { openSqliteSource } = await import('../sqlite/sink-source.ts');
    return openSqliteSource(sqlitePath(address), options);
  }
  throw new StoreOptionsError('a sink reads from a store in Postgres or SQLite', {
    hint: /^snowflake:/i.test(address)
      ? 'the tables of this store are in Snowflake already'
      : 'name it with --store, like postgres://user@host/database',
  });
}

export interface OpenSinkOptions extends FilledStoreOptions {
  readonly name: string;
  readonly deadlineMs: number;
}

export async function openSink(address: string, options: OpenSinkOptions): Promise<Sink> {
  if (!/^snowflake:\/\//i.test(address)) {
    throw new StoreOptionsError('an archive is in Snowflake', {
      hint: 'name it with --to snowflake://user@account/database/schema?warehouse=…&key=…',
    });
  }
  const { readSnowflakeWay } = await import('../snowflake/options.ts');
  const { openerOf } = await import('../snowflake/driver.ts');
  const { SnowflakeSink } = await import('../snowflake/snowflake-sink.ts');
  const way = readSnowflakeWay(address, { deadlineMs: options.deadlineMs });
  return new SnowflakeSink({ ...options, open: await openerOf(way) });
}

/** Where the rows go: a Postgres behind a way that loses commits, or a SQLite file. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Random } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { type CommitFault, CommitProxy } from '../../test/support/commit-proxy.ts';
import { startPostgres } from '../../test/support/postgres.ts';

export interface Place {
  /** As those who look see it, and as pods reach it. */
  readonly url: string;
  readonly podUrl: string;
  readonly insert: string;
  readonly doubts: Readonly<Record<CommitFault, number>>;
  count(text: string): Promise<number>;
  /** What has not ended, in words for people. */
  open(): Promise<string>;
  close(): Promise<void>;
}

const create = 'create table ledger (run text not null, epoch bigint not null)';
const OPEN = `
  select status, wait_for, crashes, claimed_by, count(*) as count from step_tracker
   where finished_at is null group by 1, 2, 3, 4 order by 1, 2, 3, 4`;
const FAULTS = ['answerLost', 'commitLost', 'late'] as const;

export async function postgresPlace(random: Random, faultShare: number): Promise<Place> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const faultOf = () => {
    const chance = random.fraction();
    return chance < faultShare ? FAULTS[Math.floor((chance / faultShare) * 3)] : undefined;
  };
  const { host, port } = server;
  const proxy = new CommitProxy({ host, port, faultOf, lateMs: 400 });
  await proxy.start();
  await (await openStore(url, { migrates: true })).close();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(create);
  return {
    url,
    podUrl: proxy.through(url),
    insert: 'insert into ledger (run, epoch) values ($1, $2)',
    doubts: proxy.counts,
    count: async (text) => Number((await client.query(text)).rows[0].count),
    open: async () => JSON.stringify((await client.query(OPEN)).rows),
    close: async () => {
      await client.end();
      proxy.stop();
      await server.remove();
    },
  };
}

export async function sqlitePlace(directory: string): Promise<Place> {
  const file = join(directory, 'store', 'fleet.db');
  const url = `sqlite:${file}`;
  await (await openStore(url, { migrates: true })).close();
  const database = new Database(file, { timeout: 60_000 });
  database.exec(create);
  return {
    url,
    podUrl: url,
    insert: 'insert into ledger (run, epoch) values (?, ?)',
    doubts: { answerLost: 0, commitLost: 0, late: 0 },
    count: async (text) => (database.prepare(text).get() as { count: number }).count,
    open: async () => JSON.stringify(database.prepare(OPEN).all()),
    close: async () => void database.close(),
  };
}

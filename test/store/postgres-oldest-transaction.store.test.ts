/** How long transactions are left open on the server, which keeps what has ended from being removed. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { transactionsCheck } from '../../src/cli/fleet/transactions-check.ts';
import { showDuration, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type Holder, postgresFacts } from '../../src/store/postgres/facts.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
const clients: pg.Client[] = [];
const roles: string[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
});
afterAll(async () => {
  const address = await postgres.createDatabase();
  for (const role of roles) await runOn(address, `drop role ${role}`);
  await postgres.remove();
});

const OPTIONS = { clock: systemClock, random: systemRandom };

async function holdersAt(address: string): Promise<readonly Holder[] | undefined> {
  return (await postgresFacts(address, { ...OPTIONS, poolSize: 2 } as never)).holders;
}

async function censusAt(address: string): Promise<number | undefined> {
  const store = await openStore(address, OPTIONS);
  try {
    return (await store.census(10, 15_000)).oldestTransactionMs;
  } finally {
    await store.close();
  }
}

async function hold(address: string, name: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: address, application_name: name });
  clients.push(client);
  await client.connect();
  await client.query('begin isolation level repeatable read');
  await client.query(statement);
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test('a snapshot that is held open is named, with its age, and so is a write in another database', async () => {
  const address = await postgres.createDatabase();
  const other = await postgres.createDatabase();
  const found = async (name: string) =>
    (await holdersAt(address))?.find((one) => one.name === name);
  await hold(address, 'report', 'select 1');
  await hold(other, 'reader', 'select 1');
  await hold(other, 'writer', 'select txid_current()');
  const database = new URL(address).pathname.slice(1);
  expect(await found('report')).toMatchObject({
    kind: 'session',
    database,
    pid: expect.any(Number),
    ms: expect.any(Number),
  });
  expect((await found('report'))!.ms).toBeGreaterThan(49);
  expect(await found('writer')).toMatchObject({ kind: 'session' });
  expect(await found('reader'), 'what it reads is not in this database').toBeUndefined();
});

test('the census has the age of the oldest, where the role is shown all sessions', async () => {
  const address = await postgres.createDatabase();
  const store = await openStore(address, { ...OPTIONS, migrates: true });
  await store.close();
  await hold(address, 'report', 'select 1');
  expect(await censusAt(address)).toBeGreaterThan(49);
  const plain = new URL(address);
  plain.username = `unshown_in_${plain.pathname.slice(1)}`;
  roles.push(plain.username);
  await runOn(address, `create role ${plain.username} login in role pg_read_all_data`);
  expect(await censusAt(plain.href)).toBeUndefined();
  const holders = await holdersAt(plain.href);
  expect(holders).toBeUndefined();
  expect(transactionsCheck({ holders })).toMatchObject({
    verdict: 'ok',
    fact: expect.stringContaining('grant pg_read_all_stats'),
  });
  await runOn(address, `grant pg_read_all_stats to ${plain.username}`);
  expect(await censusAt(plain.href)).toBeGreaterThan(49);
});

test('a doctor warns of what has been open for minutes, and says how to end it', () => {
  const session = { kind: 'session', name: 'psql', pid: 7, database: 'shop', ms: 60_000 } as const;
  const held = { ...session, transactions: 3 };
  const slot = { ...held, kind: 'replication slot', name: 'gone', ms: undefined } as const;
  const verdictOf = (...holders: Holder[]) => transactionsCheck({ holders });
  expect(verdictOf()).toEqual({
    name: 'transactions',
    verdict: 'ok',
    fact: 'none is open for long',
  });
  expect(verdictOf(held, slot)).toMatchObject({
    verdict: 'ok',
    fact: `the oldest began ${showDuration(60_000)} ago`,
  });
  expect(verdictOf({ ...held, ms: 600_000 })).toMatchObject({
    verdict: 'warn',
    fact: `the session psql, pid 7, database shop keeps what ended in the last ${showDuration(600_000)} from being removed`,
    fix: expect.stringContaining('pg_terminate_backend(7)'),
  });
  expect(verdictOf(held, { ...slot, transactions: 2_000_000 })).toMatchObject({
    verdict: 'warn',
    fix: expect.stringContaining("pg_drop_replication_slot('gone')"),
  });
});

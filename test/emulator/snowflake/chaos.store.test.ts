/** What a store must bear is really there: old reads, lost updates, storms. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Client, connect } from './driver.ts';
import { type EmulatedSnowflake, startSnowflake } from './index.ts';

let account: EmulatedSnowflake;
let one: Client;
let two: Client;

beforeAll(async () => {
  account = await startSnowflake();
  [one, two] = await Promise.all([connect(account.options), connect(account.options)]);
  for (const kind of ['hybrid ', '']) {
    const name = kind === '' ? 's' : 'h';
    await one.run(
      `create ${kind}table ${name} (id varchar(9) not null, n number(9,0), primary key (id))`,
    );
  }
});

beforeEach(async () => {
  account.chaos.calm();
  for (const table of ['h', 's']) {
    await one.run(`delete from ${table}`);
    await one.run(`insert into ${table} (id, n) values ('a', 0)`);
  }
  // Takes a new view, so that no test sees what the one before it left.
  account.chaos.staleReadsMs = 0;
  await seen(two, 'h');
  account.chaos.calm();
});

afterAll(async () => {
  await Promise.all([one, two].map((client) => client?.close()));
  await account?.stop();
});

const seen = async (client: Client, table: string) =>
  Number((await client.run(`select n from ${table}`)).rows[0]!['N']);

describe('a read', () => {
  /** Long enough for the slowest machine: the view is taken by the first read and still used by the last. */
  const LATE_MS = 60_000;

  test.each(['h', 's'])('of %s may be late for others, and never for oneself', async (table) => {
    account.chaos.staleReadsMs = LATE_MS;
    expect(await seen(two, table)).toBe(0);
    await one.run(`update ${table} set n = 1`);
    expect(await seen(one, table)).toBe(1);
    expect(await seen(two, table)).toBe(0);
    account.chaos.staleReadsMs = 0;
    expect(await seen(two, table)).toBe(1);
  });

  test('of a hybrid table is not, where the latest is asked for', async () => {
    account.chaos.staleReadsMs = LATE_MS;
    await two.run('alter session set read_latest_writes = true');
    for (const table of ['h', 's']) {
      await seen(two, table);
      await one.run(`update ${table} set n = 1`);
    }
    expect(await seen(two, 'h')).toBe(1);
    expect(await seen(two, 's')).toBe(0);
    await two.run('alter session set read_latest_writes = false');
  });

  test('inside a change is of the newest', async () => {
    account.chaos.staleReadsMs = LATE_MS;
    await seen(two, 'h');
    await one.run('update h set n = 1');
    expect((await two.run('update h set n = 2 where n = 0')).count).toBe(0);
  });
});

describe.each(['h', 's'])('an update of %s', (table) => {
  const claim = `update ${table} set n = n + 1 where id = 'a' and n = 0`;

  test('looks again after it has waited', async () => {
    const counts = await Promise.all([one, two].map((client) => client.run(claim)));
    expect(counts.map(({ count }) => count).sort()).toEqual([0, 1]);
  });

  test('does not, where it is told so: both say that they have it, the last one has it', async () => {
    account.chaos.lostUpdates = /and n = 0/;
    account.chaos.latencyMs = [500, 500];
    const counts = await Promise.all([one, two].map((client) => client.run(claim)));
    account.chaos.calm();
    expect(counts.map(({ count }) => count)).toEqual([1, 1]);
    expect(await seen(one, table)).toBe(1);
  });

  test('that joins with a bind is lost the same way', async () => {
    account.chaos.lostUpdates = /given\.was/;
    account.chaos.latencyMs = [500, 500];
    const text = `update ${table} set n = given.n from (select f.value:id::varchar as id, f.value:n::number(9,0) as n,
      f.value:was::number(9,0) as was from table(flatten(input => parse_json(?))) f) given
      where ${table}.id = given.id and ${table}.n = given.was`;
    const counts = await Promise.all(
      [one, two].map((client, n) =>
        client.run(text, [JSON.stringify([{ id: 'a', n: n + 5, was: 0 }])]),
      ),
    );
    account.chaos.calm();
    expect(counts.map(({ count }) => count)).toEqual([1, 1]);
  });
});

test('a storm of waiters refuses changes of standard tables only, and they do nothing', async () => {
  account.chaos.waiterStorm = { share: 1 };
  expect(await one.refusalOf('update s set n = 1')).toMatchObject({
    code: '000625',
    sqlState: '57014',
  });
  expect((await one.run('update h set n = 1')).count).toBe(1);
  await one.run(`insert into s (id, n) values ('b', 0)`);
  account.chaos.calm();
  expect((await one.run('select max(n) as n from s')).rows).toEqual([{ N: 0 }]);
});

test('a warehouse that has slept takes its time', async () => {
  account.chaos.resumeMs = 400;
  account.advance(3_600_000);
  const before = performance.now();
  await seen(one, 's');
  expect(performance.now() - before).toBeGreaterThanOrEqual(395);
});

/** What Snowflake refuses is refused, through the real driver; and the lint finds the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connect } from './driver.ts';
import { type EmulatedSnowflake, startSnowflake } from './index.ts';
import { lint, lintAll, offFastPath } from './lint.ts';

let account: EmulatedSnowflake;
let client: Client;

beforeAll(async () => {
  account = await startSnowflake();
  client = await connect(account.options);
  await client.run(
    'create hybrid table h (id varchar(9) not null, n number(9,0), primary key (id))',
  );
  await client.run('create table s (id varchar(9) not null, n number(9,0), primary key (id))');
});

afterAll(async () => {
  await client.close();
  await account.stop();
});

/** By the rule that the lint names; each is what somebody at home in Postgres would write. */
const REFUSED: [rule: string, sql: string, binds?: readonly unknown[]][] = [
  ['returning', `insert into h (id) values ('a') returning id`],
  ['returning', `update h set n = 1 returning id`],
  ['on conflict', `insert into h (id) values ('a') on conflict do nothing`],
  ['skip locked', 'select id from h for update skip locked'],
  ['numbered bind', 'select id from h where id = $1'],
  ['numbered bind', 'select id from h where id = :1'],
  ['limit by a bind', 'select id from h order by id limit ?', [1]],
  ['limit by a bind', 'select id from h order by id limit 1 offset ?', [1]],
  ['lock of Postgres', 'select id from h for share'],
  ['lock of Postgres', 'select id from h for no key update'],
  ['filter clause', 'select count(*) filter (where n > 1) from h'],
  ['distinct on', 'select distinct on (id) id, n from h'],
  ['materialized query', 'with a as materialized (select 1 as x) select x from a'],
  ['change inside WITH', 'with a as (delete from h) select 1'],
  ['WITH before a change', 'with a as (select 1 as x) update h set n = 1'],
  ['function in VALUES', `insert into h (id) values (parse_json('1'))`],
  ['row assignment', 'update h set (n, id) = (1, 2)'],
  ['row comparison', `select id from h where (id, n) > ('a', 1)`],
  ['qualified column in SET', 'update h set h.n = 1'],
  ['array of Postgres', 'select array[1, 2]'],
  ['any of an array', 'select id from h where id = any(?)', ['{a}']],
  ['operator of Postgres', `select parse_json('{}') ->> 'a'`],
  ['operator of Postgres', `select id from h where id ~ 'a'`],
  ['type of Postgres', `select '1'::jsonb`],
  ['function of Postgres', 'select now()'],
  ['function of Postgres', 'select clock_timestamp()'],
  ['function of Postgres', 'select jsonb_agg(id) from h'],
  ['default values', 'insert into h default values'],
  ['two statements', 'select 1; select 2'],
  ['reserved word as a column', 'create table x (start number(9,0))'],
  ['subquery as an argument of OR', 'select id from h where n = 1 or id in (select id from s)'],
  [
    'subquery as an argument of OR',
    'select id from h where n = 1 or (n = 2 and not exists (select 1 from s where s.id = h.id))',
  ],
  ['subquery outside WHERE', 'select h.id from h left join s on h.id in (select id from s)'],
  [
    'limit in a correlated subquery',
    'select id from h where exists (select 1 from s where s.id = h.id limit 1)',
  ],
  ['correlated scalar subquery', 'select (select s.n from s where s.id = h.id) as n from h'],
];

describe('Snowflake refuses, and so does the emulator:', () => {
  test.each(REFUSED)('%s: %s', async (rule, sql, binds) => {
    const { code, sqlState } = await client.refusalOf(sql, binds);
    expect([code, sqlState]).toSatisfy(
      ([number, state]) => /^00/.test(number) && state !== undefined,
    );
    expect((await lint(sql)).map((fault) => fault.rule)).toContain(rule);
  });
});

/** What stands close to them and is allowed. */
const TAKEN: [sql: string, binds?: readonly unknown[]][] = [
  ['select id from h where n = 1 and id in (select id from s)'],
  ['select id from h where (n = 1 or n = 2) and not exists (select 1 from s where s.id = h.id)'],
  [`select id from h where n = 1 or exists (select 1 from s where s.id = 'a')`],
  ['select (select max(s.n) from s where s.id = h.id) as n from h'],
  ['select id from h order by id limit 1 offset 1'],
  [`select 'returning $1 limit ?' as word -- on conflict`],
  ['insert into s with a as (select 1 as x) select x, x from a where x > ?', [1]],
  ['select "ID" from h where id = ?', ['x']],
  ['update h set n = 1 where id in (select id from s where n = 5 order by id limit 1)'],
];

test.each(TAKEN)('it takes: %s', async (sql, binds) => {
  await client.run(sql, binds);
  expect(await lint(sql)).toEqual([]);
});

describe('FOR UPDATE', () => {
  test('is refused with autocommit', async () => {
    const { message } = await client.refusalOf('select id from h for update');
    expect(message).toContain('with autocommit');
  });

  test('is refused for a standard table, and for more than plain rows', async () => {
    await client.run('begin');
    try {
      for (const [sql, why] of [
        ['select id from s for update', 'of a standard table'],
        ['select h.id from h join s on s.id = h.id for update', 'more than plain rows'],
        ['select distinct id from h for update', 'more than plain rows'],
        ['select id from h where id in (select id from s) for update', 'with a subquery'],
        ['select id from h for update limit 1', 'the last clause'],
      ] as const) {
        expect((await client.refusalOf(sql)).message).toContain(why);
      }
      await client.run('select id from h order by id limit 1 for update wait 1');
    } finally {
      await client.run('rollback');
    }
  });

  test('does not wait unless it is told to', async () => {
    const other = await connect(account.options);
    await client.run(`insert into h (id, n) values ('held', 1)`);
    await client.run('begin');
    await other.run('begin');
    try {
      await client.run(`select id from h where id = 'held' for update`);
      const { code } = await other.refusalOf(`select id from h where id = 'held' for update`);
      expect(code).toBe('000627');
    } finally {
      await client.run('rollback');
      await other.close();
    }
  });
});

test('a name that nobody knows is refused as Snowflake refuses it', async () => {
  expect(await client.refusalOf('select 1 from nowhere')).toMatchObject({ code: '002003' });
  expect(await client.refusalOf('update nowhere set n = 1')).toMatchObject({ code: '002003' });
  expect(await client.refusalOf('select nothing from h')).toMatchObject({ code: '000904' });
  expect(await client.refusalOf('select frobnicate(1)')).toMatchObject({ code: '002140' });
  expect(await client.refusalOf('selekt 1')).toMatchObject({ sqlState: expect.any(String) });
  expect(await client.refusalOf(`select parse_json('{')`)).toMatchObject({ code: '100069' });
  expect(await client.refusalOf(`select 'x'::number(9,0)`)).toMatchObject({ code: '100038' });
});

test('what no grammar reads, and what varies from call to call, the lint finds', async () => {
  const rules = async (sql: string) => (await lint(sql)).map(({ rule }) => rule);
  expect(await rules('select from where')).toContain('grammar');
  expect(await rules('select id from public.h')).toEqual(['qualified table']);
  expect(await rules(`select id from h where id ilike 'a%'`)).toEqual(['case-insensitive like']);
  expect(await rules('select current_timestamp() as at')).toEqual(['clock of the session']);
  expect(await rules(`select id from h where id = '01HZX3V9Q8R7T6Y5W4S3P2N1M0'`)).toEqual([
    'text that varies',
  ]);
});

test('the lint judges all that an account has seen', async () => {
  account.statements.reset();
  await client.run('select id from h');
  await client.refusalOf('select now()');
  const faults = await lintAll(account.statements.byText.keys());
  expect(faults).toMatchObject([{ rule: 'function of Postgres', sql: 'select now()' }]);
});

test('what the fast path does not take is named', () => {
  expect(offFastPath('update h set n = ? where id = ? and n = 1')).toEqual([]);
  expect(offFastPath('select id from h where n = ? order by id limit 16')).toEqual([]);
  expect(offFastPath('select id from h limit 16')).toEqual(['LIMIT without ORDER BY']);
  expect(offFastPath('select n from h where id in (select id from h) group by n')).toEqual([
    ...['GROUP BY', 'subquery'],
  ]);
});

/** Hybrid and standard tables behave as documented: keys, locks, waiters, transactions, types. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runOn } from '../../support/postgres.ts';
import { type Client, connect } from './driver.ts';
import { type EmulatedSnowflake, startSnowflake } from './index.ts';

let account: EmulatedSnowflake;
let one: Client;
let two: Client;
const more: Client[] = [];

beforeAll(async () => {
  account = await startSnowflake({ waitersMax: 3 });
  [one, two] = await Promise.all([connect(account.options), connect(account.options)]);
  for (const kind of ['hybrid ', '']) {
    const name = kind === '' ? 's' : 'h';
    await one.run(`create ${kind}table ${name} (
      id varchar(9) not null, n number(9,0) default 0, at timestamp_ntz, primary key (id))`);
  }
});

beforeEach(async () => {
  for (const table of ['h', 's']) {
    await one.run(`delete from ${table}`);
    await one.run(`insert into ${table} (id, n) values ('a', 0), ('b', 0)`);
  }
});

afterEach(async () => {
  await Promise.all([one, two].map((client) => client.run('rollback')));
  await Promise.all([one, two].map((client) => client.run('alter session unset lock_timeout')));
});

afterAll(async () => {
  await Promise.all([one, two, ...more].map((client) => client?.close()));
  await account?.stop();
});

const waiting = (count: number) =>
  vi.waitFor(() => expect(account.waitersOf('s')).toBe(count), { timeout: 90_000 });

describe('a hybrid table', () => {
  test('keeps its key', async () => {
    const again = `insert into h (id) values ('a')`;
    expect(await one.refusalOf(again)).toMatchObject({ code: '200001', sqlState: '22000' });
  });

  test('keeps what else is unique', async () => {
    await one.run(
      'create or replace hybrid table u (id varchar(9) not null, k varchar(9), primary key (id), unique (k))',
    );
    await one.run(`insert into u values ('a', null), ('b', null), ('c', 'x')`);
    const { message } = await one.refusalOf(`insert into u values ('d', 'x')`);
    expect(message).toContain('Duplicate key value violates unique constraint "SYS_INDEX_');
  });

  test('is made once, by whoever comes first', async () => {
    const text =
      'create hybrid table if not exists once (id varchar(9) not null, primary key (id))';
    await Promise.all([one, two].map((client) => client.run(text)));
    expect((await one.refusalOf(text.replace('if not exists', ''))).code).toBe('002002');
  });

  test('must have one', async () => {
    const { message } = await one.refusalOf('create hybrid table k (id varchar(9))');
    expect(message).toContain('primary key');
  });

  test('locks rows: another row is free, the same one is waited for', async () => {
    await one.run('begin');
    await one.run(`update h set n = 1 where id = 'a'`);
    expect((await two.run(`update h set n = 1 where id = 'b'`)).count).toBe(1);
    await two.run('alter session set hybrid_table_lock_timeout = 0');
    expect(await two.refusalOf(`update h set n = 1 where id = 'a'`)).toMatchObject({
      sqlState: '57014',
    });
    await two.run('alter session unset hybrid_table_lock_timeout');
  });

  test('knows deadlocks', async () => {
    await Promise.all([one.run('begin'), two.run('begin')]);
    await one.run(`update h set n = 1 where id = 'a'`);
    await two.run(`update h set n = 1 where id = 'b'`);
    // Whoever is chosen still holds its first row until it gives up.
    const orGiveUp = (client: Client, sql: string) =>
      client.run(sql).catch(async (error: unknown) => {
        await client.run('rollback');
        throw error;
      });
    const ends = await Promise.allSettled([
      orGiveUp(one, `update h set n = 1 where id = 'b'`),
      orGiveUp(two, `update h set n = 1 where id = 'a'`),
    ]);
    const refused = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason);
    expect(refused).toEqual([expect.objectContaining({ sqlState: '40001' })]);
  });

  test('adds up what eight sessions add', async () => {
    while (more.length < 6) more.push(await connect(account.options));
    const all = [one, two, ...more];
    await Promise.all(all.map((client) => client.run(`update h set n = n + 1 where id = 'a'`)));
    const { rows } = await one.run(`select n from h where id = 'a'`);
    expect(rows).toEqual([{ N: 8 }]);
  });
});

describe('a standard table', () => {
  test('keeps no key', async () => {
    await one.run(`insert into s (id) values ('a')`);
    expect((await one.run(`update s set n = 2 where id = 'a'`)).count).toBe(2);
  });

  test('has neither indexes nor checks', async () => {
    const { message } = await one.refusalOf('create index i on s (n)');
    expect(message).toContain('INDEX');
    await one.refusalOf('create table k (n number(9,0) check (n > 0))');
    await one.refusalOf('create table k (n number(9,0), index i (n))');
  });

  test('is locked as a whole until the transaction ends; rows are put in meanwhile', async () => {
    await one.run('begin');
    await one.run(`update s set n = 1 where id = 'a'`);
    const second = two.run(`update s set n = 5 where id = 'b'`);
    await waiting(1);
    await more[0]!.run(`insert into s (id) values ('c')`);
    await one.run('commit');
    expect((await second).count).toBe(1);
  });

  test('lets only so many wait: 000625', async () => {
    while (more.length < 4) more.push(await connect(account.options));
    await one.run('begin');
    await one.run('update s set n = 1');
    const waiters = [two, more[0]!, more[1]!].map((client) => client.run('update s set n = n + 1'));
    await waiting(3);
    const refused = await more[2]!.refusalOf(
      'merge into s using (select 1 as x) t on s.n = t.x when matched then delete',
    );
    expect(refused).toMatchObject({ code: '000625', sqlState: '57014' });
    expect(refused.message).toContain('exceeds the 3 statements limit');
    await one.run('commit');
    await Promise.all(waiters);
    expect((await one.run('select max(n) as n from s')).rows).toEqual([{ N: 4 }]);
  });

  test('is waited for only so long: 000627', async () => {
    await one.run('begin');
    await one.run('delete from s');
    await two.run('alter session set lock_timeout = 1');
    const refused = await two.refusalOf('update s set n = 1');
    expect(refused).toMatchObject({ code: '000627', sqlState: '57014' });
    expect(refused.message).toContain('limited to 1 s');
  });

  test('takes a lock that is waited for on the newest rows', async () => {
    await one.run('begin');
    await one.run(`update s set n = 7 where id = 'a'`);
    const second = two.run(`update s set n = 8 where id = 'a' and n = 0`);
    await waiting(1);
    await one.run('commit');
    expect((await second).count).toBe(0);
  });
});

describe('a transaction', () => {
  test('that nobody uses is rolled back, and its lock is free', async () => {
    await one.run('begin');
    await one.run('update s set n = 9');
    const second = two.run(`update s set n = n + 1 where id = 'a'`);
    await waiting(1);
    await account.rollBackIdle();
    expect((await second).count).toBe(1);
    expect((await two.run('select max(n) as n from s')).rows).toEqual([{ N: 1 }]);
  });

  test('outlives a statement that fails, unless it shall not', async () => {
    await one.run('begin');
    await one.run(`update h set n = 3 where id = 'a'`);
    await one.refusalOf('select nothing from h');
    await one.run('commit');
    expect((await two.run(`select n from h where id = 'a'`)).rows).toEqual([{ N: 3 }]);
    await one.run('alter session set transaction_abort_on_error = true');
    await one.run('begin');
    await one.run(`update h set n = 4 where id = 'a'`);
    await one.refusalOf('select nothing from h');
    await one.run('commit');
    await one.run('alter session unset transaction_abort_on_error');
    expect((await two.run(`select n from h where id = 'a'`)).rows).toEqual([{ N: 3 }]);
  });

  test('is committed by DDL', async () => {
    await one.run('begin');
    await one.run(`update h set n = 6 where id = 'a'`);
    await one.run('create or replace table ddl (n number(9,0))');
    await one.run('rollback');
    expect((await two.run(`select n from h where id = 'a'`)).rows).toEqual([{ N: 6 }]);
  });

  test('is gone with its session', async () => {
    const other = await connect(account.options);
    await other.run('begin');
    await other.run('update s set n = 9');
    await other.close();
    expect((await one.run(`update s set n = n + 1 where id = 'a'`)).count).toBe(1);
  });
});

describe('a statement', () => {
  test('that joins one row with two is refused where the session wants that', async () => {
    const text = `update h set n = s.n from (select f.value:id::varchar as id, f.value:n::number(9,0) as n
      from table(flatten(input => parse_json(?))) f) s where h.id = s.id`;
    const doubled = JSON.stringify([
      { id: 'a', n: 1 },
      { id: 'a', n: 2 },
    ]);
    expect((await one.run(text, [doubled])).count).toBe(1);
    await one.run('alter session set error_on_nondeterministic_update = true');
    expect(await one.refusalOf(text, [doubled])).toMatchObject({ code: '100090' });
    expect((await one.run(text, [JSON.stringify([{ id: 'a', n: 4 }])])).count).toBe(1);
    await one.run('alter session unset error_on_nondeterministic_update');
  });

  test('merges, and says how many rows it put in and changed', async () => {
    const { rows, count } = await one.run(
      `merge into s using (select f.value:id::varchar as id from table(flatten(input => parse_json(?))) f) t
         on s.id = t.id when matched then update set s.n = 5 when not matched then insert (id) values (t.id)`,
      [JSON.stringify([{ id: 'a' }, { id: 'x' }, { id: 'y' }])],
    );
    expect(rows).toEqual([{ 'number of rows inserted': 2, 'number of rows updated': 1 }]);
    expect(count).toBe(3);
  });

  test('takes arrays of binds for INSERT … VALUES alone', async () => {
    const binds = [
      ['m', 1],
      ['n', 2],
      ['o', null],
    ];
    expect((await one.run('insert into s (id, n) values (?, ?)', binds)).count).toBe(3);
    const { message } = await one.refusalOf('insert into s (id, n) select ?, ?', binds);
    expect(message).toContain('array bind');
  });

  test('answers each type as the driver reads it', async () => {
    const sql = `select ? as text, ? as whole, ?::float as part, ? as fact, ?::varchar as nothing,
      parse_json(?) as thing, parse_json(?):a[1].b::varchar as inner, to_timestamp_ntz(1500, 3) as at,
      count(*) as "mixed Case", 1.50 as dec from h`;
    const json = '{"a":[0,{"b":"x"}],"z":null}';
    const { rows } = await one.run(sql, ["it's \\ \u0000 é", 2 ** 50, 0.5, true, null, json, json]);
    expect(rows).toEqual([
      {
        ...{ TEXT: "it's \\ \u0000 é", WHOLE: 2 ** 50, PART: 0.5, FACT: true, NOTHING: null },
        ...{
          THING: JSON.parse(json),
          INNER: 'x',
          AT: expect.anything(),
          'mixed Case': 2,
          DEC: 1.5,
        },
      },
    ]);
    expect(Number(rows[0]!['AT'])).toBe(1500);
  });

  test('compares nulls, texts and missing keys as Snowflake does', async () => {
    const { rows } = await one.run(
      `select greatest(1, null) as g, greatest_ignore_nulls(1, null) as i, iff(1 > 2, 'a', 'b') as f,
         parse_json('{"a":null}'):a::varchar as n, parse_json('{"a":null}'):b is null as m,
         'B' < 'a' as bytes, 'a%b' like 'a\\\\%b' as plain, decode(null, null, 1, 2) as d,
         equal_null(null, null) as e,
         (select listagg(id, '-') within group (order by id desc) from h) as l,
         (select array_agg(n)[0]::number(9,0) from h) as first, parse_json('{"b":1,"a":"x"}')::varchar as j`,
    );
    expect(rows).toEqual([
      {
        ...{
          G: null,
          I: 1,
          F: 'b',
          N: null,
          M: true,
          BYTES: true,
          PLAIN: false,
          D: 1,
          E: true,
          L: 'b-a',
        },
        FIRST: 0,
        J: '{"a":"x","b":1}',
      },
    ]);
  });

  test('that takes longer than the session allows ends: 000630', async () => {
    await one.run('alter session set statement_timeout_in_seconds = 1');
    await two.run('begin');
    await two.run('update h set n = 2');
    expect(await one.refusalOf('update h set n = 1')).toMatchObject({ code: '000630' });
    await one.run('alter session unset statement_timeout_in_seconds');
  });
});

test('the account says what it has: kinds of tables, parameters, the last change', async () => {
  const kinds = await one.run(
    `select table_name as n, is_hybrid as h from information_schema.tables where table_name in ('H', 'S') order by 1`,
  );
  expect(kinds.rows).toEqual([
    { N: 'H', H: 'YES' },
    { N: 'S', H: 'NO' },
  ]);
  expect((await one.run(`show tables like 'h'`)).rows).toMatchObject([
    { name: 'H', is_hybrid: 'Y' },
  ]);
  expect((await one.run(`show parameters like 'lock_timeout' in session`)).rows).toMatchObject([
    { key: 'LOCK_TIMEOUT', value: '43200' },
  ]);
  const last = async () =>
    (await one.run(`select system$last_change_commit_time('S') as t`)).rows[0]!['T'];
  const before = await last();
  expect(await last()).toBe(before);
  await two.run(`update s set n = n + 1 where id = 'a'`);
  expect(await last()).not.toBe(before);
  await one.refusalOf(`select system$last_change_commit_time('H') as t`);
});

test('its clock goes on when it is told to, and Postgres is seen past it', async () => {
  const clock = async () =>
    Number((await one.run('select date_part(epoch_millisecond, sysdate()) as t')).rows[0]!['T']);
  const before = await clock();
  account.advance(3_600_000);
  expect((await clock()) - before).toBeGreaterThanOrEqual(3_600_000);
  account.advance(-3_600_000);
  expect(await runOn(account.url, 'select id from h order by id')).toHaveLength(2);
});

/** Tasks that are part of a transaction of whoever enqueues them, in Postgres and in a SQLite file. */
import Database from 'better-sqlite3';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { TransactionError } from '../../src/store/errors.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import { portable } from '../../src/store/postgres/caller-tx.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { NewTask } from '../../src/store/tasks.ts';
import { runChild } from '../support/children.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import type { CallerOrder } from './caller-tx-child.ts';
import { newId, newTask, newTasks } from './factories.ts';
import { options, usePostgres } from './postgres-harness.ts';
import { openMigrated, PORTS } from './sqlite-harness.ts';

const scene = usePostgres();
const newDir = useTempDirs();

const orders = 'create table if not exists orders (id text primary key)';

/** A transaction on a connection of its own; `end` says how it ends. */
async function inTransaction<T>(
  end: 'commit' | 'rollback',
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await scene.connect();
  await client.query('begin');
  try {
    return await act(client);
  } finally {
    await client.query(end);
  }
}

const put = (store: Store, tasks: readonly NewTask[], tx: pg.Client | pg.Pool | object) =>
  store.enqueue(tasks, undefined, undefined, tx as pg.Client);

describe('in a transaction of Postgres', () => {
  test('tasks are there with its commit, and never where it is rolled back', async () => {
    const store = await scene.open();
    const [kept, lost] = [newTask({ key: 'kept' }), newTask({ key: 'lost' })];
    await inTransaction('commit', async (client) => {
      expect(await put(store, [kept], client)).toMatchObject([{ id: kept.id, isNew: true }]);
      expect(await store.find([kept.id])).toEqual([]);
    });
    await inTransaction('rollback', (client) => put(store, [lost], client));
    expect(await store.find([kept.id, lost.id])).toMatchObject([
      { id: kept.id, status: 'pending' },
    ]);
  });

  test('a row says the same as one that was enqueued by itself', async () => {
    const store = await scene.open();
    const wish = {
      priority: -3,
      queue: 'q"\\{},\'',
      payload: '{"text":"é \\u0041 \'\\" \\\\ "}',
      retriesMax: 4,
      deadlineMs: 60_000,
      due: { afterMs: 3_600_000 },
      traceParent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    };
    const [alone, within] = [newTask({ ...wish, key: 'a"' }), newTask({ ...wish, key: "b'\\" })];
    await store.enqueue([alone]);
    await inTransaction('commit', (client) => put(store, [within], client));
    const [one, other] = await Promise.all(
      [alone, within].map(async ({ id }) => {
        const text = 'select * from step_tracker where task_id = $1';
        const { rows } = await scene.client.query(text, [id]);
        const { task_id, key, created_at, last_update, run_at, deadline_at, ...rest } = rows[0];
        return { ...rest, lasts: Math.round((deadline_at - run_at) / 1_000) };
      }),
    );
    expect(other).toEqual(one);
  });

  test('a key that is there gives the task that has it, also within one transaction', async () => {
    const store = await scene.open();
    const first = newTask({ key: 'again' });
    await inTransaction('commit', async (client) => {
      await put(store, [first], client);
      const [second] = await put(store, [newTask({ key: 'again' })], client);
      expect(second).toMatchObject({ id: first.id, isNew: false });
    });
    const [third] = await store.enqueue([newTask({ key: 'again' })]);
    expect(third).toMatchObject({ id: first.id, isNew: false });
  });

  test('what is refused takes itself back, and the transaction goes on', async () => {
    const store = await scene.open();
    await scene.client.query(orders);
    const [kept, lost] = [newTask(), newTask()];
    await inTransaction('commit', async (client) => {
      await client.query('insert into orders (id) values ($1)', [kept.id]);
      const refusing = store.enqueue(
        [lost],
        () => {
          throw new Error('another input');
        },
        undefined,
        client,
      );
      await expect(refusing).rejects.toThrow('another input');
      await expect(put(store, [newTask({ payload: '\0' })], client)).rejects.toMatchObject({
        code: 'FLEETQ_STORE_REFUSED',
      });
      await put(store, [kept], client);
    });
    expect(await store.find([kept.id, lost.id])).toHaveLength(1);
    const { rows } = await scene.client.query('select id from orders where id = $1', [kept.id]);
    expect(rows).toHaveLength(1);
  });

  test('two at once on one client are both there, and one that fails takes none along', async () => {
    const store = await scene.open();
    const tasks = newTasks(6, {});
    await inTransaction('commit', async (client) => {
      const bad = put(store, [newTask({ payload: '\0' })], client);
      const good = tasks.map((task) => put(store, [task], client));
      await expect(bad).rejects.toThrow();
      await Promise.all(good);
    });
    expect(await store.find(tasks.map(({ id }) => id))).toHaveLength(6);
  });

  test('whoever listens hears of it when it commits, and not before', async () => {
    const store = await scene.open();
    const heard: string[] = [];
    const listener = await scene.connect();
    listener.on('notification', ({ payload }) => heard.push(String(payload)));
    await listener.query('listen fleetq_hint');
    await inTransaction('commit', async (client) => {
      await put(store, [newTask()], client);
      await listener.query('select 1');
      expect(heard).toEqual([]);
    });
    await expect.poll(() => heard).toEqual(['ready']);
  });

  test('a client without a transaction, a pool and another database are told so', async () => {
    const store = await scene.open();
    const pool = new pg.Pool({ connectionString: scene.url });
    const client = await scene.connect();
    const other = new pg.Client(await scene.server.createDatabase());
    await other.connect();
    try {
      await other.query('begin');
      for (const [tx, message] of [
        [client, 'tx is not in a transaction'],
        [pool, 'tx is not in a transaction'],
        [other, 'tx is a transaction of another database than the store'],
        [new Database(':memory:'), 'tx must be a client of Postgres, with query(text, values)'],
        [{ query: async () => 7 }, 'the query of tx answered neither rows nor { rows }'],
      ] as const) {
        const failure = await put(store, [newTask()], tx).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(TransactionError);
        expect(failure).toMatchObject({ message, code: 'FLEETQ_TRANSACTION' });
      }
    } finally {
      await Promise.all([pool.end(), other.end()]);
    }
  });

  test('the tables are found in their schema, whatever the client looks through', async () => {
    const url = new URL(await scene.server.createDatabase());
    url.searchParams.set('schema', 'it_s');
    const client = new pg.Client(url.href.split('?')[0]);
    await client.connect();
    await client.query('create schema it_s');
    const store = await openPostgresStore(url.href, { ...options, migrates: true });
    try {
      const task = newTask({ key: 'here' });
      await client.query('begin');
      await put(store, [task], client);
      await client.query('commit');
      expect(await store.find([task.id])).toHaveLength(1);
    } finally {
      await Promise.all([client.end(), store.close()]);
    }
  });

  test('rows may come as they are, as other drivers have them', async () => {
    const store = await scene.open();
    const tasks = newTasks(3);
    await inTransaction('commit', async (client) => {
      const query = async (text: string, values?: unknown[]) => {
        // No driver differs in how it sends a text.
        expect((values ?? []).every((value) => typeof value === 'string')).toBe(true);
        return (await client.query(text, values)).rows;
      };
      await put(store, tasks, { query });
    });
    expect(await store.find(tasks.map(({ id }) => id))).toHaveLength(3);
  });

  test('only tables are named in full', () => {
    const text = portable('update step_tracker t from (x for update of step_tracker) y', 's.t');
    expect(text).toBe('update s.t t from (x for update of step_tracker) y');
  });
});

describe('in a transaction of SQLite', () => {
  const open = async () => {
    const file = newDir('fleet.db');
    const store = await openMigrated(file);
    const database = new Database(file);
    database.pragma('synchronous = FULL');
    database.exec(orders);
    return { file, store, database };
  };

  test('tasks are there with its commit, and never where it is rolled back', async () => {
    const { store, database } = await open();
    const [kept, lost, bad] = [newTask({ key: 'k' }), newTask(), newTask({ payload: '\0' })];
    let hints = 0;
    await store.listen(() => {
      hints += 1;
    });
    database.exec('begin immediate');
    expect(await put(store, [kept], database)).toMatchObject([{ isNew: true }]);
    await expect(put(store, [bad], database)).rejects.toMatchObject({
      code: 'FLEETQ_STORE_REFUSED',
    });
    expect(await put(store, [newTask({ key: 'k' })], database)).toMatchObject([{ id: kept.id }]);
    expect(await store.find([kept.id])).toEqual([]);
    database.exec('commit');
    database.exec('begin immediate');
    await put(store, [lost], database);
    database.exec('rollback');
    expect(await store.find([kept.id, lost.id, bad.id])).toMatchObject([{ id: kept.id }]);
    await expect.poll(() => hints).toBeGreaterThan(0);
    database.close();
    await store.close();
  });

  test('what is no transaction of this file, or commits without the disk, is told so', async () => {
    const { store, database } = await open();
    const { database: other } = await open();
    const lazy = new Database(database.name);
    for (const one of [other, lazy]) one.exec('begin');
    for (const [tx, message] of [
      [database, 'tx is not in a transaction'],
      [other, 'tx is a transaction of another database than the store'],
      [lazy, 'a commit of tx is not on disk when it returns'],
      [{ query: async () => [] }, 'tx must be a database of better-sqlite3'],
    ] as const) {
      await expect(put(store, [newTask()], tx)).rejects.toMatchObject({
        message,
        code: 'FLEETQ_TRANSACTION',
      });
    }
    for (const one of [database, other, lazy]) one.close();
    await store.close();
  });
});

test('tables in memory say that they have no transactions', async () => {
  const store = new MemoryStore(new MemoryTables(PORTS));
  await expect(put(store, [newTask()], { query: async () => [] })).rejects.toMatchObject({
    message: 'a store in memory has no transactions',
  });
});

describe('a producer that is killed', () => {
  let sqlite: string;
  beforeAll(async () => {
    sqlite = newDir('fleet.db');
    await (await openMigrated(sqlite)).close();
    new Database(sqlite).exec(orders).close();
    await scene.client.query(orders);
  });

  /** Whether the row and the task of an order are there. */
  const look = async (store: string, task: string): Promise<[boolean, boolean]> => {
    if (store.startsWith('sqlite:')) {
      const database = new Database(sqlite, { readonly: true });
      const has = (text: string) => database.prepare(text).get(task) !== undefined;
      const found: [boolean, boolean] = [
        has('select 1 from orders where id = ?'),
        has('select 1 from step_tracker where task_id = ?'),
      ];
      database.close();
      return found;
    }
    const has = async (text: string) => (await scene.client.query(text, [task])).rows.length > 0;
    // A statement that was sent may still be on its way to its end.
    const busy = 'select 1 from pg_stat_activity where application_name = $1';
    await expect.poll(() => has(busy), { timeout: 90_000 }).toBe(false);
    return [
      await has('select 1 from orders where id = $1'),
      await has('select 1 from step_tracker where task_id = $1'),
    ];
  };

  const ask = (order: CallerOrder) => runChild('test/store/caller-tx-child.ts', order);

  for (const [name, addressOf] of [
    ['Postgres', () => scene.url],
    ['SQLite', () => `sqlite:${sqlite}`],
  ] as const) {
    test(`between any two statements leaves both or neither in ${name}`, async () => {
      const store = addressOf();
      const whole = newId();
      const { stdout } = await ask({ store, task: whole, diesAt: 0, sends: false });
      const count = Number(stdout);
      expect(count).toBeGreaterThan(6);
      expect(await look(store, whole)).toEqual([true, true]);
      const deaths = Array.from({ length: count }, (_, index) => ({
        diesAt: index + 1,
        sends: false,
      }));
      // A commit that was sent, and whose answer nobody waits for, may come to either.
      if (name === 'Postgres') deaths.push({ diesAt: count, sends: true });
      while (deaths.length > 0) {
        const ends = deaths.splice(0, 4).map(async ({ diesAt, sends }) => {
          const task = newId();
          expect((await ask({ store, task, diesAt, sends })).signal).toBe('SIGKILL');
          const [row, made] = await look(store, task);
          expect(row, `at ${diesAt} of ${count}`).toBe(made);
          if (!sends) expect(made).toBe(false);
        });
        await Promise.all(ends);
      }
    });
  }
});

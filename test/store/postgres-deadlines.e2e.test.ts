/** What a pod sees of a Postgres that is slow, frozen, dead, back again, or behind a pooler. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import {
  StoreOptionsError,
  StoreRefusedError,
  StoreUnreachableError,
} from '../../src/store/errors.ts';
import type { StoreOptions } from '../../src/store/options.ts';
import { readPostgresWay } from '../../src/store/postgres/options.ts';
import { Pool } from '../../src/store/postgres/pool.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Hint } from '../../src/store/store.ts';
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { newTask, newTasks } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres({ own: [] });
const DEADLINE_MS = 500;
/** So long that one of them is told from two on a slow host. */
const FROZEN_MS = 3_000;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

function openPool(more: Partial<StoreOptions> = {}): Pool {
  const all = { ...options, deadlineMs: DEADLINE_MS, poolSize: 1, ...more };
  const pool = new Pool(readPostgresWay(scene.url, all), systemClock, systemRandom);
  opened.push(pool);
  return pool;
}

async function pidOf(pool: Pool): Promise<number> {
  return (await pool.query('select pg_backend_pid() as pid'))[0]!['pid'] as number;
}

async function isThere(pid: number): Promise<boolean> {
  const text = 'select 1 from pg_stat_activity where pid = $1';
  return ((await scene.client.query(text, [pid])).rowCount ?? 0) > 0;
}

test('the server gives up before we do, and its backend is free again', async () => {
  const pool = openPool();
  const [row] = await pool.query(
    `select setting from pg_settings where name = 'statement_timeout'`,
  );
  expect(Number(row!['setting'])).toBeGreaterThan(0);
  expect(Number(row!['setting'])).toBeLessThan(DEADLINE_MS);
  const startedAt = performance.now();
  const hanging = pool.query('select pg_sleep(60)');
  await expect(hanging).rejects.toThrow(StoreUnreachableError);
  await expect(hanging).rejects.toThrow(/57014/);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  const running = `select 1 from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()
    and state = 'active'`;
  // The error is on its way before the backend has put down that it is idle.
  await vi.waitFor(
    async () => expect((await scene.client.query(running)).rowCount).toBe(0),
    90_000,
  );
});

test('a statement that waits for a lock too long is unreachable, and took no effect', async () => {
  const store = await openPostgresStore(scene.url, { ...options, deadlineMs: DEADLINE_MS });
  opened.push(store);
  const other = await scene.connect();
  await other.query('begin; lock table step_tracker in access exclusive mode');
  await expect(store.enqueue(newTasks(1))).rejects.toThrow(StoreUnreachableError);
  await other.query('rollback');
  expect(await store.list({ countMax: 10 })).toEqual([]);
});

test.skipIf(process.env['FLEETQ_TEST_POSTGRES_URL'])(
  'a backend that is frozen costs one deadline: its connection is destroyed, the next call has another',
  async () => {
    const pool = openPool({ deadlineMs: FROZEN_MS });
    const pid = await pidOf(pool);
    process.kill(pid, 'SIGSTOP');
    try {
      const startedAt = performance.now();
      const frozen = pool.query('select 1');
      await expect(frozen).rejects.toThrow(StoreUnreachableError);
      await expect(frozen).rejects.toThrow(`within ${FROZEN_MS} ms`);
      const elapsedMs = performance.now() - startedAt;
      expect(elapsedMs).toBeGreaterThanOrEqual(FROZEN_MS - 5);
      expect(elapsedMs).toBeLessThan(2 * FROZEN_MS);
      expect(await pidOf(pool)).not.toBe(pid);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await vi.waitFor(async () => expect(await isThere(pid)).toBe(false), 90_000);
  },
);

test('a call that finds no free connection in time is unreachable, and takes none later', async () => {
  const pool = openPool({ deadlineMs: 300 });
  const slow = pool.transaction((send) => send('select pg_sleep(0.6)'), {
    deadlineMs: 2_000,
    serverMs: 1_500,
  });
  await expect(pool.query('select 1')).rejects.toThrow(StoreUnreachableError);
  await slow;
  expect(await pool.query('select 1 as one')).toEqual([{ one: 1 }]);
});

test('a call that waited for its connection leaves the server less time than it has itself', async () => {
  const pool = openPool({ deadlineMs: 1_000 });
  await pool.query('select 1');
  const holding = pool.transaction((send) => send('select pg_sleep(0.5)'));
  const write = `with slow as (select pg_sleep(0.7))
    insert into queue_limits (queue) select 'late' from slow`;
  await expect(pool.query(write)).rejects.toThrow(StoreUnreachableError);
  await holding;
  const running = `select 1 from pg_stat_activity
    where query like '%late%' and state = 'active' and pid <> pg_backend_pid()`;
  await vi.waitFor(
    async () => expect((await scene.client.query(running)).rowCount).toBe(0),
    90_000,
  );
  // What the caller was refused has not taken effect since.
  expect(await pool.query(`select 1 from queue_limits where queue = 'late'`)).toEqual([]);
});

test('an error of a statement keeps the connection, and rolls a transaction back', async () => {
  const pool = openPool();
  const pid = await pidOf(pool);
  await expect(pool.query('select 1 / 0')).rejects.toThrow(StoreRefusedError);
  const failing = pool.transaction(async (send) => {
    await send(`insert into queue_limits (queue) values ('half')`);
    await send('select 1 / 0');
  });
  await expect(failing).rejects.toThrow(StoreRefusedError);
  expect(await pool.query(`select * from queue_limits where queue = 'half'`)).toEqual([]);
  expect(await pidOf(pool)).toBe(pid);
});

test('a statement that lost against a rival is tried again before anybody hears of it', async () => {
  const pool = openPool({ deadlineMs: 5_000 });
  let attempts = 0;
  const answer = await pool.transaction(async (send) => {
    attempts += 1;
    if (attempts < 3) await send(`do $$ begin raise exception using errcode = '40001'; end $$`);
    return attempts;
  });
  expect(answer).toBe(3);
  const busy = pool.query(`do $$ begin raise exception using errcode = '40P01'; end $$`);
  await expect(busy).rejects.toMatchObject({ code: 'FLEETQ_STORE_BUSY', verdict: 'retry' });
});

test('an address that leads nowhere, or to nobody, says what is wrong', async () => {
  // It may be away for a while: whoever asks for something learns of it, and may ask again.
  const nowhere = await openPostgresStore('postgres://postgres@127.0.0.1:1/none', options);
  opened.push(nowhere);
  await expect(nowhere.checkSchema()).rejects.toThrow(StoreUnreachableError);
  const made = openPostgresStore('postgres://postgres@127.0.0.1:1/none', {
    ...options,
    migrates: true,
  });
  await expect(made).rejects.toThrow(StoreUnreachableError);
  const missing = openPostgresStore(scene.url.replace(/\/[^/]*$/, '/missing'), options);
  await expect(missing).rejects.toThrow(StoreOptionsError);
  for (const bad of ['mysql://x', 'postgres://h/d?claim=first', 'postgres://h/d?pooled=maybe']) {
    await expect(openPostgresStore(bad, options)).rejects.toThrow(StoreOptionsError);
  }
  const both = openPostgresStore('postgres://h/d?pooled=true&schema=one', options);
  await expect(both).rejects.toThrow(StoreOptionsError);
});

describe.skipIf(process.env['FLEETQ_TEST_POSTGRES_URL'])('a server that dies', () => {
  // Of the children too: those of a server that is killed alone answer for a moment.
  test.each(['killAll', 'immediate'] as const)(
    '(%s) is unreachable until it is back, with everything it acknowledged',
    async (how) => {
      await scene.client.query('truncate step_tracker, pod_health');
      const store = await openPostgresStore(scene.url, { ...options, deadlineMs: 2_000 });
      opened.push(store);
      const heard: Hint[] = [];
      const stop = await store.listen((hint) => heard.push(hint));
      expect(stop).toBeDefined();
      const tasks = newTasks(20);
      await store.enqueue(tasks);
      await scene.server.crash(how);
      await expect(store.list({ countMax: 1 })).rejects.toThrow(StoreUnreachableError);
      await expect(store.enqueue(newTasks(1))).rejects.toThrow(StoreUnreachableError);
      heard.length = 0;
      await scene.server.start();
      await scene.reconnect();
      expect(await store.list({ countMax: 100 })).toHaveLength(20);
      await store.register(birthOf('alder'));
      expect(await store.claim(claimRequest(podOf('alder')))).toHaveLength(20);
      // The listener is back by itself, and says that anything may have happened meanwhile.
      await vi.waitFor(
        () => expect(heard).toEqual(expect.arrayContaining(['ready', 'ended'])),
        90_000,
      );
      heard.length = 0;
      await store.enqueue([newTask()]);
      await vi.waitFor(() => expect(heard).toContain('ready'), 90_000);
      await stop!();
      heard.length = 0;
      await store.enqueue([newTask()]);
      await sleep(100);
      expect(heard).toEqual([]);
    },
  );
});

test('many hints at once are few notifications', async () => {
  const store = await openPostgresStore(scene.url, options);
  opened.push(store);
  const heard: Hint[] = [];
  const stop = await store.listen((hint) => heard.push(hint));
  for (let index = 0; index < 50; index += 1) await store.enqueue([newTask()]);
  await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(2), 90_000);
  await sleep(200);
  expect(heard.length).toBeLessThan(40);
  await stop!();
});

const pgBouncer = findPgBouncer();
describe.skipIf(pgBouncer === undefined)('a pooler on the way', () => {
  const withPooler = async (
    settings: readonly string[],
    act: (address: string) => Promise<void>,
  ) => {
    const pooler = await startPgBouncer(pgBouncer!, scene.server, settings);
    try {
      await act(pooler.through(scene.url));
    } finally {
      await pooler.stop();
    }
  };

  test('that nobody mentioned is named, with the word to add', () =>
    withPooler([], async (address) => {
      const opening = openPostgresStore(address, options);
      await expect(opening).rejects.toThrow(StoreOptionsError);
      await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining('pooled=true') });
    }));

  test('needs a role with a time limit below our deadline', () =>
    withPooler([], async (address) => {
      const unlimited = openPostgresStore(`${address}?pooled=true`, options);
      await expect(unlimited).rejects.toThrow(StoreOptionsError);
      await expect(unlimited).rejects.toMatchObject({
        hint: expect.stringContaining('alter role … set statement_timeout'),
      });
      await scene.client.query(`create role fleetq_pooled superuser login`);
      await scene.client.query(`alter role fleetq_pooled set statement_timeout = '5s'`);
      const limited = `${address.replace(/\/\/[^@]*@/, '//fleetq_pooled@')}?pooled=true`;
      const late = openPostgresStore(limited, { ...options, deadlineMs: 4_000 });
      await expect(late).rejects.toThrow(StoreOptionsError);
      const store = await openPostgresStore(limited, options);
      expect(await store.listen(() => {})).toBeUndefined();
      await store.close();
    }));

  test('that swallows LISTEN is found out: nobody relies on hints that do not come', () =>
    withPooler(['ignore_startup_parameters = options'], async (address) => {
      const store = await openPostgresStore(address, options);
      opened.push(store);
      expect(await store.listen(() => {})).toBeUndefined();
    }));
});

/** `persistIn: 'store'`: what persist writes by its `tx` is there exactly when the run's record is. */
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { StoreTx } from '../../src/index.ts';
import {
  aesCodec,
  createFleet,
  defineMachine,
  type Fleet,
  type Json,
  listen,
  openStore,
} from '../../src/index.ts';
import type { EventRow } from '../../src/journal/journal.ts';
import { decodeRows } from '../../src/journal/record.ts';
import { usePostgres } from '../store/postgres-harness.ts';
import { type CommitFault, CommitProxy } from '../support/commit-proxy.ts';
import { crashImage, useTempDirs } from '../support/temp-dir.ts';

const scene = usePostgres();
const newDir = useTempDirs();
const opened: { [Symbol.asyncDispose](): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

interface Place {
  readonly store: string;
  readonly insert: string;
  rows(text: string): Promise<Record<string, unknown>[]>;
}

async function postgresPlace(): Promise<Place> {
  const store = await scene.server.createDatabase();
  const client = new pg.Client(store);
  await client.connect();
  opened.push({ [Symbol.asyncDispose]: () => client.end() });
  await client.query('create table ledger (id text)');
  const rows = async (text: string) => (await client.query(text)).rows;
  return { store, rows, insert: 'insert into ledger (id) values ($1)' };
}

async function sqlitePlace(): Promise<Place> {
  const file = newDir('fleet.db');
  const open = await createFleet({
    machines: [],
    store: `sqlite:${file}`,
    migrates: true,
    isClient: true,
    dataDir: newDir(),
  });
  await open.drain();
  const database = new Database(file);
  database.exec('create table ledger (id text)');
  opened.push({ [Symbol.asyncDispose]: async () => void database.close() });
  const rows = async (text: string) => database.prepare(text).all() as Record<string, unknown>[];
  return { store: `sqlite:${file}`, rows, insert: 'insert into ledger (id) values (?)' };
}

const input = z.object({ id: z.string() });
const codec = aesCodec({
  keys: { one: Buffer.alloc(32, 7).toString('base64') },
  current: 'one',
});
const retry = { attemptMax: 9, backoff: () => 1 };
const until = { timeout: '90s' } as const;

interface Given {
  readonly tx: StoreTx;
  readonly id: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** Machines whose persist the test gives, by the id of the input. */
function machinesOf(acts: Map<string, (given: Given) => Promise<Json>>) {
  const act = ({ id, ...given }: Given) => acts.get(id)!({ id, ...given });
  const child = defineMachine({
    name: 'child',
    version: 1,
    input,
    check: 'none',
    work: ({ input: { id } }) => id,
  });
  const pay = defineMachine({
    name: 'pay',
    version: 1,
    input,
    retry,
    timeout: { persist: '3s' },
    output: z.any().refine(async (output) => output !== 'unfit'),
    check: 'none',
    work: () => 7,
    persistIn: 'store',
    persist: ({ tx, input: { id }, attempt, signal }) => act({ tx, id, attempt, signal }),
  });
  const twice = defineMachine({
    name: 'twice',
    version: 1,
    input,
    retry,
    steps: (line) =>
      line
        .step('first', {
          check: 'none',
          work: () => 1,
          persistIn: 'store',
          persist: ({ tx, input: { id }, attempt, signal }) => act({ tx, id, attempt, signal }),
        })
        .step('second', {
          check: 'none',
          work: () => 2,
          persistIn: 'store',
          persist: async ({ tx, state, input: { id } }) => {
            await tx.query(`insert into ledger (id) values ('${id} second')`);
            return state.first;
          },
        }),
  });
  return { child, pay, twice };
}

for (const [name, make] of [
  ['Postgres', postgresPlace],
  ['SQLite', sqlitePlace],
] as const) {
  describe(name, () => {
    let place: Place;
    let fleet: Fleet;
    const acts = new Map<string, (given: Given) => Promise<Json>>();
    const { child, pay, twice } = machinesOf(acts);
    beforeAll(async () => {
      place = await make();
      fleet = await createFleet({
        machines: [child, pay, twice],
        store: place.store,
        migrates: true,
        dataDir: newDir(),
        heartbeat: '100ms',
        silence: '20s',
        codec,
      });
      // Before what the place holds: a drain still has to reach its store.
      opened.unshift(fleet);
    });

    const ledger = async (id: string) =>
      (await place.rows(`select id from ledger where id like '${id}%' order by id`)).map(
        (row) => row['id'],
      );

    test('the rows of persist and the end of the run come together', async () => {
      acts.set('a', async ({ tx, id }) => {
        await tx.query(place.insert, [id]);
        const found = await tx.query<{ id: string }>('select id from ledger');
        return { count: found.length };
      });
      const task = await fleet.enqueue(pay, { id: 'a' });
      expect(await task.result(until)).toEqual({ count: 1 });
      expect(await ledger('a')).toEqual(['a']);
      const [row] = await fleet.store.find([task.id]);
      expect(row).toMatchObject({ status: 'completed', crashes: 0, lastSeq: 2 });
      // Its result is sealed there, as any other.
      const [raw] = await place.rows('select result from step_tracker');
      expect(String(raw?.['result'])).not.toContain('count');
      expect(await fleet.store.violations()).toEqual([]);
    });

    test('a persist that throws, or answers what does not fit, has written nothing', async () => {
      acts.set('b', async ({ tx, id, attempt }) => {
        await tx.query(place.insert, [`${id} ${attempt}`]);
        if (attempt === 1) throw new Error('at first');
        return attempt;
      });
      acts.set('c', async ({ tx, id }) => {
        await tx.query(place.insert, [id]);
        return 'unfit';
      });
      const [flaky, unfit] = await Promise.all([
        fleet.enqueue(pay, { id: 'b' }),
        fleet.enqueue(pay, { id: 'c' }),
      ]);
      expect(await flaky.result(until)).toBe(2);
      await expect(unfit.result(until)).rejects.toThrow('does not fit its schema');
      expect([await ledger('b'), await ledger('c')]).toEqual([['b 2'], []]);
    });

    test('a run of several steps goes on from there, and tasks may be enqueued in it', async () => {
      acts.set('d', async ({ tx, id, attempt }) => {
        await tx.query(place.insert, [`${id} first`]);
        const made = await fleet.enqueue(child, { id }, { tx, key: id });
        if (attempt === 1) throw new Error('taken back');
        return made.id;
      });
      const task = await fleet.enqueue(twice, { id: 'd' });
      const id = await task.result(until);
      expect(await fleet.taskById(id as string, 'child').result(until)).toBe('d');
      expect(await ledger('d')).toEqual(['d first', 'd second']);
      const children = `select task_id from step_tracker where machine = 'child'`;
      expect(await place.rows(children)).toHaveLength(1);
      // Nothing in the history twice, and no hole in it.
      const segments = await fleet.store.histories([{ task: task.id, generation: 1 }]);
      const rows = segments.flatMap(({ events }) => JSON.parse(events) as EventRow[]);
      const written = rows.map((row) => ({ ...row, lsn: 0, run: task.id }));
      const records = decodeRows(task.id, written, codec);
      expect(records.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
    });

    test('a persist that takes too long is taken back, and a late word of it is refused', async () => {
      let late: Promise<unknown> | undefined;
      acts.set('e', async ({ tx, id, attempt, signal }) => {
        await tx.query(place.insert, [`${id} ${attempt}`]);
        if (attempt > 1) return attempt;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        late = new Promise((resolve) => setTimeout(resolve, 100)).then(() =>
          tx.query(place.insert, ['e too late']),
        );
        late.catch(() => undefined);
        return attempt;
      });
      const task = await fleet.enqueue(pay, { id: 'e' });
      expect(await task.result(until)).toBe(2);
      await expect(late).rejects.toMatchObject({ code: 'FLEETQ_TRANSACTION' });
      expect(await ledger('e')).toEqual(['e 2']);
    });

    test('a cancel inside persist takes everything back', async () => {
      let begun = () => {};
      const isBegun = new Promise<void>((resolve) => {
        begun = resolve;
      });
      acts.set('f', async ({ tx, id, signal }) => {
        // A SQLite file that persist has written to takes no other word until it is over.
        if (name === 'Postgres') await tx.query(place.insert, [id]);
        begun();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await tx.query(place.insert, [id]);
        return 1;
      });
      const task = await fleet.enqueue(pay, { id: 'f' });
      await isBegun;
      await task.cancel('not wanted');
      await expect(task.result(until)).rejects.toMatchObject({ code: 'FLEETQ_RUN_CANCELLED' });
      expect(await ledger('f')).toEqual([]);
    });

    test('a local run is refused, and one that writes nothing ends as any other', async () => {
      acts.set('g', async () => 1);
      await expect(fleet.startLocal(pay, { id: 'g' })).rejects.toMatchObject({
        code: 'FLEETQ_NEEDS_STORE',
      });
      const task = await fleet.enqueue(pay, { id: 'g' });
      expect(await task.result(until)).toBe(1);
    });
  });
}

test('commits in doubt are made once, whatever became of their answers', async () => {
  const faults: (CommitFault | undefined)[] = ['late', 'commitLost', 'answerLost', undefined];
  const { host, port } = scene.server;
  const proxy = new CommitProxy({ host, port, faultOf: () => faults.shift(), lateMs: 3_500 });
  await proxy.start();
  const place = await postgresPlace();
  const acts = new Map<string, (given: Given) => Promise<Json>>();
  const { pay, twice, child } = machinesOf(acts);
  await (await openStore(place.store, { migrates: true })).close();
  const store = proxy.through(place.store);
  const fleet = await createFleet({ machines: [pay, twice, child], store, dataDir: newDir() });
  const outcomes: string[] = [];
  const stop = listen('phase.ended', ({ phase, outcome, error }) => {
    if (phase === 'persist') outcomes.push(error ? `${outcome} by ${error.code}` : outcome);
  });
  opened.push({ [Symbol.asyncDispose]: async () => stop() });
  let calls = 0;
  const ids = ['1', '2', '3', '4'];
  for (const id of ids) {
    acts.set(id, async ({ tx }) => {
      calls += 1;
      await tx.query(place.insert, [id]);
      return id;
    });
    const task = await fleet.enqueue(id === '4' ? twice : pay, { id });
    expect(await task.result(until)).toBe(id);
    if (id === '3') faults.push('late', 'answerLost');
  }
  const rows = await place.rows('select id from ledger order by id');
  expect(rows.map(({ id }) => id)).toEqual([...ids, '4 second']);
  // Only the one that never reached the server was called again.
  expect([calls, faults]).toEqual([5, []]);
  // And at once, by whoever had called it: what was believed wrongly is put right later, by others.
  const lost = 'retried by FLEETQ_COMMIT_LOST';
  expect(outcomes).toEqual(['done', lost, 'done', 'done', 'done', 'done']);
  await fleet.drain();
  proxy.stop();
});

test('a process that died before its disk had the record goes on from the store, in silence', async () => {
  const place = await sqlitePlace();
  const acts = new Map<string, (given: Given) => Promise<Json>>();
  const { pay, twice, child } = machinesOf(acts);
  const dataDir = newDir();
  const alarms: string[] = [];
  const stop = listen('journal.alarm', ({ kind }) => alarms.push(kind));
  opened.push({ [Symbol.asyncDispose]: async () => stop() });
  const open = () => createFleet({ machines: [pay, twice, child], store: place.store, dataDir });
  const fleet = await open();
  let calls = 0;
  let left = '';
  acts.set('h', async ({ tx, id }) => {
    calls += 1;
    await tx.query(place.insert, [id]);
    left = crashImage(dataDir, newDir());
    return id;
  });
  const committed = new Promise<void>((resolve) => {
    const stopListening = listen('run.recorded', ({ state }) => {
      if (state !== 'second.work') return;
      stopListening();
      // As by SIGKILL: the store has the record, and the picture of the disk has not.
      fleet.stopNow();
      resolve();
    });
  });
  const { id: task } = await fleet.enqueue(twice, { id: 'h' });
  await committed;
  // The same disk, as it was then.
  crashImage(left, dataDir);
  const next = await open();
  opened.unshift(next);
  expect(await next.taskById(task, 'twice').result(until)).toBe('h');
  const rows = await place.rows('select id from ledger order by id');
  expect(rows.map(({ id }) => id)).toEqual(['h', 'h second']);
  expect([calls, alarms]).toEqual([1, []]);
});

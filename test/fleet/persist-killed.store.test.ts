/**
 * Backends of a real Postgres are killed around the commit of a persist. Whatever the moment, what persist
 * has written is there once, and there exactly when the run's record is.
 *
 *   persist ── rows ──┬── record ──┬── commit ──┬── counts ──┬── answered
 *                     ╳            ╳            ╳            ╳
 */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { createFleet, defineMachine, type Fleet, listen, type StoreTx } from '../../src/index.ts';
import { usePostgres } from '../store/postgres-harness.ts';
import { CommitProxy } from '../support/commit-proxy.ts';
import { useTempDirs } from '../support/temp-dir.ts';

// Nobody is there to wait for: whoever asks for it commits, and waits for ever to say so.
const scene = usePostgres({
  own: ['synchronous_standby_names=nobody', 'synchronous_commit=local'],
});
const newDir = useTempDirs();
const until = { timeout: '120s' } as const;

interface Moment {
  readonly tx: StoreTx;
  readonly id: string;
  readonly pid: number;
}

interface Attack {
  /** In the first persist, once its row is written. What it starts is over by itself. */
  readonly inside?: (moment: Moment) => Promise<void>;
  /** What its backend then waits for when it is killed. */
  readonly waitsFor?: string;
  readonly atCommit?: true;
  /** How often persist is called at least. */
  readonly calls: 1 | 2;
}

let admin: pg.Client;
let rival: pg.Client;
let isEvery = false;
let kills = 0;

/** Answers once they are gone. */
async function kill(pid: number): Promise<void> {
  kills += 1;
  await admin.query(
    `select pg_terminate_backend(pid, 60000) from pg_stat_activity
      where pid = $1 or ($2 and datname = current_database() and backend_type = 'client backend'
        and application_name <> 'the test')`,
    [pid, isEvery],
  );
}

async function killWhere(pid: number, waitsFor: string): Promise<void> {
  const look = 'select wait_event from pg_stat_activity where pid = $1';
  const waits = async () => (await admin.query(look, [pid])).rows[0]?.wait_event;
  await expect.poll(waits, { timeout: 60_000, interval: 5 }).toBe(waitsFor);
  await kill(pid);
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'while persist still writes': {
    inside: async ({ tx, pid, id }) => {
      await kill(pid);
      await tx.query('insert into ledger (id) values ($1)', [id]);
    },
    calls: 2,
  },
  'between persist and its record': { inside: ({ pid }) => kill(pid), calls: 2 },
  'inside its record': {
    inside: async ({ id }) => {
      await rival.query('begin');
      await rival.query('select 1 from step_tracker where serial_key = $1 for update', [id]);
    },
    waitsFor: 'transactionid',
    calls: 2,
  },
  'between its record and the commit': { atCommit: true, calls: 2 },
  'inside the commit, before it counts': {
    inside: async ({ tx, id }) => {
      await tx.query('insert into slow (id) values ($1)', [id]);
    },
    waitsFor: 'PgSleep',
    calls: 2,
  },
  'inside the commit, once it counts': {
    inside: async ({ tx }) => {
      await tx.query('set local synchronous_commit to on');
    },
    waitsFor: 'SyncRep',
    calls: 1,
  },
};

let attack: Attack | undefined;
let calls = 0;
let committing: number | undefined;
let killing: Promise<void> | undefined;

async function persist({ tx, input: { id } }: { tx: StoreTx; input: { id: string } }) {
  calls += 1;
  await tx.query('insert into ledger (id) values ($1)', [id]);
  const [now, of] = [attack, await tx.query<{ pid: number }>('select pg_backend_pid() as pid')];
  attack = undefined;
  if (now === undefined) return id;
  const { pid } = of[0]!;
  if (now.atCommit) committing = pid;
  await now.inside?.({ tx, id, pid });
  const { waitsFor } = now;
  if (waitsFor) killing = killWhere(pid, waitsFor).then(freeRow);
  return id;
}

async function freeRow(): Promise<void> {
  await rival.query('rollback');
}

const retry = { attemptMax: 50, backoff: () => 5 };
const input = z.object({ id: z.string() });
const step = { check: 'none', work: () => 7, persistIn: 'store', persist } as const;
const ends = defineMachine({ name: 'ends', version: 1, input, retry, ...step });
const goesOn = defineMachine({
  ...{ name: 'goes-on', version: 1, input, retry },
  steps: (line) =>
    line.step('first', step).step('second', { check: 'none', work: ({ state }) => state.first }),
});

let fleet: Fleet;
let proxy: CommitProxy;
const alarms: string[] = [];
const stop = listen('journal.alarm', ({ kind }) => alarms.push(kind));
beforeAll(async () => {
  [admin, rival] = [await scene.connect(), await scene.connect()];
  for (const client of [scene.client, admin, rival]) {
    await client.query(`set application_name to 'the test'`);
  }
  await admin.query(`
    create table ledger (id text); create table slow (id text);
    create function sleep() returns trigger language plpgsql as
      'begin perform pg_sleep(600); return null; end';
    create constraint trigger sleeps after insert on slow deferrable initially deferred
      for each row execute function sleep()`);
  const { host, port } = scene.server;
  const beforeCommit = async () => {
    const pid = committing;
    committing = undefined;
    if (pid !== undefined) await kill(pid);
  };
  proxy = new CommitProxy({ host, port, faultOf: () => undefined, beforeCommit });
  await proxy.start();
  fleet = await createFleet({
    ...{ machines: [ends, goesOn], store: proxy.through(scene.url), dataDir: newDir() },
    ...{ heartbeat: '500ms', silence: '300s', socket: false },
  });
});
afterAll(async () => {
  await fleet?.drain();
  proxy?.stop();
  stop();
});

const cases = Object.keys(ATTACKS).flatMap((when) => [
  ['every backend', when, ends.name, ends] as const,
  ['its backend', when, goesOn.name, goesOn] as const,
]);

test.each(cases)('%s is killed %s: %s once', async (whose, when, _name, machine) => {
  const id = `${whose}, ${when}`;
  [attack, isEvery] = [ATTACKS[when], whose === 'every backend'];
  [calls, kills, killing] = [0, 0, undefined];
  const task = await fleet.enqueue(machine, { id }, { serialKey: id });
  expect(await task.result(until)).toBe(id);
  await killing;
  expect(kills).toBe(1);
  const { rows } = await admin.query('select id from ledger where id = $1', [id]);
  expect(rows).toEqual([{ id }]);
  expect((await admin.query('select 1 from slow')).rows).toEqual([]);
  if (ATTACKS[when]!.calls === 1) expect(calls).toBe(1);
  else expect(calls).toBeGreaterThanOrEqual(2);
  expect(await fleet.store.violations()).toEqual([]);
  expect(alarms).toEqual([]);
});

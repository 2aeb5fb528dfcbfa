/** Serial keys on Postgres: what they cost beside a crowd, and what is found again after a crash. */
import { beforeEach, expect, test } from 'vitest';
import {
  giveArrivals,
  giveOverdue,
  giveTurns,
  markArrivals,
} from '../../src/store/postgres/turns.sql.ts';
import { explain } from './explained.ts';
import { completed, ids, newTask } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const alder = podOf('alder');
const CROWD = 100_000;

beforeEach(() => emptyTables(scene.client, ['step_tracker', 'run_events', 'pod_health']));

/** As many of one key as wanted, and one that has the turn. */
async function crowd(serialKey: string, count: number, waitingOn: string | null): Promise<void> {
  await scene.client.query(
    `insert into step_tracker (machine, payload, status, wait_for, waiting_on, serial_key, run_at)
     select 'sample/one', '{}', 'waiting', 'turn', $2, $1, now() - n * interval '1 ms'
       from generate_series(1, ${count}) as n`,
    [serialKey, waitingOn],
  );
}

test('a crowd of one key costs no more than a few of it', async () => {
  await scene.client.query('analyze');
  await crowd('flood', CROWD, 'another');
  for (let number = 0; number < 50; number += 1) await crowd(`key-${number}`, 2, 'another');
  const looked = async (text: string, ...values: unknown[]) =>
    (await explain(scene.client, 'step_tracker', { text, values }, 'select 1')).rows;
  for (const analyse of ['select 1', 'analyze step_tracker']) {
    await scene.client.query(analyse);
    expect(await looked(giveTurns, ['default'], ['flood'], [null])).toBeLessThan(10);
    expect(await looked(giveArrivals, 500)).toBeLessThan(10);
    expect(await looked(markArrivals, 500)).toBeLessThan(10);
    expect(await looked(giveOverdue, '', '', 200)).toBeLessThan(51 * 6);
  }
});

test('a turn that nobody gave on, for whoever was to died just then, is found again', async () => {
  const store = await scene.open();
  await store.register(birthOf('alder'));
  const serialKey = 'customer-7';
  const [first, second] = ids(
    await store.enqueue([newTask({ serialKey }), newTask({ serialKey })]),
  );
  const [claim] = await store.claim(claimRequest(alder));
  // It has been looked at, and waits behind the first: no arrival any more.
  await store.claim(claimRequest(alder));
  const statement = `update step_tracker set status = 'completed', outcome = 'completed',
    finished_at = now(), claimed_by = null, serial_held = false where task_id = $1`;
  await scene.client.query(statement, [first]);
  expect(await store.settle(alder, [completed(claim!)])).toMatchObject([{ kind: 'done' }]);
  const another = await scene.open();
  expect(ids(await another.claim(claimRequest(alder)))).toEqual([second]);
});

test('a turn that was given before its giver could say where it stands is put in its place', async () => {
  const store = await scene.open();
  const serialKey = 'customer-7';
  const [next] = ids(await store.enqueue([newTask({ serialKey })]));
  const placeOf = async () => {
    const text =
      'select extract(epoch from run_at)::float8 as place from step_tracker where task_id = $1';
    return (await scene.client.query(text, [next])).rows[0].place as number;
  };
  const due = await placeOf();
  for (const servedUntil of [due + 60, due + 30, null]) {
    await scene.client.query(giveTurns, [['default'], [serialKey], [servedUntil]]);
    expect(await placeOf()).toBeCloseTo(due + 60, 3);
  }
});

test('two who give the same turn at once give it once', async () => {
  const [one, other] = [await scene.connect(), await scene.connect()];
  await crowd('customer-7', 2, 'another');
  await one.query('begin');
  const values = [['default'], ['customer-7'], [null]];
  await one.query(giveTurns, values);
  const waiting = other.query(giveTurns, values);
  await one.query('commit');
  expect((await waiting).rows).toMatchObject([{ is_given: false }]);
  const { rows } = await scene.client.query('select task_id from step_tracker where serial_held');
  expect(rows).toHaveLength(1);
});

test('the tables refuse a task that has a serial key and neither has nor awaits its turn', async () => {
  const insert = (columns: string, values: string) =>
    scene.client.query(
      `insert into step_tracker (machine, payload, serial_key, ${columns})
       values ('sample/one', '{}', 'k', ${values})`,
    );
  await expect(insert('status', `'pending'`)).rejects.toThrow(/serial_/);
  await expect(insert('status, wait_for', `'waiting', 'time'`)).rejects.toThrow(/serial_waits/);
  await insert('status, serial_held', `'pending', true`);
  await expect(insert('status, serial_held', `'pending', true`)).rejects.toThrow(
    /step_tracker_serial/,
  );
});

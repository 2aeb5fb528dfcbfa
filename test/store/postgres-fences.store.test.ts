/**
 * The fences against real concurrency: one side holds a transaction open at its worst moment, the
 * other side is the store. Each test fails when the lock, its kind, or its place is changed.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { StoreBusyError } from '../../src/store/errors.ts';
import { beatPod, fenceProvenPod } from '../../src/store/postgres/pod-health.sql.ts';
import { claimTasks } from '../../src/store/postgres/step-tracker-claim.sql.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { cancelTask } from './acts.ts';
import { completed, ids, newId, newTasks, ROUTE, released, segment } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const [alder, birch, sweeper] = [podOf('alder'), podOf('birch'), podOf('sweeper')];
let store: Store;
let rival: Store;
/** Whoever is in the middle of something. */
let other: pg.Client;

beforeAll(async () => {
  store = await scene.open();
  rival = await scene.open();
  other = await scene.connect();
});

beforeEach(async () => {
  await other.query('rollback');
  await emptyTables(scene.client, ['pod_health', 'step_tracker', 'run_events']);
  for (const name of ['alder', 'birch', 'sweeper']) await store.register(birthOf(name));
});

async function claimSome(count: number): Promise<ClaimedTask[]> {
  await store.enqueue(newTasks(count));
  const claims = await store.claim(claimRequest(alder, { countMax: count }));
  expect(claims).toHaveLength(count);
  return [...claims].sort((one, another) => (one.task < another.task ? -1 : 1));
}

/** Resolves once the store has a statement that waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  for (let look = 0; look < 500; look += 1) {
    if ((await scene.client.query(waiting)).rowCount) return;
    await sleep(5);
  }
  throw new Error('nobody waits');
}

const kinds = (answers: readonly { kind: string }[]) => answers.map(({ kind }) => kind);
const begin = () => other.query('begin');
const fenceByOther = () => other.query(fenceProvenPod, [alder, sweeper]);
const claimByOther = (pod: string, mode: 'skip-locked' | 'cas' = 'skip-locked') =>
  other.query(claimTasks[mode].ready, [
    pod,
    [ROUTE],
    'journal',
    10,
    '{}',
    [],
    'token',
    1_000,
    null,
    10,
  ]);
/** As a settle in flight holds it. */
const holdAsSettle = () =>
  other.query(`select 1 from pod_health where pod_id = $1 for key share`, [alder]);

test('a settle that meets a sweep waits for it, and then writes nothing', async () => {
  const claims = await claimSome(3);
  await begin();
  await fenceByOther();
  const settling = store.settle(
    alder,
    claims.map((claim) => completed(claim, { tail: segment(claim, 0, 2) })),
  );
  await untilSomebodyWaits();
  await other.query('commit');
  expect(kinds(await settling)).toEqual(['lost', 'lost', 'lost']);
  expect((await scene.client.query('select * from run_events')).rowCount).toBe(0);
  expect(ids(await store.held(alder, '', 10))).toEqual(ids(claims));
});

test('a settle that meets a sweep which gives up stands', async () => {
  const claims = await claimSome(2);
  await begin();
  await fenceByOther();
  const settling = store.settle(
    alder,
    claims.map((claim) => completed(claim)),
  );
  await untilSomebodyWaits();
  await other.query('rollback');
  expect(kinds(await settling)).toEqual(['stood', 'stood']);
});

test('a sweep passes over a pod that is settling, without waiting, and takes what is left', async () => {
  const [first, second] = await claimSome(2);
  await begin();
  await holdAsSettle();
  expect(await store.fence(alder, sweeper, { silentMs: 0 })).toBe(false);
  expect(kinds(await rival.settle(alder, [completed(first!)]))).toEqual(['stood']);
  await other.query('commit');
  expect(await store.fence(alder, sweeper, 'proved')).toBe(true);
  const taking = { from: alder, by: sweeper, to: 'pool', crashed: 'all' } as const;
  const taken = await store.take({ ...taking, countMax: 10, spreadMs: 0 });
  expect(ids(taken)).toEqual([second!.task]);
  expect(kinds(await rival.settle(alder, [completed(second!)]))).toEqual(['lost']);
});

test('a proved death whose row is locked is busy, and not passed over as if it were answered', async () => {
  await claimSome(1);
  await begin();
  await holdAsSettle();
  await expect(store.fence(alder, birch, 'proved')).rejects.toThrow(StoreBusyError);
  await other.query('commit');
  expect(await store.fence(alder, birch, 'proved')).toBe(true);
  expect(await store.fence(alder, birch, 'proved')).toBe(false);
});

test('a claim that meets a sweep waits for it, and then takes nothing (H1)', async () => {
  await store.enqueue(newTasks(3));
  await begin();
  await fenceByOther();
  const claiming = store.claim(claimRequest(alder));
  await untilSomebodyWaits();
  await other.query('commit');
  expect(await claiming).toEqual([]);
  expect(await store.list({ status: 'pending', countMax: 10 })).toHaveLength(3);
});

test('a mirrored run that meets a sweep is not shown', async () => {
  await begin();
  await fenceByOther();
  const id = newId();
  const run = { id, machine: 'sample/one', version: 1, payload: '{}', journal: 'journal-alder' };
  const mirroring = store.mirror(alder, [{ ...run, deadlineMs: undefined, startedAgoMs: 0 }]);
  await untilSomebodyWaits();
  await other.query('commit');
  expect(kinds(await mirroring)).toEqual(['foreign']);
  expect(await store.find([id])).toEqual([]);
});

test('a heartbeat waits for neither claims nor settles, and loses against a sweep', async () => {
  const beat = { pod: alder, nonce: 'n', lsn: 0, report: {} };
  await begin();
  await holdAsSettle();
  expect(await store.beat({ ...beat, seq: 0 })).toMatchObject({ kind: 'taken', seq: 1 });
  await other.query('commit');
  await begin();
  await fenceByOther();
  const beating = store.beat({ ...beat, seq: 1 });
  await untilSomebodyWaits();
  await other.query('commit');
  expect(await beating).toMatchObject({ kind: 'refused', status: 'dead', seq: 1 });
});

test('a pod whose heartbeat is on its way is not swept, however old the last one is (I25)', async () => {
  await scene.client.query(`update pod_health set last_heartbeat = now() - interval '1 hour'`);
  await begin();
  await other.query(beatPod, [alder, 0, 'n', 0, '{}', false, null, null, null]);
  expect(await store.fence(alder, sweeper, { silentMs: 15_000 })).toBe(false);
  await other.query('commit');
  expect(await store.fence(alder, sweeper, { silentMs: 15_000 })).toBe(false);
  expect(await store.fence(birch, sweeper, { silentMs: 15_000 })).toBe(true);
});

test('draining waits for the claim in flight: once it is said, none commits', async () => {
  await store.enqueue(newTasks(1));
  await begin();
  await claimByOther(alder);
  let isDraining = false;
  const draining = store.markDraining(alder).then((answer) => {
    isDraining = answer;
  });
  await untilSomebodyWaits();
  expect(isDraining).toBe(false);
  await other.query('commit');
  await draining;
  expect(isDraining).toBe(true);
  expect(await store.held(alder, '', 10)).toHaveLength(1);
});

test('tasks that change hands meanwhile fall out of their batch; the others stand', async () => {
  const claims = await claimSome(4);
  await begin();
  const change = (task: string, columns: string) =>
    other.query(`update step_tracker set ${columns} where task_id = $1`, [task]);
  const raise = 'claim_epoch = claim_epoch + 1';
  await change(claims[1]!.task, `status = 'pending', claimed_by = null, ${raise}`);
  // Taken away and given back: the same owner, but no longer the same claim.
  await change(claims[2]!.task, raise);
  const settlements = claims.map((claim) => completed(claim, { tail: segment(claim, 0, 1) }));
  const first = await store.settle(alder, settlements);
  expect(kinds(first)).toEqual(['stood', 'locked', 'locked', 'stood']);
  await other.query('commit');
  const second = await store.settle(alder, settlements);
  expect(kinds(second)).toEqual(['done', 'lost', 'lost', 'done']);
  const { rows } = await scene.client.query('select task_id from run_events order by 1');
  expect(rows.map(({ task_id }) => task_id)).toEqual([claims[0]!.task, claims[3]!.task]);
});

test('a cancel that meets a claim in flight asks the new owner', async () => {
  const [task] = ids(await store.enqueue(newTasks(1)));
  await begin();
  await claimByOther(birch);
  const cancelling = cancelTask(store, task!, 'not wanted');
  await untilSomebodyWaits();
  await other.query('commit');
  expect(await cancelling).toBe('requested');
  expect(await store.find([task!])).toMatchObject([{ claimedBy: birch, control: 'cancel' }]);
});

test('by compare-and-set, a claim that waits for a rival takes only what that one left', async () => {
  await store.enqueue(newTasks(4));
  const cas = await scene.open({ claimMode: 'cas' });
  await begin();
  const { rows } = await other.query(claimTasks.cas.ready, [
    alder,
    [ROUTE],
    'j',
    4,
    '{}',
    [],
    'token',
    1_000,
    null,
    2,
  ]);
  expect(rows).toHaveLength(2);
  const claiming = cas.claim(claimRequest(birch, { countMax: 4 }));
  await untilSomebodyWaits();
  await other.query('commit');
  const mine = ids(await claiming);
  expect(mine).toHaveLength(2);
  expect(mine).not.toContain(rows[0]!['task_id']);
  expect(mine).not.toContain(rows[1]!['task_id']);
});

test('a row that somebody has locked holds up its own settlement and no other', async () => {
  const claims = await claimSome(3);
  await begin();
  await other.query('select 1 from step_tracker where task_id = $1 for update', [claims[1]!.task]);
  const settlements = claims.map((claim) => completed(claim, { tail: segment(claim, 0, 1) }));
  expect(kinds(await store.settle(alder, settlements))).toEqual(['stood', 'locked', 'stood']);
  expect(kinds(await store.settle(alder, [settlements[1]!]))).toEqual(['locked']);
  await other.query('rollback');
  expect(kinds(await store.settle(alder, [settlements[1]!]))).toEqual(['stood']);
});

test('a pod that is dead is not told to send again what is locked', async () => {
  const [claim] = await claimSome(1);
  await store.fence(alder, sweeper, 'proved');
  await begin();
  await other.query('select 1 from step_tracker for update');
  expect(kinds(await store.settle(alder, [completed(claim!)]))).toEqual(['lost']);
});

test.each([
  ['put off', `run_at = now() + interval '1 h', status = 'waiting', wait_for = 'time'`],
  ['put off while it stays pending', `run_at = now() + interval '1 h'`],
  ['paused', 'paused = true'],
  ['made a suspect', 'crashes = 2'],
])('by compare-and-set, a task that was %s while the claim waited is left', async (_, change) => {
  const [task] = ids(await store.enqueue(newTasks(1)));
  const cas = await scene.open({ claimMode: 'cas' });
  await begin();
  await other.query(`update step_tracker set ${change} where task_id = $1`, [task]);
  const claiming = cas.claim(claimRequest(birch));
  await untilSomebodyWaits();
  await other.query('commit');
  expect(await claiming).toEqual([]);
});

test('overlapping batches in opposite order never deadlock', async () => {
  const count = async () => {
    const text = `select deadlocks::int from pg_stat_database where datname = current_database()`;
    return (await scene.client.query<{ deadlocks: number }>(text)).rows[0]!.deadlocks;
  };
  const before = await count();
  for (let round = 0; round < 15; round += 1) {
    const claims = await claimSome(300);
    const forth = claims.map((claim) => (round % 2 ? completed(claim) : released(claim)));
    const [one, two] = await Promise.all([
      store.settle(alder, forth),
      rival.settle(alder, [...forth].reverse()),
    ]);
    expect([...kinds(one), ...kinds(two)].filter((kind) => kind === 'stood')).toHaveLength(300);
    await scene.client.query('delete from step_tracker');
  }
  // What a backend has counted is seen when it has been idle for a while.
  await sleep(1_200);
  expect(await count()).toBe(before);
});

test('the forgotten transaction of another program delays a sweep, and never blocks the sweeper', async () => {
  await claimSome(1);
  await begin();
  await other.query(`select * from pod_health for key share`);
  await other.query(`select * from step_tracker for update`);
  expect(await store.fence(alder, sweeper, { silentMs: 0 })).toBe(false);
  const taking = { from: alder, by: sweeper, to: 'pool', crashed: 'all' } as const;
  expect(await store.take({ ...taking, countMax: 10, spreadMs: 0 })).toEqual([]);
  await other.query('rollback');
  expect(await store.fence(alder, sweeper, 'proved')).toBe(true);
  expect(await store.take({ ...taking, countMax: 10, spreadMs: 0 })).toHaveLength(1);
});

test('a flush that meets retention waits for it, and leaves no records behind', async () => {
  const [claim] = await claimSome(1);
  await store.settle(alder, [completed(claim!, { tail: segment(claim!, 0, 1) })]);
  await begin();
  await other.query('delete from run_events where task_id = $1', [claim!.task]);
  await other.query('delete from step_tracker where task_id = $1', [claim!.task]);
  const archiving = store.archive([segment(claim!, 2, 3)]);
  await untilSomebodyWaits();
  await other.query('commit');
  expect(await archiving).toMatchObject([{ task: claim!.task, kind: 'refused' }]);
  expect((await scene.client.query('select 1 from run_events')).rowCount).toBe(0);
});

test('a flush of a task that somebody is settling does not wait', async () => {
  const [claim] = await claimSome(1);
  await begin();
  await other.query(`update step_tracker set last_update = now() where task_id = $1`, [
    claim!.task,
  ]);
  expect(kinds(await store.archive([segment(claim!, 0, 1)]))).toEqual(['held']);
});

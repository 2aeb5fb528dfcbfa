/** Rules of Postgres that hold at the edges of the fences: clocks, earlier claims, orders, timelines. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { HOUR, newTasks, parked, released, segment } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres(['deadlock_timeout=20ms']);
const [alder, sweeper] = [podOf('alder'), podOf('sweeper')];
const SILENT_MS = 15_000;
let store: Store;
let rival: Store;

beforeAll(async () => {
  store = await scene.open();
  rival = await scene.open();
});

beforeEach(async () => {
  await emptyTables(scene.client, ['pod_health', 'step_tracker', 'run_events']);
  for (const name of ['alder', 'sweeper']) await store.register(birthOf(name));
});

afterEach(() => {
  vi.useRealTimers();
});

/** This host's clock shows another time than the store's. */
function setClockBy(ms: number): void {
  vi.useRealTimers();
  vi.setSystemTime(Date.now() + ms);
}

const fence = () => store.fence(alder, sweeper, { silentMs: SILENT_MS });
const letPass = (ms: number) =>
  scene.client.query(
    `update pod_health set last_heartbeat = last_heartbeat
    - $1 * interval '1 millisecond' where pod_id = $2`,
    [ms, alder],
  );
const beat = (seq: number) => store.beat({ pod: alder, seq, nonce: 'n', lsn: 0, report: {} });

async function claimSome(count: number): Promise<ClaimedTask[]> {
  await store.enqueue(newTasks(count));
  return store.claim(claimRequest(alder, { countMax: count }));
}

test.each([HOUR, -HOUR])('I27: the clock of whoever sweeps decides nothing (%i ms)', async (ms) => {
  setClockBy(ms);
  expect((await store.worklist(SILENT_MS)).silent).toEqual([]);
  expect(await fence()).toBe(false);
  await letPass(2 * SILENT_MS);
  expect((await store.worklist(SILENT_MS)).silent).toMatchObject([{ pod: alder }]);
  expect(await fence()).toBe(true);
});

test.each([HOUR, -HOUR])('I27: the clock of whoever beats decides nothing (%i ms)', async (ms) => {
  setClockBy(ms);
  expect(await beat(0)).toMatchObject({ kind: 'taken' });
  vi.useRealTimers();
  expect(await fence()).toBe(false);
  await letPass(2 * SILENT_MS);
  expect(await fence()).toBe(true);
});

test.each([
  ['release', (claim: ClaimedTask) => released(claim)],
  ['park', (claim: ClaimedTask) => parked(claim, 'sleep', HOUR)],
])('I8: a %s of an earlier claim of the same pod is lost', async (_, settlementOf) => {
  const [old] = await claimSome(1);
  await store.settle(alder, [released(old!)]);
  const [claim] = await store.claim(claimRequest(alder));
  expect(claim!.epoch).toBeGreaterThan(old!.epoch);
  const before = await store.find([old!.task]);
  expect(await store.settle(alder, [settlementOf(old!)])).toMatchObject([{ kind: 'lost' }]);
  expect(await store.find([old!.task])).toEqual(before);
});

test('I7: an epoch begins above everything that an earlier primary can have given out', async () => {
  const { rows } = await scene.client.query<{ timeline_id: number }>(
    'select timeline_id from pg_control_checkpoint()',
  );
  const [claim] = await claimSome(1);
  expect(claim!.epoch).toBe(rows[0]!.timeline_id * 2 ** 32 + 1);
});

test('flushes of the same runs in opposite order never deadlock', async () => {
  const count = async () => {
    const text = `select deadlocks::int from pg_stat_database where datname = current_database()`;
    return (await scene.client.query<{ deadlocks: number }>(text)).rows[0]!.deadlocks;
  };
  const before = await count();
  const claims = await claimSome(300);
  for (let round = 0; round < 10; round += 1) {
    const forth = claims.map((claim) => segment(claim, round, round));
    const both = await Promise.all([store.archive(forth), rival.archive([...forth].reverse())]);
    expect(new Set(both.flat().map(({ kind }) => kind))).toEqual(new Set(['held']));
  }
  // What a backend has counted is seen when it has been idle for a while.
  await sleep(1_200);
  expect(await count()).toBe(before);
});

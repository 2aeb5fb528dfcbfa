/** Rules of Postgres that hold at the edges of the fences: clocks, earlier claims, orders, timelines. */
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask, Segment } from '../../src/store/tasks.ts';
import { HOUR, newTasks, parked, released, segment } from './factories.ts';
import { birthOf, claimRequest, podOf } from './harness.ts';
import { emptyTables, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
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

/** Who waits for a lock, and for whom. */
async function waits(): Promise<{ pid: number; blockers: number[] }[]> {
  const text = `select pid, pg_blocking_pids(pid) as blockers from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return (await scene.client.query<{ pid: number; blockers: number[] }>(text)).rows;
}

/** Somebody who is about to write this segment; resolves with how to let be of it. */
async function holdSegment({ task, generation, epoch, ...of }: Segment) {
  const holder = await scene.connect();
  await holder.query('begin');
  await holder.query(
    `insert into run_events
       (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [task, generation, epoch, of.firstSeq, of.lastSeq, of.prevHash, of.lastHash, of.state, '[]'],
  );
  return () => holder.query('rollback');
}

test('flushes of the same runs in opposite order never deadlock', async () => {
  const claims = (await claimSome(3)).sort((one, other) => (one.task < other.task ? -1 : 1));
  const forth = claims.map((claim) => segment(claim, 0, 0));
  // Each is stopped half way: had they begun at opposite ends, each would have what the other wants.
  const letGo = await holdSegment(forth[1]!);
  const flushes = [store.archive(forth)];
  try {
    await expect.poll(waits).toHaveLength(1);
    const [first] = await waits();
    flushes.push(rival.archive([...forth].reverse()));
    await expect.poll(waits).toHaveLength(2);
    const second = (await waits()).find(({ pid }) => pid !== first!.pid);
    expect(second).toMatchObject({ blockers: [first!.pid] });
  } finally {
    await letGo();
    await Promise.allSettled(flushes);
  }
  const answers = (await Promise.all(flushes)).flat();
  expect(answers.map(({ kind }) => kind)).toEqual(Array(6).fill('held'));
});

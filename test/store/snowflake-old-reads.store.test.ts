/** Where a session reads late what others wrote, nothing is taken for lost that was only not seen yet. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { anyInput } from '../fleet/support.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { birthOf, claimRequest, completed, newTasks, podOf, segment } from './factories.ts';
import { addressOf, snowflakeHarness, useSnowflake } from './snowflake-harness.ts';

const LATE_MS = 1_000;
const TASKS = 90;
const PATIENCE_MS = 240_000;

const scene = useSnowflake('standard');
const harness = snowflakeHarness(scene, 'standard');
const newDir = useTempDirs();

beforeEach(async () => {
  await harness.reset();
});
afterEach(() => scene.account.chaos.calm());

/** Long enough for the slowest machine: what is there now is what is read in the end. */
const ALWAYS_LATE_MS = 600_000;

async function beLate(store: Store): Promise<void> {
  const { chaos } = scene.account;
  // Takes a new view, and then keeps it.
  chaos.staleReadsMs = 0;
  await store.pods();
  chaos.staleReadsMs = ALWAYS_LATE_MS;
}

/** Keeps those sessions busy that have written last, so that what comes with it gets another. */
function crowd(store: Store): Promise<unknown> {
  return Promise.all(Array.from({ length: 4 }, () => store.violations()));
}

test('what one session has claimed another settles, and a heart goes on from its last beat', async () => {
  const store = await harness.open();
  const pod = podOf('alder');
  const beat = { pod, nonce: 'a', lsn: 0, report: {} };
  await store.register(birthOf('alder'));
  await store.enqueue(newTasks(2));
  await crowd(store);
  await beLate(store);
  const claims = await store.claim(claimRequest(pod));
  expect(await store.beat({ ...beat, seq: 0 })).toMatchObject({ kind: 'taken' });
  const [, held] = await Promise.all([crowd(store), store.held(pod, '', 8)]);
  expect(held.map(({ task }) => task).sort()).toEqual(claims.map(({ task }) => task).sort());
  const [, second] = await Promise.all([crowd(store), store.beat({ ...beat, seq: 1 })]);
  expect(second).toMatchObject({ kind: 'taken', seq: 2 });
  const ends = claims.map((claim) => completed(claim, { tail: segment(claim, 0, 1) }));
  const [, settled] = await Promise.all([crowd(store), store.settle(pod, ends)]);
  expect(settled.map(({ kind }) => kind)).toEqual(['stood', 'stood']);
  const [, rows] = await Promise.all([crowd(store), store.find(claims.map(({ task }) => task))]);
  expect(rows.map(({ status }) => status)).toEqual(['completed', 'completed']);
  await store.close();
});

test('nothing is unknown, or dead, because another process has only just written it', async () => {
  const [store, other] = [await harness.open(), await harness.open()];
  const pod = podOf('alder');
  await beLate(other);
  await store.register(birthOf('alder'));
  const [task] = newTasks(1);
  await store.enqueue([task!]);
  expect(await other.requestDrain(pod)).toBe(true);
  const by = { requestId: 'cancel', who: 'test', via: 'test', task: task!.id };
  const cancelled = await other.act({ ...by, deed: { what: 'cancel', reason: 'test' } });
  expect(cancelled).toMatchObject({ kind: 'done' });
  expect(await other.fence(pod, podOf('birch'), 'proved')).toBe(true);
  // That one is dead is seen as well, though its own session has always read it alive.
  const beat = { pod, seq: 0, nonce: 'a', lsn: 0, report: {} };
  expect(await store.beat(beat)).toMatchObject({ kind: 'refused', status: 'dead' });
  await Promise.all([store.close(), other.close()]);
});

test('a pod whose sessions read late runs every task once, and loses nothing', async () => {
  const runs = new Map<string, number>();
  const machine = defineMachine({
    name: 'late/one',
    version: 1,
    input: anyInput,
    check: 'none',
    work: async ({ runId }) => {
      runs.set(runId, (runs.get(runId) ?? 0) + 1);
    },
  });
  const troubles: string[] = [];
  const deaf = (['claim.lost', 'pod.fenced', 'pod.died'] as const).map((name) =>
    listen(name, () => troubles.push(name)),
  );
  const { chaos } = scene.account;
  chaos.staleReadsMs = LATE_MS;
  const fleet = await createFleet({
    ...{ machines: [machine], store: addressOf(scene.account), dataDir: newDir(), socket: false },
    ...{ slots: 12, heartbeat: 500, silence: 20_000, archive: '200ms' },
  });
  try {
    const store = await harness.open();
    const tasks = newTasks(TASKS, { machine: 'late/one' });
    await store.enqueue(tasks);
    await store.close();
    await expect.poll(ended, { timeout: PATIENCE_MS, interval: 100 }).toBe(TASKS);
    expect([...runs.values()].filter((times) => times !== 1)).toEqual([]);
    expect(runs.size).toBe(TASKS);
    expect(troubles).toEqual([]);
  } finally {
    chaos.calm();
    for (const stop of deaf) stop();
    fleet.stopNow();
  }
}, 300_000);

async function ended(): Promise<number> {
  const rows = await harness.rows('step_tracker');
  return rows.filter(({ status }) => status === 'completed').length;
}

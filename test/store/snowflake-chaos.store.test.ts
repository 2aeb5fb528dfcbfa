/** What holds in an account when answers are lost, tokens expire, locks are crowded and reads are old. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause, type RunId, systemClock } from '../../src/ground/index.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { birthOf, claimRequest, completed, newTasks, podOf, segment } from './factories.ts';
import { type SnowflakeScene, snowflakeHarness, useSnowflake } from './snowflake-harness.ts';

const TASKS = 120;
const PODS = ['alder', 'birch', 'cedar', 'dogwood', 'elm', 'fir'];
/** And not those that write a row as it is, to read what is new. */
const WRITES = /\brev\b|doorbell/;
/** Of rounds that find nothing or fail: more than these, and nothing goes on. */
const ROUNDS_MAX = 2_000;

describe.each(['hybrid', 'standard'] as const)('in %s tables', (kind) => {
  const scene = useSnowflake(kind);
  const harness = snowflakeHarness(scene, kind);
  let store: Store;

  beforeEach(async () => {
    await harness.reset();
    store = await harness.open();
  });
  afterEach(async () => {
    scene.account.chaos.calm();
    expect(await store.violations()).toEqual([]);
    await store.close();
  });

  test('whatever was written without an answer is found again by its token', async () => {
    const pod = await upPod(store, 'alder');
    // The driver gives up at once, and cannot say whether anything has happened.
    scene.account.chaos.dropAnswers = { share: 1, how: '400', of: WRITES };
    const [enqueued] = await store.enqueue(newTasks(1));
    expect(enqueued).toMatchObject({ isNew: true });
    const [claimed] = await store.claim(claimRequest(pod));
    expect(claimed).toMatchObject({ task: enqueued!.id, epoch: 1 });
    expect(await store.settle(pod, [completed(claimed!)])).toMatchObject([{ kind: 'stood' }]);
    expect(await store.find([enqueued!.id])).toMatchObject([{ status: 'completed', epoch: 1 }]);
  });

  test('of two who claim by what they read before, one alone can settle, whoever wrote last', async () => {
    const [one, other] = [await upPod(store, 'alder'), await upPod(store, 'birch')];
    const rival = await harness.open();
    await store.enqueue(newTasks(8));
    // As if the account did not look again at rows that it had waited for.
    scene.account.chaos.lostUpdates = /update step_tracker/i;
    const claims = await Promise.all([
      store.claim(claimRequest(one, { token: 'one' })),
      rival.claim(claimRequest(other, { token: 'other' })),
    ]);
    scene.account.chaos.calm();
    const answers = [
      ...(await store.settle(
        one,
        claims[0].map((claim) => completed(claim)),
      )),
      ...(await rival.settle(
        other,
        claims[1].map((claim) => completed(claim)),
      )),
    ];
    const stood = answers.filter((answer) => answer.kind === 'stood').map(({ task }) => task);
    expect(new Set(stood).size).toBe(stood.length);
    await rival.close();
  });

  test('six pods end every task once, though answers are lost and one of them dies', async () => {
    const { chaos } = scene.account;
    const random = seededRandom(11);
    chaos.random = () => random.fraction();
    chaos.latencyMs = [0, 10];
    chaos.dropAnswers = { share: 0.03, how: '400' };
    chaos.expireTokens = { share: 0.02 };
    chaos.staleReadsMs = 100;
    if (kind === 'standard') chaos.waiterStorm = { share: 0.05 };
    const told = await crowd(scene);
    chaos.calm();
    expect([...told.values()].filter((times) => times !== 1)).toEqual([]);
    expect(told.size).toBe(TASKS);
    const rows = await store.list({ countMax: TASKS + 1 });
    expect(rows.map(({ status }) => status)).toEqual(Array(TASKS).fill('completed'));
  });
});

async function upPod(store: Store, name: string): Promise<PodId> {
  const pod = podOf(name);
  await store.register(birthOf(name));
  return pod;
}

/** How often each task was told to have been completed by the very claim that did it. */
async function crowd(scene: SnowflakeScene): Promise<Map<RunId, number>> {
  const told = new Map<RunId, number>();
  const stores = await Promise.all(PODS.map(() => scene.open()));
  const pods = await Promise.all(
    PODS.map((name, index) => persistently(() => upPod(stores[index]!, name))),
  );
  const tasks = newTasks(TASKS);
  for (let from = 0; from < TASKS; from += 30) {
    await persistently(() => stores[0]!.enqueue(tasks.slice(from, from + 30)));
  }
  await Promise.all(
    pods.map((pod, index) => work(stores[index]!, pod, told, { dies: index === PODS.length - 1 })),
  );
  await Promise.all(stores.map((store) => store.close()));
  return told;
}

async function work(
  store: Store,
  pod: PodId,
  told: Map<RunId, number>,
  { dies }: { readonly dies: boolean },
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX && told.size < TASKS; round += 1) {
    const claimed = await heldAfterClaim(store, pod);
    if (dies && claimed.length > 0) {
      // It is gone with what it has, and another finds it out.
      const sweeper = podOf('alder');
      await persistently(() => store.fence(pod, sweeper, 'proved'));
      await sweep(store, pod, sweeper);
      expect(await settled(store, pod, claimed)).toEqual(claimed.map(() => 'lost'));
      return;
    }
    const kinds = await settled(store, pod, claimed);
    for (const [index, kind] of kinds.entries()) {
      const { task } = claimed[index]!;
      if (kind === 'stood' || kind === 'done') told.set(task, (told.get(task) ?? 0) + 1);
    }
    if (claimed.length === 0) await pause(systemClock, 10);
  }
}

/** What a pod holds after a claim, whether its answer came or not. */
async function heldAfterClaim(store: Store, pod: PodId): Promise<ClaimedTask[]> {
  await store.claim(claimRequest(pod, { countMax: 16 })).catch(() => []);
  return persistently(() => store.held(pod, '', 64));
}

async function settled(store: Store, pod: PodId, claimed: readonly ClaimedTask[]) {
  if (claimed.length === 0) return [];
  const settlements = claimed.map((claim) => completed(claim, { tail: segment(claim, 0, 1) }));
  const answers = await persistently(() => store.settle(pod, settlements));
  return answers.map(({ kind }) => kind);
}

async function sweep(store: Store, from: PodId, by: PodId): Promise<void> {
  const taking = { from, by, to: 'pool', countMax: 64, crashed: 'none', spreadMs: 0 } as const;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const taken = await persistently(() => store.take(taking));
    if (taken.length === 0) return;
  }
}

/** As pods do: what failed is asked again. */
async function persistently<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt >= 50) throw error;
      await pause(systemClock, 10);
    }
  }
}

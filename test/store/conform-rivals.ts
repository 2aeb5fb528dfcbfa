/** Two handles at once: whatever the order in which the store takes them, one of them wins. */
import { expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import type { SettleAnswer, Settlement, Taking } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { cancelTask, redriveTask } from './acts.ts';
import { completed, failed, HOUR, ids, newTask, newTasks, released } from './factories.ts';
import { claimRequest, podOf, type Scene } from './harness.ts';

const ROUND_COUNT = 10;

export function describeRivals(scene: Scene): void {
  const taking = { to: 'pool', countMax: 100, crashed: 'all', spreadMs: 0 } as const;

  test('two claimers share the tasks: none is given twice, none is left over', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.store.enqueue(newTasks(200));
    const taken: string[] = [];
    for (let round = 0; round < 100 && taken.length < 200; round++) {
      const both = await Promise.all([
        scene.store.claim(claimRequest(alder, { countMax: 15 })),
        scene.rival.claim(claimRequest(birch, { countMax: 15 })),
      ]);
      taken.push(...ids(both.flat()));
    }
    expect(taken).toHaveLength(200);
    expect(new Set(taken).size).toBe(200);
  });

  test('two enqueues of one key at once give one task (I6)', async () => {
    for (let round = 0; round < ROUND_COUNT; round++) {
      const key = `order-${round}`;
      const [a, b] = await Promise.all([
        scene.store.enqueue([newTask({ key }), newTask()]),
        scene.rival.enqueue([newTask(), newTask({ key })]),
      ]);
      expect(a[0]!.id).toBe(b[1]!.id);
      expect([a[0]!.isNew, b[1]!.isNew].sort()).toEqual([false, true]);
    }
    expect(await scene.store.list({ countMax: 100 })).toHaveLength(ROUND_COUNT * 3);
  });

  test('two sweeps at once are as one (I24)', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(60));
    await scene.claim(pod, { countMax: 60 });
    await scene.pass(HOUR);
    const [alder, birch] = [podOf('sweeper-1'), podOf('sweeper-2')];
    const fenced = await Promise.all([
      scene.store.fence(pod, alder, { silentMs: 1_000 }),
      scene.rival.fence(pod, birch, { silentMs: 1_000 }),
    ]);
    expect(fenced.sort()).toEqual([false, true]);
    const taken: string[] = [];
    for (let round = 0; round < 100 && taken.length < 60; round++) {
      const both = await Promise.all([
        scene.store.take({ ...taking, from: pod, by: alder, countMax: 7 }),
        scene.rival.take({ ...taking, from: pod, by: birch, countMax: 7 }),
      ]);
      taken.push(...ids(both.flat()));
    }
    expect(new Set(taken).size).toBe(60);
    expect(taken).toHaveLength(60);
    const retired = await Promise.all([scene.store.retire(pod), scene.rival.retire(pod)]);
    expect(retired).toContain(true);
    expect(await scene.store.retire(pod)).toBe(true);
    const rows = await scene.store.list({ status: 'pending', countMax: 100 });
    expect(new Set(rows.map(({ crashes }) => crashes))).toEqual(new Set([1]));
  });

  test('a settlement and a sweep at once: one of them has every task (I8)', async () => {
    for (let round = 0; round < ROUND_COUNT; round++) {
      const pod = await scene.pod(`alder-${round}`);
      await scene.store.enqueue(newTasks(20));
      const claims = await scene.claim(pod);
      const sweep = async () => {
        await scene.rival.fence(pod, podOf('sweeper'), 'proved');
        const full: Taking = { ...taking, from: pod, by: podOf('sweeper'), crashed: 'none' };
        const taken = await scene.rival.take(full);
        return [...taken, ...(await scene.rival.take(full))];
      };
      const settlements = claims.map((claim) => completed(claim));
      const [answers, taken] = await Promise.all([scene.store.settle(pod, settlements), sweep()]);
      const stood = standing(answers);
      const left = ids(await scene.store.held(pod, '', 100));
      const swept = new Set(ids(taken));
      for (const { task } of claims) {
        const owners = [stood.has(task), swept.has(task), left.includes(task)];
        expect(owners.filter(Boolean)).toHaveLength(1);
      }
      await scene.rival.take({ ...taking, from: pod, by: podOf('sweeper'), crashed: 'none' });
      const helper = await scene.pod(`helper-${round}`);
      const rest = await scene.claim(helper);
      expect(rest).toHaveLength(20 - stood.size);
      await scene.store.settle(
        helper,
        rest.map((claim) => completed(claim)),
      );
    }
  });

  test('a claim and a fence at once leave no task claimed by a pod that is down (H1)', async () => {
    for (let round = 0; round < ROUND_COUNT; round++) {
      const pod = await scene.pod(`alder-${round}`);
      await scene.store.enqueue(newTasks(5));
      const [claimed] = await Promise.all([
        scene.store.claim(claimRequest(pod, { countMax: 5 })),
        scene.rival.fence(pod, podOf('sweeper'), 'proved'),
      ]);
      await scene.store.fence(pod, podOf('sweeper'), 'proved');
      const taken = await scene.store.take({ ...taking, from: pod, by: podOf('sweeper') });
      expect(ids(taken).sort()).toEqual(ids(claimed).sort());
      expect(await scene.claim(pod)).toEqual([]);
      expect(await scene.store.retire(pod)).toBe(true);
      const pending = await scene.store.list({ status: 'pending', countMax: 100 });
      expect(pending).toHaveLength(5);
      for (const { id } of pending) await cancelTask(scene.store, id, 'next round');
    }
  });

  test('two redrives at once make one generation (I30)', async () => {
    const pod = await scene.pod('alder');
    for (let round = 0; round < ROUND_COUNT; round++) {
      const claim = await scene.claimNew(pod);
      await scene.store.settle(pod, [failed(claim)]);
      const both = await Promise.all([
        redriveTask(scene.store, claim.task, { generation: 1 }, { isFresh: false }),
        redriveTask(scene.rival, claim.task, { generation: 1 }, { isFresh: true }),
      ]);
      expect(both.filter((generation) => generation !== undefined)).toEqual([2]);
      await cancelTask(scene.store, claim.task, 'next round');
    }
  });

  test('a cancellation and a completion at once agree on who was first (H12)', async () => {
    const pod = await scene.pod('alder');
    for (let round = 0; round < ROUND_COUNT; round++) {
      const claim = await scene.claimNew(pod);
      const [answers, answer] = await Promise.all([
        settleFreed(scene.store, pod, [completed(claim)]),
        cancelTask(scene.rival, claim.task, 'not wanted'),
      ]);
      expect(answers).toEqual([{ task: claim.task, kind: 'stood' }]);
      expect(['requested', 'tooLate']).toContain(answer);
      expect(await scene.row(claim.task)).toMatchObject({ status: 'completed' });
    }
  });

  test('two settlements of one claim at once: one stands, and nothing is written twice (I5)', async () => {
    const pod = await scene.pod('alder');
    for (let round = 0; round < ROUND_COUNT; round++) {
      const claim = await scene.claimNew(pod);
      const [a, b] = await Promise.all([
        settleFreed(scene.store, pod, [completed(claim, { retriesAdd: 1 })]),
        settleFreed(scene.rival, pod, [completed(claim, { retriesAdd: 1 })]),
      ]);
      expect([a[0]!.kind, b[0]!.kind].sort()).toEqual(['done', 'stood']);
      expect((await scene.row(claim.task)).retryCount).toBe(1);
    }
  });

  test('overlapping batches in opposite order do not lock each other out', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(100));
    const claims = await scene.claim(pod);
    const forth = claims.map((claim) => released(claim));
    const [a, b] = await Promise.all([
      scene.store.settle(pod, forth),
      scene.rival.settle(pod, [...forth].reverse()),
    ]);
    expect(standing(a).size + standing(b).size).toBe(100);
  });

  test('two clones that beat at once: one is taken (I11)', async () => {
    const pod = await scene.pod('alder');
    for (let seq = 0; seq < ROUND_COUNT; seq++) {
      const beat = { pod, seq, lsn: 0, report: {} };
      const both = await Promise.all([
        scene.store.beat({ ...beat, nonce: 'one' }),
        scene.rival.beat({ ...beat, nonce: 'two' }),
      ]);
      expect(both.map(({ kind }) => kind).sort()).toEqual(['refused', 'taken']);
    }
  });
}

/** As an owner does it: what a rival has locked just now is sent again. */
async function settleFreed(store: Store, pod: PodId, settlements: readonly Settlement[]) {
  for (let attempts = 0; attempts < 200; attempts++) {
    const answers = await store.settle(pod, settlements);
    if (answers.every(({ kind }) => kind !== 'locked')) return answers;
  }
  return expect.unreachable('the rows stayed locked');
}

function standing(answers: readonly SettleAnswer[]): Set<string> {
  return new Set(ids(answers.filter(({ kind }) => kind === 'stood')));
}

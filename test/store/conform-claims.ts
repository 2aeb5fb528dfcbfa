/** Claiming: who gets which task, in which order, and under which epoch. */
import { expect, test } from 'vitest';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { doTo, redriveTask } from './acts.ts';
import {
  completed,
  failed,
  HOUR,
  ids,
  MACHINE,
  MINUTE,
  newTasks,
  parked,
  ROUTE,
  released,
  segment,
} from './factories.ts';
import { expectNear, podOf, type Scene } from './harness.ts';

export function describeClaims(scene: Scene): void {
  test('a claim hands the task over with everything its owner needs', async () => {
    const pod = await scene.pod('alder');
    const id = await scene.enqueue({ key: 'order-1', retriesMax: 2, deadlineMs: HOUR });
    const claimed = await scene.claimOne(pod, { token: 'attempt-1' });
    expect(claimed).toMatchObject({
      task: id,
      generation: 1,
      machine: MACHINE,
      version: 1,
      payload: '{}',
      key: 'order-1',
      keyGeneration: 1,
      retryCount: 0,
      retriesMax: 2,
      crashes: 0,
      interruption: undefined,
      lastSeq: -1,
      token: 'attempt-1',
    });
    expect(claimed.epoch).toBeGreaterThanOrEqual(1);
    expect(claimed.deadlineMs).toBeGreaterThan(HOUR - MINUTE);
    expect(claimed.deadlineMs).toBeLessThanOrEqual(HOUR);
    expect([claimed.carriesFrom, claimed.control, claimed.pinnedTo]).toEqual(
      Array(3).fill(undefined),
    );
    const row = await scene.row(id);
    expect(row).toMatchObject({ status: 'claimed', claimedBy: pod, claims: 1 });
    expect(row.epoch).toBe(claimed.epoch);
  });

  test('the age of a task without a deadline is told: since it was due, then since it was begun', async () => {
    const pod = await scene.pod('alder');
    const id = await scene.harness.insertPlain({ machine: MACHINE, runAfterMs: HOUR });
    await scene.pass(HOUR + 10 * MINUTE);
    const first = await scene.claimOne(pod);
    expect([first.task, first.deadlineMs]).toEqual([id, undefined]);
    expectNear(first.ageMs!, 10 * MINUTE);
    expectNear((await scene.store.held(pod, '', 10))[0]!.ageMs!, 10 * MINUTE);
    await scene.store.settle(pod, [parked(first, 'retry', HOUR, { tail: segment(first, 0, 1) })]);
    await scene.pass(HOUR);
    const second = await scene.claimOne(pod);
    expectNear(second.ageMs!, HOUR);
    // More of the same segment, as after a flush whose answer was lost: it began when it began.
    await scene.store.archive([segment(first, 0, 3)]);
    await scene.kill(pod);
    const birch = await scene.pod('birch');
    await scene.pass(HOUR);
    const taking = { from: pod, by: birch, to: 'taker', countMax: 10, spreadMs: 0 } as const;
    const [taken] = await scene.store.take({ ...taking, crashed: 'none' });
    expectNear(taken!.ageMs!, 2 * HOUR);
  });

  test('a redriven task without a deadline is as old as its new generation', async () => {
    const pod = await scene.pod('alder');
    await scene.harness.insertPlain({ machine: MACHINE });
    const first = await scene.claimOne(pod);
    await scene.store.settle(pod, [failed(first, { tail: segment(first, 0, 1) })]);
    await scene.pass(30 * HOUR);
    await redriveTask(scene.store, first.task, { generation: 1 }, { isFresh: false });
    await scene.pass(MINUTE);
    expectNear((await scene.claimOne(pod)).ageMs!, MINUTE);
  });

  test('the age of a task with a deadline is not told', async () => {
    await scene.enqueue({ deadlineMs: HOUR });
    expect((await scene.claimOne(await scene.pod('alder'))).ageMs).toBeUndefined();
  });

  test('no task is given twice', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.store.enqueue(newTasks(3));
    expect(await scene.claim(alder)).toHaveLength(3);
    expect(await scene.claim(alder)).toEqual([]);
    expect(await scene.claim(birch)).toEqual([]);
  });

  test('the most urgent comes first: by priority, then by due time, then by id', async () => {
    const pod = await scene.pod('alder');
    const first = await scene.enqueue({ priority: 0 });
    const second = await scene.enqueue({ priority: 0 });
    const low = await scene.enqueue({ priority: -3 });
    const high = await scene.enqueue({ priority: 9 });
    const early = await scene.enqueue({ priority: 9, due: { at: scene.harness.now() - HOUR } });
    expect(ids(await scene.claim(pod, { countMax: 2 }))).toEqual([early, high]);
    expect(ids(await scene.claim(pod))).toEqual([first, second, low]);
  });

  test('a due sleeper is claimed beside pending tasks, and ordered among them', async () => {
    const pod = await scene.pod('alder');
    const sleeper = await scene.enqueue({ due: { afterMs: MINUTE }, priority: 5 });
    await scene.pass(HOUR);
    const pending = await scene.enqueue();
    const urgent = await scene.enqueue({ priority: 6 });
    expect(ids(await scene.claim(pod))).toEqual([urgent, sleeper, pending]);
  });

  test('a pod gets only what it says it can run', async () => {
    const pod = await scene.pod('alder');
    const other = await scene.enqueue({ machine: 'sample/two', version: 3 });
    await scene.enqueue({ version: 2 });
    expect(await scene.claim(pod)).toEqual([]);
    expect(await scene.claim(pod, { routes: [] })).toEqual([]);
    expect(ids(await scene.claim(pod, { routes: [ROUTE, 'sample/two@3'] }))).toEqual([other]);
  });

  test('no more is claimed than asked for, over all routes', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(4));
    await scene.store.enqueue(newTasks(4, { machine: 'sample/two' }));
    const routes = [ROUTE, 'sample/two@1'];
    expect(await scene.claim(pod, { routes, countMax: 0 })).toEqual([]);
    expect(await scene.claim(pod, { routes, countMax: 5 })).toHaveLength(5);
    expect(await scene.claim(pod, { routes, countMax: 5 })).toHaveLength(3);
  });

  test('H1: a pod that is draining, dead, down or unknown claims nothing', async () => {
    const pod = await scene.pod('alder');
    await scene.enqueue();
    await scene.store.markDraining(pod);
    expect(await scene.claim(pod)).toEqual([]);
    await scene.kill(pod);
    expect(await scene.claim(pod)).toEqual([]);
    await scene.store.retire(pod);
    expect(await scene.claim(pod)).toEqual([]);
    expect(await scene.claim(podOf('nobody'))).toEqual([]);
    expect(await scene.store.list({ countMax: 9 })).toMatchObject([
      { status: 'pending', claims: 0 },
    ]);
  });

  test('H4: a claim whose answer was lost is found again, under its token and its epoch', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(3));
    const lost = await scene.claim(pod, { token: 'lost', countMax: 2 });
    const kept = await scene.claim(pod, { token: 'kept' });
    // Which two came first is the store's to choose: rivals may be steered apart.
    const all = [...lost, ...kept].sort((a, b) => (a.task < b.task ? -1 : 1));
    // Older by the time between the two looks, and otherwise the same.
    const ageless = (task: ClaimedTask) => ({ ...task, ageMs: undefined });
    const held = await scene.rival.held(pod, '', 10);
    expect(held.map(ageless)).toEqual(all.map(ageless));
    expect(lost.map(({ token }) => token)).toEqual(['lost', 'lost']);
  });

  test('what a pod holds is read in pages, in the order of ids', async () => {
    const pod = await scene.pod('alder');
    const other = await scene.pod('birch');
    const tasks = newTasks(5);
    await scene.store.enqueue(tasks);
    await scene.claim(pod, { countMax: 5 });
    await scene.claimNew(other);
    const page = await scene.store.held(pod, '', 3);
    expect(ids(page)).toEqual(ids(tasks).slice(0, 3));
    expect(ids(await scene.store.held(pod, page[2]!.task, 3))).toEqual(ids(tasks).slice(3));
    expect(await scene.store.held(podOf('nobody'), '', 3)).toEqual([]);
  });

  test('every change of owner raises the epoch (I7)', async () => {
    const pod = await scene.pod('alder');
    const first = await scene.claimNew(pod);
    await scene.store.settle(pod, [released(first)]);
    const between = await scene.row(first.task);
    const second = await scene.claimOne(pod);
    expect(second.task).toBe(first.task);
    expect(between.epoch).toBeGreaterThan(first.epoch);
    expect(second.epoch).toBeGreaterThan(between.epoch);
    expect((await scene.row(first.task)).claims).toBe(2);
  });

  test('a parked task is nobody’s until it is due', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [parked(claim, 'sleep', 10 * MINUTE)]);
    expect(await scene.claim(pod)).toEqual([]);
    await scene.pass(11 * MINUTE);
    const next = await scene.claimOne(await scene.pod('birch'));
    expect(next.task).toBe(claim.task);
  });

  test('a paused task is not claimed', async () => {
    const pod = await scene.pod('alder');
    await scene.harness.insertPlain({ machine: MACHINE, paused: true });
    const claim = await scene.claimNew(pod);
    await doTo(scene.store, claim.task, { what: 'pause' });
    await scene.store.settle(pod, [released(claim)]);
    expect(await scene.row(claim.task)).toMatchObject({ status: 'pending', isPaused: true });
    expect(await scene.claim(pod)).toEqual([]);
    expect(await scene.claim(pod, { head: 'suspect' })).toEqual([]);
  });

  test('a task past its deadline is still claimed, so that its owner can end it', async () => {
    const pod = await scene.pod('alder');
    await scene.enqueue({ deadlineMs: MINUTE });
    await scene.pass(HOUR);
    const { deadlineMs } = await scene.claimOne(pod);
    expect(deadlineMs).toBeLessThan(0);
    expect(deadlineMs).toBeGreaterThan(-HOUR);
  });

  test('a task whose cancellation was asked for is claimed with that request', async () => {
    const pod = await scene.pod('alder');
    const id = await scene.harness.insertPlain({ machine: MACHINE, control: 'cancel' });
    const claim = await scene.claimOne(pod);
    expect(claim).toMatchObject({ task: id, control: 'cancel' });
    expect(await scene.store.held(pod, '', 10)).toMatchObject([{ task: id, control: 'cancel' }]);
    await scene.store.settle(pod, [released(claim)]);
    expect(await scene.row(id)).toMatchObject({ status: 'cancelled' });
  });

  test('a task that waits for its turn is not claimed, however long it has been due', async () => {
    const pod = await scene.pod('alder');
    const turn = { machine: MACHINE, status: 'waiting', wait_for: 'turn', runAfterMs: -HOUR };
    await scene.harness.insertPlain(turn);
    const due = await scene.harness.insertPlain({ ...turn, wait_for: 'signal' });
    expect(ids(await scene.claim(pod))).toEqual([due]);
  });

  test('H10: what killed its process twice is left to claimers of suspects', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    let owner = pod;
    for (const name of ['birch', 'cedar']) {
      await scene.kill(owner);
      const taking = { from: owner, by: owner, countMax: 10, crashed: 'all', spreadMs: 0 } as const;
      await scene.store.take({ ...taking, to: 'pool' });
      owner = await scene.pod(name);
      if (name === 'birch') await scene.claimOne(owner);
    }
    expect(await scene.row(claim.task)).toMatchObject({ status: 'pending', crashes: 2 });
    await scene.enqueue();
    expect(ids(await scene.claim(owner))).not.toContain(claim.task);
    expect(await scene.store.hasSuspects([ROUTE, 'other@1'])).toBe(true);
    expect(await scene.store.hasSuspects(['other@1'])).toBe(false);
    expect(await scene.store.hasSuspects([])).toBe(false);
    const suspect = await scene.claimOne(owner, { head: 'suspect' });
    expect(await scene.store.hasSuspects([ROUTE])).toBe(false);
    expect(suspect).toMatchObject({ task: claim.task, crashes: 2, interruption: 'cut' });
    await scene.store.settle(owner, [parked(suspect, 'sleep', MINUTE)]);
    expect(await scene.store.hasSuspects([ROUTE])).toBe(false);
    await scene.pass(HOUR);
    expect(await scene.claim(owner)).toEqual([]);
    const again = await scene.claimOne(owner, { head: 'suspect' });
    await scene.store.settle(owner, [completed(again)]);
  });
}

/** Reading: tasks by id and by page, and hints that something has happened. */
import { expect, test, vi } from 'vitest';
import type { Hint } from '../../src/store/store.ts';
import { completed, failed, ids, newId, newTask, newTasks } from './factories.ts';
import type { Scene } from './harness.ts';

export function describeLists(scene: Scene): void {
  test('tasks are found by their ids; unknown ones are left out', async () => {
    const tasks = newTasks(3);
    await scene.store.enqueue(tasks);
    expect(await scene.store.find([])).toEqual([]);
    const found = await scene.store.find([tasks[2]!.id, newId(), tasks[0]!.id]);
    expect(ids(found).sort()).toEqual([tasks[0]!.id, tasks[2]!.id]);
  });

  test('tasks are listed newest first, by page', async () => {
    const tasks = newTasks(7);
    for (const task of tasks) await scene.store.enqueue([task]);
    const newest = ids(tasks).reverse();
    const page = await scene.store.list({ countMax: 3 });
    expect(ids(page)).toEqual(newest.slice(0, 3));
    const next = await scene.store.list({ countMax: 10, before: page[2]!.id });
    expect(ids(next)).toEqual(newest.slice(3));
    expect(await scene.store.list({ countMax: 10, before: newest[6]! })).toEqual([]);
  });

  test('tasks are listed by status, machine, owner, and as dead letters', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const done = await scene.claimNew(alder);
    const broken = await scene.claimNew(alder);
    await scene.store.settle(alder, [completed(done), failed(broken)]);
    const hers = await scene.claimNew(alder);
    const his = await scene.claimNew(birch);
    const other = await scene.enqueue({ machine: 'sample/two' });
    const list = async (filter: object) => ids(await scene.store.list({ countMax: 10, ...filter }));
    expect(await list({ status: 'completed' })).toEqual([done.task]);
    expect(await list({ status: 'claimed' })).toEqual([his.task, hers.task]);
    expect(await list({ machine: 'sample/two' })).toEqual([other]);
    expect(await list({ claimedBy: birch })).toEqual([his.task]);
    expect(await list({ isDeadLetter: true })).toEqual([broken.task]);
    expect(await list({ isInFlight: true })).toEqual([other, his.task, hers.task]);
    expect(await list({ isInFlight: true, claimedBy: birch })).toEqual([his.task]);
    expect(await list({ isInFlight: true, status: 'completed' })).toEqual([]);
    expect(await list({ status: 'claimed', claimedBy: alder })).toEqual([hers.task]);
    expect(await list({ status: 'pending', machine: 'sample/one' })).toEqual([]);
    expect(await list({ status: 'claimed', before: his.task })).toEqual([hers.task]);
  });

  test('a pod’s row counts what it holds', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.claimNew(pod);
    await scene.store.settle(pod, [completed(claim)]);
    expect(await scene.store.pods()).toMatchObject([{ pod, claimCount: 1 }]);
  });

  test('whoever listens hears that something is ready, and that something has ended', async () => {
    const heard = new Set<Hint>();
    const stop = await scene.rival.listen((hint) => heard.add(hint));
    expect(stop !== undefined, 'hints are offered where they come').toBe(scene.harness.hasHints);
    if (!stop) return;
    try {
      await scene.store.enqueue([newTask()]);
      await vi.waitFor(() => expect([...heard]).toEqual(['ready']), 90_000);
      const pod = await scene.pod('alder');
      await scene.store.settle(pod, [completed(await scene.claimOne(pod))]);
      await vi.waitFor(() => expect([...heard]).toContain('ended'), 90_000);
    } finally {
      await stop();
    }
  });
}

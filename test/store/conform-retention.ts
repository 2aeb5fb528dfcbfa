/** What can never run is failed with a reason; what ended long ago is removed, and nothing else. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { redriveTask } from './acts.ts';
import {
  codeOf,
  completed,
  HOUR,
  ids,
  MACHINE,
  MINUTE,
  newTask,
  newTasks,
  segment,
} from './factories.ts';
import { podOf, type Scene } from './harness.ts';

export function describeRetention(scene: Scene): void {
  const known = () =>
    scene.store.announce([{ route: `${MACHINE}@1`, fingerprint: 'f', shape: 's' }]);

  test('a task of a machine that no pod has ever had is failed after the grace', async () => {
    await known();
    const typo = await scene.enqueue({ machine: 'sample/tpyo' });
    await scene.enqueue({ version: 9 });
    await scene.enqueue();
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toEqual([]);
    await scene.pass(11 * MINUTE);
    const failed = await scene.store.failHopeless(10 * MINUTE, 100);
    expect(failed).toMatchObject([{ id: typo, status: 'failed', outcome: 'aborted' }]);
    const row = await scene.row(typo);
    expect(row).toMatchObject({ status: 'failed', outcome: 'aborted' });
    expect(codeOf(row.error)).toMatch(/^FLEETQ_/);
    expect(row.finishedAt).toBeDefined();
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toEqual([]);
  });

  test('a redriven task of an unknown machine has its grace again, and a paused one is left', async () => {
    const machine = 'sample/unheard-of';
    const id = await scene.enqueue({ machine });
    await scene.harness.insertPlain({ machine, paused: true });
    await scene.pass(HOUR);
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toMatchObject([{ id }]);
    await redriveTask(scene.store, id, { generation: 1 }, { isFresh: false });
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toEqual([]);
    await scene.pass(HOUR);
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toMatchObject([{ id }]);
  });

  test('a task whose id has no known form is a dead letter', async () => {
    await known();
    const plain = { machine: MACHINE, payload: '{}' };
    const bad = await scene.harness.insertPlain({ ...plain, task_id: 'order 17' });
    const upper = '0E9B2C8A-4E6A-4B0E-9C62-3D5B3A1B6F10';
    await scene.harness.insertPlain({ ...plain, task_id: upper });
    await scene.harness.insertPlain({ ...plain, task_id: upper.toLowerCase() });
    await scene.harness.insertPlain(plain);
    await scene.enqueue();
    const failed = await scene.store.failHopeless(HOUR, 100);
    expect(ids(failed).sort()).toEqual([upper, bad]);
    expect(failed[0]).toMatchObject({ status: 'failed', outcome: 'aborted' });
  });

  test('a passed deadline is failed where no live pod could run the task, and left otherwise', async () => {
    await known();
    await scene.store.announce([{ route: 'sample/two@1', fingerprint: 'f', shape: 's' }]);
    const pod = await scene.pod('alder', { routes: [`${MACHINE}@1`] });
    await scene.enqueue({ deadlineMs: MINUTE });
    const gone = await scene.enqueue({ machine: 'sample/two', deadlineMs: MINUTE });
    const later = await scene.enqueue({
      machine: 'sample/two',
      deadlineMs: MINUTE,
      due: { afterMs: HOUR },
    });
    await scene.enqueue({ machine: 'sample/two', deadlineMs: 3 * HOUR });
    const run = { id: newTask().id, machine: MACHINE, version: 1, payload: '{}' };
    const journal = 'journal-birch';
    const birch = await scene.pod('birch', { journal });
    await scene.store.mirror(birch, [{ ...run, journal, deadlineMs: MINUTE, startedAgoMs: 0 }]);
    await scene.kill(birch);
    const taking = { by: pod, to: 'pool', crashed: 'none', spreadMs: 0, countMax: 10 } as const;
    await scene.store.take({ ...taking, from: birch });
    expect(await scene.store.failHopeless(10 * HOUR, 100)).toEqual([]);
    await scene.pass(2 * MINUTE);
    const failed = await scene.store.failHopeless(10 * HOUR, 100);
    expect(ids(failed).sort()).toEqual([gone, run.id].sort());
    await scene.pass(HOUR);
    const failedLater = await scene.store.failHopeless(10 * HOUR, 100);
    expect(ids(failedLater)).toEqual([later]);
    for (const row of [...failed, ...failedLater])
      expect(row).toMatchObject({ status: 'failed', outcome: 'timedOut' });
  });

  test('long past its deadline a task is failed whoever could run it: a suspect, a pinned, a paused one', async () => {
    await known();
    await scene.pod('alder', { routes: [`${MACHINE}@1`] });
    const row = { machine: MACHINE, payload: '{}', deadlineAfterMs: HOUR } as const;
    const late = [
      await scene.harness.insertPlain(row),
      await scene.harness.insertPlain({ ...row, crashes: 2 }),
      await scene.harness.insertPlain({ ...row, pinned_to: 'journal-birch' }),
      await scene.harness.insertPlain({ ...row, paused: true }),
    ];
    await scene.pass(HOUR + 5 * MINUTE);
    expect(await scene.store.failHopeless(10 * MINUTE, 100)).toEqual([]);
    await scene.pass(10 * MINUTE);
    const failed = await scene.store.failHopeless(10 * MINUTE, 100);
    expect(ids(failed).sort()).toEqual(late.sort());
    for (const ended of failed) expect(ended).toMatchObject({ outcome: 'timedOut' });
  });

  test('it is told whether anything is hopeless, or old, and nothing is changed by asking', async () => {
    await known();
    const pod = await scene.pod('alder');
    const left = async () => ({
      hasHopeless: await scene.store.hasHopeless(10 * MINUTE),
      hasOld: await scene.store.hasOld(HOUR),
    });
    const claim = await scene.claimNew(pod);
    await scene.enqueue();
    expect(await left()).toEqual({ hasHopeless: false, hasOld: false });
    await scene.store.settle(pod, [completed(claim)]);
    await scene.enqueue({ machine: 'sample/tpyo' });
    expect(await left()).toEqual({ hasHopeless: false, hasOld: false });
    await scene.pass(30 * MINUTE);
    expect(await left()).toEqual({ hasHopeless: true, hasOld: false });
    expect(await left()).toEqual({ hasHopeless: true, hasOld: false });
    expect(await scene.store.failHopeless(10 * MINUTE, 10)).toHaveLength(1);
    await scene.pass(40 * MINUTE);
    expect(await left()).toEqual({ hasHopeless: false, hasOld: true });
    expect((await scene.store.prune(HOUR, 10)).removed).toBe(1);
    expect(await left()).toEqual({ hasHopeless: false, hasOld: false });
    await scene.kill(pod);
    await scene.store.retire(pod);
    await scene.pass(20 * MINUTE);
    await scene.store.prune(HOUR, 10);
    expect((await left()).hasOld).toBe(false);
    await scene.pass(2 * HOUR);
    expect((await left()).hasOld, 'a pod long down').toBe(true);
  });

  test('a key that has outlived its task is something old', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { key: 'order-1', keyMs: MINUTE });
    await scene.store.settle(pod, [completed(claim)]);
    expect(await scene.store.hasOld(10 * HOUR)).toBe(false);
    await scene.pass(2 * MINUTE);
    expect(await scene.store.hasOld(10 * HOUR)).toBe(true);
    await scene.store.prune(10 * HOUR, 10);
    expect(await scene.store.hasOld(10 * HOUR)).toBe(false);
  });

  test('keys are freed a batch at a time, and it is told that there are more', async () => {
    const pod = await scene.pod('alder');
    for (const key of ['a', 'b', 'c']) {
      const claim = await scene.claimNew(pod, { key, keyMs: MINUTE });
      await scene.store.settle(pod, [completed(claim)]);
    }
    await scene.pass(2 * MINUTE);
    expect(await scene.store.prune(HOUR, 2)).toEqual({ removed: 0, isMore: true });
    expect(await scene.store.prune(HOUR, 2)).toEqual({ removed: 0, isMore: false });
    expect(await scene.store.hasOld(HOUR)).toBe(false);
  });

  test('the audit log is kept for ever, or for as long as somebody has said', async () => {
    const task = await scene.enqueue();
    const ofAnn = (requestId: string) => ({ requestId, who: 'ann', what: 'reveal', detail: {} });
    for (const id of ['a', 'b', 'c']) await scene.store.note({ ...ofAnn(id), task });
    await scene.pass(100 * HOUR);
    await scene.store.note({ ...ofAnn('d'), task });
    expect(await scene.store.hasOld(HOUR)).toBe(false);
    expect((await scene.store.prune(HOUR, 10)).removed).toBe(0);
    expect(await scene.rowCount('audit_log')).toBe(4);
    expect(await scene.store.hasOld(HOUR, 50 * HOUR)).toBe(true);
    const counts = [];
    for (let n = 0; n < 3; n++) counts.push(await scene.store.prune(HOUR, 2, 50 * HOUR));
    expect(counts).toEqual([
      { removed: 2, isMore: true },
      { removed: 1, isMore: false },
      { removed: 0, isMore: false },
    ]);
    expect(await scene.store.hasOld(HOUR, 50 * HOUR)).toBe(false);
    expect(await scene.harness.rows('audit_log')).toMatchObject([{ id: 'd' }]);
  });

  test('what somebody holds is never hopeless', async () => {
    const pod = await scene.pod('alder', { routes: [] });
    const claim = await scene.claimNew(pod, { deadlineMs: MINUTE });
    await scene.pass(HOUR);
    expect(await scene.store.failHopeless(0, 100)).toEqual([]);
    expect(await scene.store.settle(pod, [completed(claim)])).toMatchObject([{ kind: 'stood' }]);
  });

  test('the hopeless are failed in batches', async () => {
    await scene.store.enqueue(newTasks(5, { machine: 'sample/tpyo' }));
    await scene.pass(HOUR);
    expect(await scene.store.failHopeless(MINUTE, 3)).toHaveLength(3);
    expect(await scene.store.failHopeless(MINUTE, 3)).toHaveLength(2);
  });

  test('what ended longer ago than allowed is removed with its history, and nothing else', async () => {
    const pod = await scene.pod('alder');
    const old = await ended(scene, pod);
    const keyed = await ended(scene, pod, { key: 'order-1', keyMs: 10 * HOUR });
    const expired = await ended(scene, pod, { key: 'order-2', keyMs: HOUR });
    await scene.enqueue();
    await scene.claimOne(pod);
    await scene.enqueue({ due: { afterMs: 9 * HOUR } });
    await scene.pass(3 * HOUR);
    const young = await ended(scene, pod);
    expect((await scene.store.prune(5 * HOUR, 100)).removed).toBe(0);
    expect((await scene.store.prune(2 * HOUR, 100)).removed).toBe(2);
    expect(await scene.store.find([old, expired])).toEqual([]);
    expect(await scene.store.histories([{ task: old, generation: 1 }])).toEqual([]);
    expect(await scene.store.list({ countMax: 10 })).toHaveLength(4);
    expect(await scene.store.histories([{ task: young, generation: 1 }])).toHaveLength(1);
    // A key that still stands for its task keeps it.
    expect((await scene.row(keyed)).key).toBe('order-1');
    await scene.pass(8 * HOUR);
    expect((await scene.store.prune(5 * HOUR, 100)).removed).toBe(2);
  });

  test('a key that has outlived its task is cleared before the task is removed', async () => {
    const pod = await scene.pod('alder');
    const id = await ended(scene, pod, { key: 'order-1', keyMs: MINUTE });
    await scene.pass(HOUR);
    expect((await scene.store.prune(9 * HOUR, 100)).removed).toBe(0);
    expect((await scene.row(id)).key).toBeUndefined();
  });

  test('a task that another one calls its parent is kept', async () => {
    const pod = await scene.pod('alder');
    const parent = await ended(scene, pod);
    const child = { machine: 'sample/two', parent_id: parent };
    await scene.harness.insertPlain(child);
    await scene.pass(HOUR);
    expect((await scene.store.prune(MINUTE, 100)).removed).toBe(0);
    expect(await scene.row(parent)).toMatchObject({ status: 'completed' });
  });

  test('a flush that comes when its task is gone is refused, and leaves nothing behind', async () => {
    const pod = await scene.pod('alder');
    const gone = await scene.claimNew(pod);
    await scene.store.archive([segment(gone, 0, 1)]);
    await scene.store.settle(pod, [completed(gone, { tail: segment(gone, 2, 3) })]);
    await scene.pass(HOUR);
    const there = await scene.claimNew(pod);
    expect((await scene.store.prune(MINUTE, 100)).removed).toBe(1);
    const late = [segment(gone, 4, 5), segment(there, 0, 1), segment(gone, 0, 1)];
    const refused = { task: gone.task, kind: 'refused', reason: expect.stringMatching(/no task/) };
    expect(await scene.store.archive(late)).toMatchObject([refused, { kind: 'held' }, refused]);
    expect(await scene.harness.rows('run_events')).toHaveLength(1);
    expect(await scene.store.histories([gone])).toEqual([]);
  });

  test('retention works in batches', async () => {
    const pod = await scene.pod('alder');
    for (let index = 0; index < 5; index++) await ended(scene, pod);
    await scene.pass(HOUR);
    expect((await scene.store.prune(MINUTE, 3)).removed).toBe(3);
    expect((await scene.store.prune(MINUTE, 3)).removed).toBe(2);
    expect(await scene.rowCount('run_events')).toBe(0);
  });

  test('pods that have long been down are forgotten, dead ones are not', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.pod('cedar');
    await scene.kill(alder);
    await scene.kill(birch);
    await scene.store.retire(alder);
    await scene.store.prune(HOUR, 100);
    expect(await scene.store.pods()).toHaveLength(3);
    await scene.pass(2 * HOUR);
    await scene.store.prune(HOUR, 100);
    const left = (await scene.store.pods()).map(({ pod }) => pod);
    expect(left.sort()).toEqual([birch, podOf('cedar')]);
  });
}

/** A task that was completed just now, with a history. */
async function ended(
  scene: Scene,
  pod: ReturnType<typeof podOf>,
  options: Parameters<Scene['enqueue']>[0] = {},
): Promise<RunId> {
  const machine = 'sample/short';
  const id = await scene.enqueue({ machine, ...options });
  const claim = await scene.claimOne(pod, { routes: [`${machine}@1`], countMax: 1 });
  await scene.store.settle(pod, [completed(claim, { tail: segment(claim, 0, 2) })]);
  return id;
}

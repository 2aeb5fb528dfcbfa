/** Live views: what has changed since, and how far the records of followed tasks have come. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { type Deed, revisionOf } from '../../src/store/acts.ts';
import type { Watch, WatchQuery } from '../../src/store/watch.ts';
import { doTo } from './acts.ts';
import { completed, failed, HOUR, newId, newTasks, parked, segment } from './factories.ts';
import type { Scene } from './harness.ts';

const WEEK = 7 * 24 * 3_600_000;

export function describeWatch(scene: Scene): void {
  const watch = (query: Partial<WatchQuery> = {}): Promise<Watch> =>
    scene.store.watch({ followed: [], others: [], sinceMs: undefined, countMax: 100, ...query });
  const changed = async (sinceMs: number, others: readonly RunId[] = []) =>
    (await watch({ sinceMs, others })).tasks.map(({ id, status }) => `${status} ${id}`).sort();
  /** Nothing that was done before is as late as this. */
  const later = async () => {
    await scene.pass(1_000);
    return (await watch()).nowMs;
  };

  test('followed tasks come with the furthest record of their generation', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const other = await scene.enqueue();
    expect(await watch({ followed: [claim.task, newId()] })).toMatchObject({
      tasks: [{ id: claim.task, status: 'claimed', claimedBy: pod }],
      heads: [],
      hasMore: false,
    });
    await scene.store.archive([segment(claim, 0, 2), segment(claim, 3, 4)]);
    const { tasks, heads } = await watch({ followed: [claim.task, other] });
    expect(tasks.map(({ id }) => id).sort()).toEqual([claim.task, other].sort());
    expect(heads).toEqual([
      { ...pick(claim), lastSeq: 4, lastHash: segment(claim, 3, 4).lastHash },
    ]);
    expect(tasks[0]).not.toHaveProperty('payload');
    expect(tasks[0]).not.toHaveProperty('result');
  });

  test('a task is told with the revision that it has', async () => {
    const task = await scene.enqueue();
    await doTo(scene.store, task, { what: 'pause' });
    const [told] = (await watch({ followed: [task] })).tasks;
    expect(revisionOf(told!)).toBe(revisionOf(await scene.row(task)));
    expect(revisionOf(told!)).toBe('1.0.1');
  });

  test('whatever was made, claimed or ended since is told, and nothing older', async () => {
    const pod = await scene.pod('alder');
    const old = await scene.enqueue();
    const [first, second] = [await scene.claim(pod), await scene.enqueue()];
    expect(first).toMatchObject([{ task: old }]);
    const before = await later();
    expect(await changed(before)).toEqual([]);
    const made = await scene.enqueue({ due: { afterMs: WEEK } });
    expect(await changed(before)).toEqual([`waiting ${made}`]);
    await scene.store.settle(pod, [completed(first[0]!)]);
    const [claim] = await scene.claim(pod);
    expect(claim).toMatchObject({ task: second });
    expect(await changed(before)).toEqual(
      [`waiting ${made}`, `completed ${old}`, `claimed ${second}`].sort(),
    );
    expect(await changed(await later())).toEqual([]);
  });

  test('whatever people have changed since is told, though nobody holds it', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [failed(claim)]);
    const [paused, left] = [await scene.enqueue(), await scene.enqueue()];
    const before = await later();
    await doTo(scene.store, paused, { what: 'pause' });
    await doTo(scene.store, claim.task, { what: 'redrive', isFresh: false });
    expect(await changed(before)).toEqual([`pending ${claim.task}`, `pending ${paused}`].sort());
    expect(await changed(await later())).toEqual([]);
    expect(left).not.toBe(paused);
  });

  test('a task that was parked is told where it is asked for', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const before = await later();
    await scene.store.settle(pod, [parked(claim, 'sleep', WEEK)]);
    expect(await changed(before, [claim.task])).toEqual([`waiting ${claim.task}`]);
    expect(await changed(await later(), [claim.task])).toEqual([]);
  });

  test('what people change is told, though nobody holds it', async () => {
    const task = await scene.enqueue({ due: { afterMs: WEEK } });
    const untouched = await scene.enqueue({ due: { afterMs: WEEK } });
    const act = async (deed: Deed) => {
      const before = await later();
      expect(await changed(before)).toEqual([]);
      expect(await doTo(scene.store, task, deed)).toBe('done');
      return changed(before);
    };
    expect(await act({ what: 'pause' })).toEqual([`waiting ${task}`]);
    expect(await act({ what: 'resume' })).toEqual([`waiting ${task}`]);
    expect(await act({ what: 'reschedule', due: { afterMs: HOUR } })).toEqual([`waiting ${task}`]);
    expect(await act({ what: 'cancel', reason: 'enough' })).toEqual([`cancelled ${task}`]);
    expect(await act({ what: 'redrive', isFresh: false })).toEqual([`pending ${task}`]);
    const before = await later();
    const note = { requestId: newId(), who: 'ruth', what: 'reveal', task: untouched, detail: {} };
    await scene.store.note(note);
    expect(await changed(before)).toEqual([]);
  });

  test('more than are wanted are not told, and that there are more is', async () => {
    const { nowMs } = await watch();
    const tasks = newTasks(7);
    await scene.store.enqueue(tasks);
    const some = await watch({ sinceMs: nowMs - 1_000, countMax: 5, followed: [tasks[0]!.id] });
    expect(some.hasMore).toBe(true);
    expect(some.tasks.map(({ id }) => id)).toContain(tasks[0]!.id);
    expect(some.tasks.length).toBeLessThanOrEqual(6);
    const all = await watch({ sinceMs: nowMs - 1_000, countMax: 7 });
    expect(all).toMatchObject({ hasMore: false });
    expect(all.tasks).toHaveLength(7);
  });
}

function pick({ task, generation, epoch }: { task: RunId; generation: number; epoch: number }) {
  return { task, generation, epoch };
}

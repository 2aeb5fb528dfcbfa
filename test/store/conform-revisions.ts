/** What people have seen of a task, and how much time it has once they have changed it. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { type Deed, type Revision, revisionOf } from '../../src/store/acts.ts';
import { doTo } from './acts.ts';
import { failed, HOUR, MINUTE, newId, parked } from './factories.ts';
import { expectNear, type Scene } from './harness.ts';

export function describeRevisions(scene: Scene): void {
  const seen = async (task: RunId) => revisionOf(await scene.row(task));
  const put = (task: RunId, afterMs: number) =>
    doTo(scene.store, task, { what: 'reschedule', due: { afterMs } });

  test('I40: of two who saw the same task only one changes it, whatever they do to it', async () => {
    const pod = await scene.pod('alder');
    const task = await scene.enqueue({ due: { afterMs: HOUR } });
    const twice = async (deed: Deed, other: Deed, word = 'done') => {
      const ifRevision = await seen(task);
      expect(await doTo(scene.store, task, deed, { ifRevision })).toBe(word);
      expect(await doTo(scene.rival, task, other, { ifRevision })).toBe('revision');
    };
    const later = { what: 'reschedule', due: { afterMs: 2 * HOUR } } as const;
    await twice(later, { ...later, due: { afterMs: 9 * HOUR } });
    await twice({ what: 'pause' }, { what: 'resume' });
    await twice({ what: 'resume' }, { what: 'pause' });
    await twice({ what: 'retry' }, later);
    // Also of one that somebody holds, and of one that has ended.
    const claim = await scene.claimOne(pod);
    await twice({ what: 'pause' }, { what: 'cancel', reason: 'x' }, 'requested');
    await twice({ what: 'resume' }, { what: 'pause' });
    await scene.store.settle(pod, [failed(claim)]);
    await twice({ what: 'discard' }, { what: 'redrive', isFresh: false });
    await twice({ what: 'redrive', isFresh: false }, { what: 'redrive', isFresh: true });
    expect(await scene.row(task)).toMatchObject({ generation: 2, status: 'pending' });
  });

  test('I40: what changed nothing is no change, and a part of a revision stands for all of it', async () => {
    const task = await scene.enqueue();
    await doTo(scene.store, task, { what: 'pause' });
    const ifRevision = await seen(task);
    expect(await doTo(scene.store, task, { what: 'pause' })).toBe('already');
    expect(await seen(task)).toBe(ifRevision);
    const [generation, epoch] = ifRevision.split('.');
    const word = (revision: string, what: 'pause' | 'resume') =>
      doTo(scene.store, task, { what }, { ifRevision: revision as Revision });
    expect(await word(`${generation}`, 'resume')).toBe('done');
    expect(await word(`${generation}.${epoch}`, 'pause')).toBe('done');
    expect(await word(`${generation}.${epoch}.9`, 'resume')).toBe('revision');
    expect(await word(`${generation}.${epoch}1`, 'resume')).toBe('revision');
    expect(await word(`${generation}1`, 'resume')).toBe('revision');
  });

  test('what is put off and brought forward again has the time that it had before', async () => {
    const task = await scene.enqueue({ due: { afterMs: HOUR }, deadlineMs: 24 * HOUR });
    const { deadlineAt: first } = await scene.row(task);
    await put(task, 100 * HOUR);
    expectNear((await scene.row(task)).deadlineAt! - first!, 99 * HOUR);
    await put(task, HOUR);
    expectNear((await scene.row(task)).deadlineAt!, first!);
    for (const afterMs of [100 * HOUR, 0, 100 * HOUR, 0]) await put(task, afterMs);
    expectNear((await scene.row(task)).deadlineAt!, first! - HOUR);
  });

  test('a redriven task and a fork have the time that it was enqueued with, whatever it was put off by', async () => {
    const pod = await scene.pod('alder');
    const task = await scene.enqueue({ due: { afterMs: HOUR }, deadlineMs: 24 * HOUR });
    await put(task, 100 * HOUR);
    await scene.pass(100 * HOUR + MINUTE);
    const claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [failed(claim)]);
    const as = newId();
    const beginning = { payload: '{}', records: undefined, lastSeq: -1, lastHash: undefined };
    await doTo(scene.store, task, { what: 'fork', as, state: 'main.check', ...beginning });
    await doTo(scene.store, task, { what: 'redrive', isFresh: false });
    for (const one of [as, task]) {
      const { deadlineAt, updatedAt } = await scene.row(one);
      expectNear(deadlineAt! - updatedAt, 24 * HOUR);
    }
    // The next generation has been put off by nothing.
    await put(task, HOUR);
    await put(task, 0);
    const { deadlineAt, updatedAt } = await scene.row(task);
    expectNear(deadlineAt! - updatedAt, 24 * HOUR);
  });

  test('a retry that is brought forward takes nothing from the time of its run', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { deadlineMs: 24 * HOUR });
    const { deadlineAt } = await scene.row(claim.task);
    await scene.store.settle(pod, [parked(claim, 'retry', HOUR)]);
    await put(claim.task, 0);
    expectNear((await scene.row(claim.task)).deadlineAt!, deadlineAt!);
  });
}

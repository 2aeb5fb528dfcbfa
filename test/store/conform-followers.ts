/** Tasks that follow others: let go by whoever ends those, however that is, and by nobody else. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { FollowsOn } from '../../src/store/follow.ts';
import type { NewTask, Settlement } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import { cancelTask, discardTask, doTo, redriveTask, rescheduleTask } from './acts.ts';
import {
  cancelled,
  codeOf,
  completed,
  failed,
  HOUR,
  ids,
  MACHINE,
  MINUTE,
  newId,
} from './factories.ts';
import { podOf, type Scene } from './harness.ts';

export function describeFollowers(scene: Scene): void {
  const follow = (run: RunId | string, on: FollowsOn, options: Partial<NewTask> = {}) =>
    scene.enqueue({ follows: { run, on }, ...options });
  const end = async (pod: PodId, claim: Claim, how: (claim: Claim) => Settlement) =>
    expect(await scene.store.settle(pod, [how(claim)])).toMatchObject([{ kind: 'stood' }]);
  const waits = { status: 'waiting', waitFor: 'run' };

  test('a follower waits, however long, and is claimed once the run has completed', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const id = await follow(claim.task, 'success', { deadlineMs: HOUR });
    expect(await scene.row(id)).toMatchObject({
      ...waits,
      follows: { run: claim.task, on: 'success' },
    });
    await scene.pass(48 * HOUR);
    expect(await scene.claim(pod)).toEqual([]);
    await end(pod, claim, completed);
    const next = await scene.claimOne(pod);
    expect(next.task).toBe(id);
    // Its time begins when it may: what it waited is not taken from it.
    expect(next.deadlineMs).toBeGreaterThan(50 * MINUTE);
    expect(next.deadlineMs).toBeLessThanOrEqual(HOUR);
  });

  test.each<[string, (claim: Claim) => Settlement, object, object]>([
    ['completed', completed, { status: 'pending' }, { status: 'pending' }],
    ['failed', failed, waits, { status: 'pending' }],
    ['was cancelled', cancelled, { status: 'cancelled' }, { status: 'pending' }],
  ])('of a run that %s', async (_, how, onSuccess, onEnd) => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const [one, other] = [await follow(claim.task, 'success'), await follow(claim.task, 'end')];
    await end(pod, claim, how);
    expect(await scene.row(one)).toMatchObject(onSuccess);
    expect(await scene.row(other)).toMatchObject(onEnd);
    // Whoever comes too late for it finds the same.
    expect(await scene.row(await follow(claim.task, 'success'))).toMatchObject(onSuccess);
    expect(await scene.row(await follow(claim.task, 'end'))).toMatchObject(onEnd);
  });

  test('who follows a run is told with it, also those that wait no more', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const [one, two] = [await follow(claim.task, 'success'), await follow(claim.task, 'end')];
    await follow(one, 'end');
    const reader = await scene.store.openReader();
    try {
      const told = (count = 10) => reader.followers(claim.task, count);
      const waiting = { machine: MACHINE, status: 'waiting' };
      const first = { run: one, on: 'success' };
      const both = [first, { run: two, on: 'end' }].sort((a, b) => (a.run < b.run ? -1 : 1));
      expect(await told()).toEqual(both.map((each) => ({ ...each, ...waiting })));
      expect(await told(1)).toHaveLength(1);
      await end(pod, claim, completed);
      expect((await told()).map(({ status }) => status)).toEqual(['pending', 'pending']);
      expect(await reader.followers(two, 10)).toEqual([]);
    } finally {
      await reader.close();
    }
  });

  test('one that follows a dead letter goes on when that is redriven and completes', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const id = await follow(claim.task, 'success');
    await end(pod, claim, failed);
    await redriveTask(scene.store, claim.task, await scene.row(claim.task), { isFresh: true });
    expect(await scene.row(id)).toMatchObject(waits);
    await end(pod, await scene.claimOne(pod), completed);
    expect(ids(await scene.claim(pod))).toEqual([id]);
  });

  test('where a dead letter is discarded, those that wait for its success end, and theirs', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const first = await follow(claim.task, 'success');
    const second = await follow(first, 'success');
    const last = await follow(second, 'end');
    await end(pod, claim, failed);
    await discardTask(scene.store, claim.task, await scene.row(claim.task));
    for (const id of [first, second]) {
      const row = await scene.row(id);
      expect(row).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
      expect(codeOf(row.error)).toBe('FLEETQ_FOLLOWED_NOT_COMPLETED');
    }
    expect(ids(await scene.claim(pod))).toEqual([last]);
  });

  test('a run that people cancel lets its followers go, and so does one whose owners died', async () => {
    const pod = await scene.pod('alder');
    const id = await scene.enqueue();
    const follower = await follow(id, 'end');
    await cancelTask(scene.store, id, 'no more');
    expect(await scene.row(follower)).toMatchObject({ status: 'pending' });
    await cancelTask(scene.store, follower, 'nor this');

    const crashed = await scene.harness.insertPlain({ machine: 'sample/one', crashes: 2 });
    const next = await follow(crashed, 'end');
    await scene.claimOne(pod, { head: 'suspect' });
    await scene.kill(pod);
    const taking = { from: pod, by: podOf('sweeper'), to: 'pool', countMax: 9 } as const;
    await scene.store.take({ ...taking, crashed: 'all', spreadMs: 0 });
    expect(await scene.row(crashed)).toMatchObject({ status: 'failed', outcome: 'crashLoop' });
    expect(await scene.row(next)).toMatchObject({ status: 'pending' });
  });

  test('what is followed is not removed while somebody waits for it', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const id = await follow(claim.task, 'success');
    await end(pod, claim, failed);
    await scene.pass(9 * HOUR);
    expect((await scene.store.prune(HOUR, 10)).removed).toBe(0);
    await cancelTask(scene.store, id, 'no more');
    expect((await scene.store.prune(HOUR, 10)).removed).toBe(1);
  });

  test('one that follows nothing that is there does not wait for ever', async () => {
    expect(await scene.row(await follow(newId(), 'end'))).toMatchObject({ status: 'pending' });
    const id = await follow(newId(), 'success');
    expect(await scene.row(id)).toMatchObject({ status: 'cancelled' });
  });

  test('people may let a follower go, pause it, and cancel it', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const [early, later, paused, none] = [
      await follow(claim.task, 'success'),
      await follow(claim.task, 'success'),
      await follow(claim.task, 'success'),
      await follow(claim.task, 'success'),
    ];
    await rescheduleTask(scene.store, early, { afterMs: 0 });
    expect(ids(await scene.claim(pod))).toEqual([early]);
    // Whoever says when it is due has said that it follows nobody.
    await rescheduleTask(scene.store, later, { afterMs: HOUR });
    await doTo(scene.store, paused, { what: 'pause' });
    await cancelTask(scene.store, none, 'no more');
    await end(pod, claim, completed);
    expect(await scene.claim(pod)).toEqual([]);
    expect(await scene.row(paused)).toMatchObject({ status: 'pending', isPaused: true });
    expect(await scene.row(none)).toMatchObject({ status: 'cancelled' });
    expect(await scene.row(later)).toMatchObject({ status: 'waiting', waitFor: 'time' });
  });
}

/** Taking a dead pod's tasks: to the fleet or to its successor, and whose death counts as a crash. */
import { expect, test } from 'vitest';
import type { TakenTask, Taking } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import { cancelTask } from './acts.ts';
import {
  codeOf,
  completed,
  HOUR,
  ids,
  MACHINE,
  newId,
  parked,
  released,
  segment,
} from './factories.ts';
import { expectNear, podOf, type Scene } from './harness.ts';

const DAY = 24 * HOUR;

export function describeTake(scene: Scene): void {
  const take = (from: PodId, options: Partial<Taking> = {}): Promise<TakenTask[]> =>
    scene.store.take({
      from,
      by: podOf('sweeper'),
      to: 'pool',
      countMax: 100,
      crashed: 'all',
      spreadMs: 0,
      ...options,
    });
  const mirrorOne = async (
    pod: PodId,
    journal: string,
    { machine = MACHINE, deadlineMs }: { machine?: string; deadlineMs?: number } = {},
  ) => {
    const run = { id: newId(), machine, version: 1, payload: '{}', startedAgoMs: 0 };
    await scene.store.mirror(pod, [{ ...run, journal, deadlineMs }]);
    return run.id;
  };

  test('nothing is taken from a pod that lives', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await take(pod)).toEqual([]);
    await scene.store.markDraining(pod);
    expect(await take(pod)).toEqual([]);
    expect(await scene.store.settle(pod, [completed(claim)])).toMatchObject([{ kind: 'stood' }]);
  });

  test('what a dead pod held is pending under a new epoch, and was interrupted', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.kill(pod);
    const taken = await take(pod);
    expect(ids(taken)).toEqual([a.task, b.task]);
    expect(taken[0]).toMatchObject({ status: 'pending', crashes: 1, generation: 1 });
    expect(taken.map(({ previousEpoch }) => previousEpoch)).toEqual([a.epoch, b.epoch]);
    expect(taken[0]!.epoch).toBeGreaterThan(a.epoch);
    const row = await scene.row(a.task);
    expect(row).toMatchObject({ status: 'pending', crashes: 1, claims: 1, epoch: taken[0]!.epoch });
    expect(row.claimedBy).toBeUndefined();
    const claimed = await scene.claim(await scene.pod('birch'));
    expect(claimed).toMatchObject([
      { task: a.task, interruption: 'cut', crashes: 1 },
      { task: b.task, interruption: 'cut', crashes: 1 },
    ]);
    expect(await scene.store.held(podOf('birch'), '', 10)).toMatchObject([
      { interruption: 'cut' },
      { interruption: 'cut' },
    ]);
    await scene.store.settle(podOf('birch'), [released(claimed[0]!)]);
    expect(await scene.claimOne(podOf('birch'))).toMatchObject({ interruption: undefined });
  });

  test('H10: in an outage no crash is counted, but its tasks were interrupted', async () => {
    const pod = await scene.pod('alder');
    await scene.claimNew(pod);
    await scene.kill(pod);
    await take(pod, { crashed: 'none' });
    const next = await scene.claimOne(await scene.pod('birch'));
    expect(next).toMatchObject({ crashes: 0, interruption: 'cut' });
  });

  test('where it is known what ran, only that counts as crashed', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.kill(pod);
    await take(pod, { crashed: [b.task] });
    const claimed = await scene.claim(await scene.pod('birch'));
    expect(claimed).toMatchObject([
      { task: a.task, crashes: 0, interruption: undefined },
      { task: b.task, crashes: 1, interruption: 'cut' },
    ]);
  });

  test('where only some claims are asked for, another epoch of a task is another claim', async () => {
    const pod = await scene.pod('alder');
    const [a, b, c] = [
      await scene.claimNew(pod),
      await scene.claimNew(pod),
      await scene.claimNew(pod),
    ];
    await scene.kill(pod);
    const only = [
      { task: a.task, epoch: a.epoch },
      { task: b.task, epoch: b.epoch + 1 },
    ];
    expect(await take(pod, { crashed: [a.task, b.task], only })).toMatchObject([
      { task: a.task, crashes: 1, previousEpoch: a.epoch },
    ]);
    expect(await take(pod, { crashed: [], only: [] })).toEqual([]);
    const held = await scene.store.held(pod, '', 9);
    expect(held.map(({ task }) => task)).toEqual([b.task, c.task].sort());
  });

  test('where only what belongs to no host is asked for, pictures of local runs are left', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const id = await mirrorOne(pod, 'journal-a');
    await scene.kill(pod);
    expect(await take(pod, { only: 'free' })).toMatchObject([{ task: claim.task }]);
    expect(await take(pod, { only: 'free' })).toEqual([]);
    expect(await take(pod)).toMatchObject([{ task: id, status: 'waiting' }]);
  });

  test('H12: a cancellation that was asked for is done by the sweep', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await cancelTask(scene.store, claim.task, 'not wanted');
    await scene.kill(pod);
    const [taken] = await take(pod);
    expect(taken).toMatchObject({ task: claim.task, status: 'cancelled', outcome: 'cancelled' });
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
    expect(row.finishedAt).toBeDefined();
    expect([row.control, row.claimedBy]).toEqual([undefined, undefined]);
    expect(row.epoch).toBeGreaterThan(claim.epoch);
  });

  test('I4: what has ended by its records is not cancelled, nor failed, by whoever takes it', async () => {
    const pod = await scene.pod('alder');
    const [ended, open] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    const tail = (claim: Claim, state: string) => ({ ...segment(claim, 0, 3), state });
    await scene.store.archive([tail(ended, 'completed'), tail(open, 'main.persist')]);
    for (const { task } of [ended, open]) await cancelTask(scene.store, task, 'not wanted');
    await scene.kill(pod);
    expect(await take(pod)).toMatchObject([{ status: 'pending' }, { status: 'cancelled' }]);
    expect(await cancelTask(scene.store, ended.task, 'again')).toBe('tooLate');
    const row = await scene.row(ended.task);
    expect(row).toMatchObject({ status: 'pending' });
    expect(row.control).toBeUndefined();
    const birch = await scene.pod('birch');
    const claim = await scene.claimOne(birch);
    expect(await scene.store.settle(birch, [completed(claim)])).toMatchObject([{ kind: 'stood' }]);
  });

  test('I4: records that an earlier owner brought late do not speak for the last one', async () => {
    const alder = await scene.pod('alder');
    const first = await scene.claimNew(alder);
    await scene.kill(alder);
    await take(alder);
    const birch = await scene.pod('birch');
    const second = await scene.claimOne(birch);
    await scene.store.archive([{ ...segment(first, 0, 3), state: 'completed' }]);
    await scene.store.archive([segment(second, 0, 1, 'other')]);
    await scene.store.settle(birch, [released(second)]);
    expect(await cancelTask(scene.store, first.task, 'not wanted')).toBe('done');
  });

  test('a dead leader’s recovery is not resumed by another', async () => {
    const pod = await scene.pod('alder');
    const id = await mirrorOne(pod, 'journal-alder', { machine: 'recovery/sweep' });
    await scene.kill(pod);
    const [taken] = await take(pod);
    expect(taken).toMatchObject({ task: id, status: 'cancelled', outcome: 'cancelled' });
    expect(codeOf((await scene.row(id)).error)).toMatch(/^FLEETQ_/);
  });

  test('a recovery goes on in the successor of its own pod', async () => {
    const [old, successor] = [await scene.pod('alder'), await scene.pod('alder-2')];
    await mirrorOne(old, 'journal-alder', { machine: 'recovery/sweep' });
    await scene.kill(old, successor);
    const taken = await take(old, { by: successor, to: 'taker' });
    expect(taken).toMatchObject([{ status: 'claimed' }]);
  });

  test('H5: a successor on the same disk takes its predecessor’s tasks over, claimed', async () => {
    const journal = 'journal-alder';
    const old = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(old, { key: 'k' }), await scene.claimNew(old)];
    const pinned = await mirrorOne(old, journal);
    const successor = await scene.pod('alder-2', { journal, boot: 2 });
    expect(await scene.store.fence(old, successor, 'proved')).toBe(true);
    const crashed = [b.task];
    const taken = await take(old, { by: successor, to: 'taker', crashed });
    expect(taken).toMatchObject([
      { task: a.task, status: 'claimed', key: 'k', crashes: 0, interruption: undefined },
      { task: b.task, status: 'claimed', crashes: 1, interruption: 'cut' },
      { task: pinned, status: 'claimed', pinnedTo: journal },
    ]);
    expect(taken[0]!.epoch).toBeGreaterThan(a.epoch);
    const row = await scene.row(a.task);
    expect(row).toMatchObject({ status: 'claimed', claimedBy: successor, claims: 1 });
    // What the dead process still has under way on the server comes too late.
    expect(await scene.rival.settle(old, [completed(a)])).toMatchObject([{ kind: 'lost' }]);
    const settled = await scene.store.settle(
      successor,
      taken.map((claim) => completed(claim)),
    );
    expect(settled.map(({ kind }) => kind)).toEqual(Array(3).fill('stood'));
    expect(await scene.store.retire(old)).toBe(true);
  });

  test('being taken over makes a task no younger, whoever gets it', async () => {
    const pods = ['alder', 'birch', 'cedar'] as const;
    const [alder, birch, cedar] = await Promise.all(pods.map((name) => scene.pod(name)));
    await scene.claimNew(alder!);
    await scene.pass(HOUR);
    await scene.kill(alder!);
    await take(alder!, { by: birch!, to: 'taker', crashed: 'none' });
    await scene.kill(birch!);
    const [taken] = await take(birch!, { by: cedar! });
    expectNear(taken!.ageMs!, HOUR);
  });

  test('a payload that is too large is not handed to a successor; its size is told', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.claimNew(alder, { payload: '"0123456789"' });
    await scene.kill(alder);
    const [taken] = await take(alder, { by: birch, to: 'taker', payloadBytesMax: 5 });
    expect(taken).toMatchObject({ payload: undefined, oversizeBytes: 12 });
  });

  test('H5: a successor whose answer was lost finds what it took, and takes nothing twice', async () => {
    const [old, successor] = [await scene.pod('alder'), await scene.pod('alder-2')];
    await scene.claimNew(old);
    await scene.kill(old, successor);
    const [taken] = await take(old, { by: successor, to: 'taker' });
    expect(await take(old, { by: successor, to: 'taker' })).toEqual([]);
    const [held] = await scene.store.held(successor, '', 10);
    expect(held).toMatchObject({ task: taken!.task, epoch: taken!.epoch, interruption: 'cut' });
  });

  test('H5: a successor that is not up takes nothing', async () => {
    const [old, successor] = [await scene.pod('alder'), await scene.pod('alder-2')];
    await scene.claimNew(old);
    await scene.kill(old);
    await scene.store.markDraining(successor);
    expect(await take(old, { by: successor, to: 'taker' })).toEqual([]);
    expect(await take(old, { by: podOf('nobody'), to: 'taker' })).toEqual([]);
    expect((await scene.store.list({ countMax: 9 }))[0]).toMatchObject({ claimedBy: old });
    expect(await take(old)).toHaveLength(1);
  });

  test('H10: a successor does not run suspects itself', async () => {
    const pods = [await scene.pod('p-0'), await scene.pod('p-1'), await scene.pod('p-2')];
    const claim = await scene.claimNew(pods[0]!);
    for (const index of [0, 1]) {
      await scene.kill(pods[index]!);
      const taken = await take(pods[index]!, { by: pods[index + 1]!, to: 'taker' });
      expect(taken).toMatchObject([{ status: index === 0 ? 'claimed' : 'pending' }]);
    }
    expect(await scene.row(claim.task)).toMatchObject({ status: 'pending', crashes: 2 });
    const suspect = await scene.claimOne(pods[2]!, { head: 'suspect' });
    expect(suspect.task).toBe(claim.task);
  });

  test('H14: a run of a host is not given to another: it waits for its host', async () => {
    const journal = 'journal-alder';
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const open = await mirrorOne(alder, journal);
    const bounded = await mirrorOne(alder, journal, { deadlineMs: HOUR });
    await scene.kill(alder);
    expect(await take(alder)).toMatchObject([
      { task: open, status: 'waiting' },
      { task: bounded, status: 'waiting' },
    ]);
    const row = await scene.row(open);
    expect(row).toMatchObject({ status: 'waiting', waitFor: 'host', pinnedTo: journal });
    expectNear(row.deadlineAt! - row.updatedAt, DAY);
    const { deadlineAt, createdAt } = await scene.row(bounded);
    expectNear(deadlineAt! - createdAt, HOUR);
    expect(await scene.claim(birch)).toEqual([]);
    const back = await scene.pod('alder-2', { journal, boot: 2 });
    const claimed = await scene.claim(back, { journal });
    expect(ids(claimed).sort()).toEqual([open, bounded]);
    expect(claimed[0]).toMatchObject({ pinnedTo: journal, interruption: 'cut' });
  });

  test('a run that belongs to a host is not failed for the deaths of its host', async () => {
    const journal = 'journal-alder';
    let pod = await scene.pod('alder', { journal });
    const run = await mirrorOne(pod, journal);
    for (let boot = 2; boot < 6; boot++) {
      await scene.kill(pod);
      const next = await scene.pod(`alder-${boot}`, { journal, boot });
      const to = boot % 2 === 0 ? 'taker' : 'pool';
      await take(pod, { by: next, to });
      if (to === 'pool') await scene.claim(next, { journal });
      expect(await scene.row(run)).toMatchObject({
        status: 'claimed',
        claimedBy: next,
        crashes: 0,
      });
      pod = next;
    }
  });

  test('the count of a batch is kept to, in the order of ids', async () => {
    const pod = await scene.pod('alder');
    const claims = [];
    for (let index = 0; index < 5; index++) claims.push(await scene.claimNew(pod));
    await scene.kill(pod);
    expect(ids(await take(pod, { countMax: 2 }))).toEqual(ids(claims).slice(0, 2));
    expect(ids(await take(pod, { countMax: 2 }))).toEqual(ids(claims).slice(2, 4));
    expect(ids(await take(pod, { countMax: 2 }))).toEqual(ids(claims).slice(4));
  });

  test('H23: being taken over does not move a deadline', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { deadlineMs: HOUR });
    await scene.store.settle(pod, [parked(claim, 'sleep', 0)]);
    await scene.claimOne(pod);
    await scene.kill(pod);
    await take(pod);
    const { deadlineAt, createdAt } = await scene.row(claim.task);
    expectNear(deadlineAt! - createdAt, HOUR);
  });
}

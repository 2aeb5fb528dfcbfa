/** Tasks whose runs have come under another version while a pod had them: who may claim them then. */
import { expect, test } from 'vitest';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { redriveTask } from './acts.ts';
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
import type { Scene } from './harness.ts';

const NEXT = `${MACHINE}@2`;

export function describeVersions(scene: Scene): void {
  const stood = (task: string) => [{ task, kind: 'stood' }];
  const held = (task: string) => [{ task, kind: 'held' }];

  test('a task that is given back under another version goes to whoever has that one (I33)', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE, NEXT] });
    const claim = await scene.claimNew(pod);
    const given = { ...released(claim, { tail: segment(claim, 0, 2) }), version: 2 };
    expect(await scene.store.settle(pod, [given])).toEqual(stood(claim.task));
    expect(await scene.row(claim.task)).toMatchObject({ status: 'pending', version: 2 });
    expect(await scene.claim(pod, { routes: [ROUTE] })).toEqual([]);
    expect(await scene.claimOne(pod, { routes: [NEXT] })).toMatchObject({ version: 2 });
  });

  test('one that is parked wakes under its other version', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE, NEXT] });
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [{ ...parked(claim, 'sleep', HOUR), version: 2 }]);
    await scene.pass(HOUR);
    expect(await scene.claim(pod, { routes: [ROUTE] })).toEqual([]);
    expect(await scene.claim(pod, { routes: [NEXT] })).toMatchObject([{ task: claim.task }]);
  });

  test('an outcome says which version it is of, and a redrive goes on under that one', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE, NEXT] });
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.store.settle(pod, [
      { ...completed(a), version: 2 },
      { ...failed(b), version: 3 },
    ]);
    expect(await scene.row(a.task)).toMatchObject({ status: 'completed', version: 2 });
    expect(await scene.row(b.task)).toMatchObject({ status: 'failed', version: 3 });
    await redriveTask(scene.store, b.task, { generation: 1 }, { isFresh: false });
    expect(await scene.row(b.task)).toMatchObject({ status: 'pending', version: 3 });
  });

  test('a settlement that says nothing of it leaves the version as it is', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE, NEXT] });
    await scene.store.enqueue(newTasks(1, { version: 2 }));
    const claim = await scene.claimOne(pod, { routes: [NEXT] });
    await scene.store.settle(pod, [released(claim)]);
    expect(await scene.row(claim.task)).toMatchObject({ version: 2 });
  });

  test('what has lost its claim moves no task', async () => {
    const pod = await scene.pod('alder');
    const old = await scene.claimNew(pod);
    await scene.store.settle(pod, [released(old)]);
    const late = { ...released(old), version: 2 };
    expect(await scene.store.settle(pod, [late])).toEqual([{ task: old.task, kind: 'lost' }]);
    expect(await scene.row(old.task)).toMatchObject({ version: 1 });
  });

  test('a flush brings the version along: whoever takes over finds both or neither', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const claim = await scene.claimNew(alder);
    const tail = { ...segment(claim, 0, 2), version: 2 };
    expect(await scene.store.archive([tail])).toEqual(held(claim.task));
    expect(await scene.row(claim.task)).toMatchObject({ status: 'claimed', version: 2 });
    // The answer was lost, and it is sent again.
    expect(await scene.rival.archive([tail])).toEqual(held(claim.task));
    await scene.kill(alder);
    const taking = { from: alder, by: birch, to: 'taker', countMax: 9, crashed: 'none' } as const;
    const [taken] = await scene.store.take({ ...taking, spreadMs: 0 });
    expect(taken).toMatchObject({ task: claim.task, version: 2 });
    expect(await scene.store.histories([claim])).toEqual([segment(claim, 0, 2)]);
  });

  test('some of a flush move, and the others stay what they were', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(5));
    const claims = await scene.claim(pod);
    const flush = claims.map((claim, index) => {
      const part = segment(claim, 0, index);
      return index % 2 ? { ...part, version: 2 } : part;
    });
    await scene.store.archive(flush.toReversed());
    const rows = await scene.store.find(ids(claims));
    const versions = ids(claims).map((id) => rows.find((row) => row.id === id)?.version);
    expect(versions).toEqual([1, 2, 1, 2, 1]);
  });

  test('a late flush is kept, and says nothing about the task of a later owner', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const old = await scene.claimNew(alder);
    await scene.store.settle(alder, [released(old)]);
    const late = { ...segment(old, 0, 2), version: 2 };
    expect(await scene.store.archive([late])).toEqual(held(old.task));
    expect(await scene.row(old.task)).toMatchObject({ version: 1 });
    const claim = await scene.claimOne(birch);
    expect(await scene.store.archive([late])).toEqual(held(old.task));
    expect(await scene.row(claim.task)).toMatchObject({ version: 1 });
    await scene.store.settle(birch, [completed(claim, { tail: segment(claim, 3, 4) })]);
    await scene.store.archive([{ ...segment(claim, 3, 4), version: 2 }]);
    expect(await scene.row(claim.task)).toMatchObject({ status: 'completed', version: 1 });
  });

  test('routes that were announced and that no pod which is up has now are abandoned', async () => {
    const announced = [ROUTE, NEXT, `${MACHINE}/other@1`, 'elsewhere@1'];
    await scene.store.announce(announced.map((route) => ({ route, fingerprint: 'f', shape: 's' })));
    const abandoned = () => scene.store.abandoned([MACHINE, `${MACHINE}/other`]);
    expect(await abandoned()).toEqual([`${MACHINE}/other@1`, ROUTE, NEXT]);
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch', { routes: [NEXT] })];
    expect(await abandoned()).toEqual([`${MACHINE}/other@1`]);
    await scene.store.markDraining(alder);
    expect(await abandoned()).toEqual([`${MACHINE}/other@1`, ROUTE]);
    await scene.kill(birch);
    expect(await scene.store.abandoned([MACHINE])).toEqual([ROUTE, NEXT]);
    expect(await scene.store.abandoned([])).toEqual([]);
  });

  test('what was announced is known as it was first, in the order of routes', async () => {
    expect(await scene.store.known()).toEqual([]);
    const announced = (route: string, fingerprint: string) => ({ route, fingerprint, shape: 's' });
    await scene.store.announce([announced(NEXT, 'b'), announced(ROUTE, 'a')]);
    await scene.store.announce([announced(NEXT, 'changed'), announced('a/b@1', 'c')]);
    const firstSeenAt = expect.any(Number);
    expect(await scene.store.known()).toEqual([
      { ...announced('a/b@1', 'c'), firstSeenAt },
      { ...announced(ROUTE, 'a'), firstSeenAt },
      { ...announced(NEXT, 'b'), firstSeenAt },
    ]);
  });

  test('what has not ended is counted by route, and what pods could claim of some', async () => {
    expect(await scene.store.inFlight()).toEqual([]);
    expect(await scene.store.inFlight([ROUTE])).toEqual([]);
    const pod = await scene.pod('alder', { routes: [ROUTE, NEXT] });
    const shelved = await scene.claimNew(pod);
    const asleep = await scene.claimNew(pod);
    const done = await scene.claimNew(pod);
    await scene.store.settle(pod, [
      blocked(shelved),
      parked(asleep, 'sleep', HOUR),
      completed(done),
    ]);
    await scene.claimNew(pod);
    await scene.store.enqueue([...newTasks(2), ...newTasks(3, { version: 2 })]);
    const of = (version: number) => ({ route: `${MACHINE}@${version}`, machine: MACHINE, version });
    const none = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };
    const old = { ...of(1), ...none, pending: 2, waiting: 2, shelved: 1 };
    const next = { ...of(2), ...none, pending: 3 };
    expect(await scene.store.inFlight()).toEqual([{ ...old, claimed: 1 }, next]);
    expect(await scene.store.inFlight([ROUTE])).toEqual([old]);
    expect(await scene.store.inFlight([NEXT, ROUTE, 'other@1'])).toEqual([old, next]);
    expect(await scene.store.inFlight([])).toEqual([]);
  });

  test('tasks that outlived two owners, and those that are pinned, are counted as such', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.claimNew(alder);
    for (let crash = 0; crash < 2; crash++) {
      const from = crash === 0 ? alder : birch;
      const by = crash === 0 ? birch : await scene.pod('cedar');
      await scene.kill(from);
      const to = crash === 0 ? 'taker' : 'pool';
      await scene.store.take({ from, by, to, countMax: 9, crashed: 'all', spreadMs: 0 });
    }
    expect(await scene.store.inFlight()).toMatchObject([{ pending: 1, suspect: 1, pinned: 0 }]);
    expect(await scene.store.inFlight([ROUTE])).toMatchObject([{ pending: 1, suspect: 1 }]);
    const [row] = await scene.store.list({ isInFlight: true, countMax: 9 });
    expect(row).toMatchObject({ crashes: 2, interruption: 'cut', carriesFrom: undefined });
  });

  test('a row says which generation it goes on from', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [failed(claim, { tail: segment(claim, 0, 2) })]);
    await redriveTask(scene.store, claim.task, { generation: 1 }, { isFresh: false });
    expect(await scene.row(claim.task)).toMatchObject({ generation: 2, carriesFrom: 1 });
  });

  const blocked = (claim: ClaimedTask, options: { readonly isUntouched?: boolean } = {}) => {
    return { ...parked(claim, 'version', MINUTE), ...options };
  };

  test('a task that waits for its version is looked at again after a while', async () => {
    const pod = await scene.pod('alder', { routes: [NEXT] });
    const claim = await scene.claimNew(pod);
    expect(await scene.store.settle(pod, [blocked(claim)])).toEqual(stood(claim.task));
    expect(await scene.row(claim.task)).toMatchObject({ status: 'waiting', waitFor: 'version' });
    expect(await scene.claim(pod)).toEqual([]);
    await scene.pass(MINUTE);
    expect(await scene.claim(pod)).toMatchObject([{ task: claim.task }]);
  });

  test('it is due at once when a pod comes that has its version, and only then', async () => {
    const pod = await scene.pod('alder', { routes: [NEXT] });
    const [claim, asleep] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.store.settle(pod, [blocked(claim), parked(asleep, 'sleep', MINUTE)]);
    const other = await scene.pod('birch', { routes: [NEXT] });
    expect(await scene.claim(other)).toEqual([]);
    const able = await scene.pod('cedar');
    expect(ids(await scene.claim(able))).toEqual([claim.task]);
    expect(await scene.row(asleep.task)).toMatchObject({ status: 'waiting', waitFor: 'sleep' });
  });

  test('whoever could not go on with it leaves its interruption to the next', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const claim = await scene.claimNew(alder);
    await scene.kill(alder);
    const taking = { from: alder, by: birch, to: 'taker', countMax: 9, crashed: 'none' } as const;
    const [taken] = await scene.store.take({ ...taking, spreadMs: 0 });
    expect(taken).toMatchObject({ interruption: 'cut' });
    await scene.store.settle(birch, [blocked(taken!, { isUntouched: true })]);
    await scene.pass(MINUTE);
    const next = await scene.claimOne(birch);
    expect(next).toMatchObject({ task: claim.task, interruption: 'cut' });
    await scene.store.settle(birch, [blocked(next)]);
    await scene.pass(MINUTE);
    expect((await scene.claimOne(birch)).interruption).toBeUndefined();
  });
}

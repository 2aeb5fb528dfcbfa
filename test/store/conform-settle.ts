/** Settling: what stands, what is lost, and what a task looks like once its owner has let go. */
import { expect, test } from 'vitest';
import { CRASHES_MAX } from '../../src/store/words.ts';
import { cancelTask } from './acts.ts';
import {
  cancelled,
  claimOf,
  codeOf,
  completed,
  failed,
  HOUR,
  ids,
  MINUTE,
  newTasks,
  parked,
  released,
  segment,
} from './factories.ts';
import { expectNear, podOf, type Scene } from './harness.ts';

export function describeSettle(scene: Scene): void {
  test('an outcome is stored with its result, and the task is nobody’s any more', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const tail = segment(claim, 0, 4);
    const settlement = completed(claim, { tail, result: '{"n":"ümlaut"}', retriesAdd: 2 });
    const task = claim.task;
    expect(await scene.store.settle(pod, [settlement])).toEqual([{ task, kind: 'stood' }]);
    const row = await scene.row(task);
    expect(row).toMatchObject({
      status: 'completed',
      outcome: 'completed',
      result: '{"n":"ümlaut"}',
      retryCount: 2,
      lastSeq: 4,
      lastHash: tail.lastHash,
      epoch: claim.epoch,
    });
    expect([row.claimedBy, row.error, row.control]).toEqual([undefined, undefined, undefined]);
    expect(Math.abs(row.finishedAt! - scene.harness.now())).toBeLessThan(MINUTE);
    expect(await scene.store.held(pod, '', 10)).toEqual([]);
  });

  test('a failed and a cancelled task say so', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.store.settle(pod, [failed(a), cancelled(b)]);
    const error = '{"code":"SAMPLE","message":"it broke"}';
    expect(await scene.row(a.task)).toMatchObject({ status: 'failed', outcome: 'aborted', error });
    expect(await scene.row(b.task)).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
  });

  test('no settlements give no answers', async () => {
    expect(await scene.store.settle(await scene.pod('alder'), [])).toEqual([]);
  });

  test('every settlement has its own answer, in the order given', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(700));
    const claims = (await scene.claim(pod, { countMax: 700 })).reverse();
    const stale = claims[5]!;
    await scene.store.settle(pod, [released(stale)]);
    const answers = await scene.store.settle(
      pod,
      claims.map((claim) => completed(claim, { tail: segment(claim, 0, 1) })),
    );
    expect(ids(answers)).toEqual(ids(claims));
    const lost = answers.filter(({ kind }) => kind !== 'stood');
    expect(lost).toEqual([{ task: stale.task, kind: 'lost' }]);
    expect(await scene.rowCount('run_events')).toBe(699);
  });

  test('a settlement whose answer was lost is recognised as done, and changes nothing (I5)', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.store.settle(pod, [completed(claim)]);
    const before = await scene.row(claim.task);
    const again = await scene.rival.settle(pod, [completed(claim, { result: '"other"' })]);
    expect(again).toEqual([{ task: claim.task, kind: 'done' }]);
    expect(await scene.row(claim.task)).toEqual(before);
  });

  test('an earlier epoch, another pod, an unknown task: lost, and nothing is written (I8)', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const old = await scene.claimNew(alder);
    await scene.store.settle(alder, [released(old)]);
    const claim = await scene.claimOne(birch);
    const before = await scene.row(claim.task);
    const lost = [{ task: claim.task, kind: 'lost' }];
    const settle = (pod: typeof alder, of: typeof claim) =>
      scene.store.settle(pod, [failed(of, { tail: segment(of, 0, 3) })]);
    expect(await settle(alder, old)).toEqual(lost);
    expect(await settle(alder, claim)).toEqual(lost);
    expect(await settle(birch, old)).toEqual(lost);
    expect(await settle(birch, { ...claim, generation: 2 })).toEqual(lost);
    expect(await settle(birch, { ...claim, epoch: claim.epoch + 1 })).toEqual(lost);
    const unknown = { ...claim, task: newTasks(1)[0]!.id };
    expect(await settle(birch, unknown)).toEqual([{ task: unknown.task, kind: 'lost' }]);
    expect(await scene.row(claim.task)).toEqual(before);
    expect(await scene.rowCount('run_events')).toBe(0);
  });

  test('H8: a draining pod settles what it holds, a dead one does not', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    await scene.store.markDraining(pod);
    expect(await scene.store.settle(pod, [completed(a)])).toMatchObject([{ kind: 'stood' }]);
    await scene.kill(pod, pod);
    const late = await scene.store.settle(pod, [completed(b, { tail: segment(b, 0, 1) })]);
    expect(late).toEqual([{ task: b.task, kind: 'lost' }]);
    expect((await scene.row(b.task)).status).toBe('claimed');
    expect(await scene.rowCount('run_events')).toBe(0);
    expect(await scene.store.settle(podOf('nobody'), [completed(b)])).toMatchObject([
      { kind: 'lost' },
    ]);
  });

  test('a released task is pending at once; releasing it again is lost', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const release = released(claim, { tail: segment(claim, 0, 2), retriesAdd: 1 });
    expect(await scene.store.settle(pod, [release])).toMatchObject([{ kind: 'stood' }]);
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({ status: 'pending', retryCount: 1, lastSeq: 2, outcome: undefined });
    expect([row.claimedBy, row.finishedAt]).toEqual([undefined, undefined]);
    expect(await scene.store.settle(pod, [release])).toMatchObject([{ kind: 'lost' }]);
    expect(await scene.claimOne(pod)).toMatchObject({ lastSeq: 2, retryCount: 1 });
  });

  test('H13: a park says for what and until when, and brings its history along', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    const tail = segment(claim, 0, 3);
    await scene.store.settle(pod, [parked(claim, 'sleep', HOUR, { tail })]);
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({ status: 'waiting', waitFor: 'sleep', lastSeq: 3 });
    expectNear(row.runAt - row.updatedAt, HOUR);
    expect(await scene.store.histories([claim])).toEqual([tail]);
  });

  test('H23: nothing waits beyond its deadline', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { deadlineMs: 10 * MINUTE });
    await scene.store.settle(pod, [parked(claim, 'retry', HOUR)]);
    const { runAt, deadlineAt } = await scene.row(claim.task);
    expect(runAt).toBe(deadlineAt);
    await scene.pass(11 * MINUTE);
    expect((await scene.claimOne(pod)).deadlineMs).toBeLessThan(0);
  });

  test('retries are counted, and end the task when there are more than its enqueuer allows', async () => {
    const pod = await scene.pod('alder');
    let claim = await scene.claimNew(pod, { retriesMax: 2 });
    for (const retryCount of [1, 2]) {
      await scene.store.settle(pod, [parked(claim, 'retry', 0, { retriesAdd: 1 })]);
      claim = await scene.claimOne(pod);
      expect(claim.retryCount).toBe(retryCount);
    }
    const last = parked(claim, 'retry', 0, { retriesAdd: 1, tail: segment(claim, 0, 8) });
    expect(await scene.store.settle(pod, [last])).toMatchObject([{ kind: 'stood' }]);
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({
      status: 'failed',
      outcome: 'exhausted',
      retryCount: 3,
      lastSeq: 8,
    });
    expect(codeOf(row.error)).toBe('FLEETQ_RETRIES_SPENT');
    expect(row.waitFor).toBeUndefined();
    expect(await scene.store.settle(pod, [last])).toMatchObject([{ kind: 'done' }]);
    expect(await scene.rowCount('run_events')).toBe(1);
  });

  test('sleeps and releases do not end a task whose retries are spent', async () => {
    const pod = await scene.pod('alder');
    let claim = await scene.claimNew(pod, { retriesMax: 0 });
    await scene.store.settle(pod, [parked(claim, 'retry', 0)]);
    claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [parked(claim, 'sleep', 0, { retriesAdd: 1 })]);
    claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [released(claim)]);
    expect(await scene.claimOne(pod)).toMatchObject({ task: claim.task, retryCount: 1 });
  });

  test('a cancellation that was asked for ends the task when its owner lets go of it', async () => {
    const pod = await scene.pod('alder');
    const [a, b] = [await scene.claimNew(pod), await scene.claimNew(pod)];
    const [c, d] = [await scene.claimNew(pod, { retriesMax: 0 }), await scene.claimNew(pod)];
    for (const claim of [a, b, c, d]) await cancelTask(scene.store, claim.task, 'not wanted');
    const letGo = [
      released(a, { tail: segment(a, 0, 1) }),
      parked(b, 'sleep', HOUR),
      parked(c, 'retry', HOUR, { retriesAdd: 1 }),
      failed(d),
    ];
    const answers = await scene.store.settle(pod, letGo);
    expect(answers.map(({ kind }) => kind)).toEqual(Array(4).fill('stood'));
    for (const claim of [a, b, c]) {
      const row = await scene.row(claim.task);
      expect(row).toMatchObject({ status: 'cancelled', outcome: 'cancelled', epoch: claim.epoch });
      expect([row.control, row.waitFor, row.claimedBy]).toEqual(Array(3).fill(undefined));
      expect(row.finishedAt).toBeDefined();
    }
    expect((await scene.row(d.task)).status).toBe('failed');
    expect(await scene.store.histories([a])).toHaveLength(1);
    expect(await scene.store.settle(pod, [letGo[0]!])).toMatchObject([{ kind: 'done' }]);
  });

  test('H10: a completed step clears the crashes before it', async () => {
    const claim = await crashed(scene, 1);
    const pod = podOf('survivor');
    await scene.store.settle(pod, [released(claim)]);
    const again = await scene.claimOne(pod);
    expect(again).toMatchObject({ crashes: 1, interruption: undefined });
    await scene.store.settle(pod, [released(again, { hasCompletedStep: true })]);
    expect(await scene.claimOne(pod)).toMatchObject({ crashes: 0 });
  });

  test('H10: the third crash without a completed step between ends the task', async () => {
    const claim = await crashed(scene, CRASHES_MAX - 1, 'suspect');
    await scene.kill(podOf('survivor'));
    const [taken] = await scene.store.take({
      from: podOf('survivor'),
      by: podOf('sweeper'),
      to: 'pool',
      countMax: 10,
      crashed: 'all',
      spreadMs: 0,
    });
    expect(taken).toMatchObject({ task: claim.task, status: 'failed', outcome: 'crashLoop' });
    expect(codeOf(taken?.error)).toBe('FLEETQ_CRASH_LOOP');
    expect(await scene.row(claim.task)).toMatchObject({ status: 'failed', crashes: CRASHES_MAX });
    expect((await scene.row(claim.task)).epoch).toBeGreaterThan(claim.epoch);
  });

  test('an end without the history it speaks of breaks a rule of the tables (I16)', async () => {
    scene.isChecked = false;
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await scene.store.violations()).toEqual([]);
    await scene.store.settle(pod, [{ ...completed(claim), lastSeq: 5, lastHash: 'somewhere' }]);
    expect(await scene.store.violations()).toMatchObject([{ count: 1, examples: [claim.task] }]);
  });

  test('a settlement whose tail is another history than the stored one is refused (I13)', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(5));
    const [same, past, longer, shorter, honest] = await scene.claim(pod);
    const claims = [same!, past!, longer!, shorter!, honest!];
    const stored = claims.map((claim) => segment(claim, 0, 3));
    await scene.store.archive(stored);
    const answers = await scene.store.settle(pod, [
      completed(same!, { tail: segment(same!, 0, 3, 'other') }),
      completed(past!, { tail: { ...segment(past!, 0, 5), prevHash: 'another past' } }),
      parked(longer!, 'sleep', MINUTE, { tail: segment(longer!, 0, 5, 'other') }),
      released(shorter!, { tail: segment(shorter!, 0, 2, 'other') }),
      failed(honest!, { tail: segment(honest!, 0, 4) }),
    ]);
    const refused = { kind: 'refused', reason: expect.stringMatching(/fork/) };
    expect(answers).toMatchObject([refused, refused, refused, refused, { kind: 'stood' }]);
    // Nothing of it was written: they are their owner's as before, and so is what is stored.
    const forked = claims.slice(0, 4);
    expect((await scene.store.held(pod, '', 10)).map(claimOf)).toEqual(forked.map(claimOf));
    expect(await scene.store.histories(forked)).toEqual(stored.slice(0, 4));
  });

  test('a settlement whose tail the store has already, or more of it, stands', async () => {
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(2));
    const [same, longer] = await scene.claim(pod);
    const stored = [segment(same!, 0, 3), segment(longer!, 0, 5)];
    await scene.store.archive(stored);
    const answers = await scene.store.settle(pod, [
      completed(same!, { tail: stored[0] }),
      released(longer!, { tail: segment(longer!, 0, 3) }),
    ]);
    expect(answers).toMatchObject([{ kind: 'stood' }, { kind: 'stood' }]);
    expect(await scene.store.histories([same!, longer!])).toEqual(stored);
  });

  test('a value the store cannot hold is refused; the others of its batch stand', async () => {
    const { poison } = scene.harness;
    const pod = await scene.pod('alder');
    await scene.store.enqueue(newTasks(9));
    const claims = await scene.claim(pod);
    const answers = await scene.store.settle(
      pod,
      claims.map((claim, index) =>
        completed(claim, { result: index === 4 ? `"${poison}"` : '1', tail: segment(claim, 0, 1) }),
      ),
    );
    const kinds = answers.map(({ kind }) => kind);
    expect(kinds).toEqual([...Array(4).fill('stood'), 'refused', ...Array(4).fill('stood')]);
    expect(answers[4]).toMatchObject({ task: claims[4]!.task, reason: expect.any(String) });
    expect(await scene.store.held(pod, '', 10)).toMatchObject([claimOf(claims[4]!)]);
  });
}

/** A task in the hands of the pod 'survivor', after so many of its owners have died. */
async function crashed(scene: Scene, count: number, head: 'ready' | 'suspect' = 'ready') {
  await scene.enqueue();
  for (let crash = 0; crash < count; crash++) {
    const pod = await scene.pod(`victim-${crash}`);
    await scene.claimOne(pod);
    await scene.kill(pod);
    const by = podOf('sweeper');
    const taking = { from: pod, by, to: 'pool', countMax: 10, crashed: 'all' } as const;
    expect(await scene.store.take({ ...taking, spreadMs: 0 })).toHaveLength(1);
  }
  return scene.claimOne(await scene.pod('survivor'), { head });
}

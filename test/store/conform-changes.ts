/** What people may change: cancel, reschedule, redrive, discard; each safe to press twice. */
import { expect, test } from 'vitest';
import { cancelTask, discardTask, doTo, redriveTask, rescheduleTask } from './acts.ts';
import {
  codeOf,
  completed,
  failed,
  HOUR,
  MACHINE,
  MINUTE,
  newId,
  newTask,
  parked,
  released,
  segment,
} from './factories.ts';
import { expectNear, type Scene } from './harness.ts';

export function describeChanges(scene: Scene): void {
  const seen = (generation: number) => ({ generation });
  const failedOne = async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { key: 'k', keyMs: MINUTE, deadlineMs: HOUR });
    const tail = segment(claim, 0, 3);
    await scene.store.settle(pod, [failed(claim, { tail, retriesAdd: 2 })]);
    return { pod, claim, tail, task: claim.task };
  };

  test('H12: a task that nobody holds is cancelled at once', async () => {
    const pod = await scene.pod('alder');
    const waiting = await scene.enqueue({ due: { afterMs: HOUR } });
    const pending = await scene.enqueue();
    for (const id of [waiting, pending]) {
      const before = await scene.row(id);
      expect(await cancelTask(scene.store, id, 'not wanted')).toBe('done');
      const row = await scene.row(id);
      expect(row).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
      expect(row.error).toContain('not wanted');
      expect(row.waitFor).toBeUndefined();
      expect(row.finishedAt).toBeDefined();
      expect(row.epoch).toBeGreaterThan(before.epoch);
      expect(await cancelTask(scene.store, id, 'again')).toBe('done');
      expect(await scene.row(id)).toEqual(row);
    }
    expect(await scene.claim(pod)).toEqual([]);
  });

  test('H12: the owner is asked to cancel what it holds; the first reason stays', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await cancelTask(scene.store, claim.task, 'first')).toBe('requested');
    expect(await cancelTask(scene.rival, claim.task, 'second')).toBe('requested');
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({ status: 'claimed', control: 'cancel', epoch: claim.epoch });
    expect((await scene.rawRow(claim.task))['control_reason']).toBe('first');
  });

  test('H12: a completion that comes first wins, and the cancellation is too late', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await cancelTask(scene.store, claim.task, 'not wanted');
    expect(await scene.store.settle(pod, [completed(claim)])).toMatchObject([{ kind: 'stood' }]);
    expect(await cancelTask(scene.store, claim.task, 'again')).toBe('tooLate');
    const row = await scene.row(claim.task);
    expect(row).toMatchObject({ status: 'completed', control: undefined });
    expect(await cancelTask(scene.store, newId(), 'who?')).toBe('unknown');
  });

  test('a task that nobody holds can be put off, or called for at once', async () => {
    const pod = await scene.pod('alder');
    const pending = await scene.enqueue();
    expect(await rescheduleTask(scene.store, pending, { afterMs: HOUR })).toBe('done');
    expect(await scene.claim(pod)).toEqual([]);
    const { runAt, updatedAt } = await scene.row(pending);
    expectNear(runAt - updatedAt, HOUR);
    const at = scene.harness.now() + 2 * HOUR;
    expect(await rescheduleTask(scene.store, pending, { at })).toBe('done');
    expectNear((await scene.row(pending)).runAt, at);
    expect(await rescheduleTask(scene.store, pending, { afterMs: 0 })).toBe('done');
    const claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [parked(claim, 'sleep', HOUR)]);
    expect(await rescheduleTask(scene.store, pending, { afterMs: 0 })).toBe('done');
    expect(await scene.row(pending)).toMatchObject({ status: 'pending', waitFor: undefined });
    expect((await scene.claimOne(pod)).task).toBe(pending);
  });

  test('what is held or has ended is not rescheduled', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await rescheduleTask(scene.store, claim.task, { afterMs: HOUR })).toBe('tooLate');
    await scene.store.settle(pod, [completed(claim)]);
    expect(await rescheduleTask(scene.store, claim.task, { afterMs: HOUR })).toBe('tooLate');
    expect(await rescheduleTask(scene.store, newId(), { afterMs: HOUR })).toBe('unknown');
  });

  test('H11: a redrive starts a new generation that goes on from the old one', async () => {
    const { pod, claim, task } = await failedOne();
    await scene.pass(30 * MINUTE);
    expect(await redriveTask(scene.store, task, seen(1), { isFresh: false })).toBe(2);
    const row = await scene.row(task);
    expect(row).toMatchObject({
      status: 'pending',
      generation: 2,
      retryCount: 0,
      crashes: 0,
      lastSeq: -1,
    });
    const cleared = [row.outcome, row.result, row.error, row.finishedAt, row.discardedAt];
    expect(cleared).toEqual(Array(5).fill(undefined));
    expect(row.epoch).toBeGreaterThan(claim.epoch);
    expectNear(row.deadlineAt! - row.runAt, HOUR);
    const next = await scene.claimOne(pod);
    expect(next).toMatchObject({ task, generation: 2, carriesFrom: 1, keyGeneration: 1 });
    expect(next.interruption).toBeUndefined();
  });

  test('H11: each redrive gives the task as long as it had at first, and no longer', async () => {
    const { pod, task } = await failedOne();
    for (const generation of [1, 2, 3]) {
      await scene.pass(30 * MINUTE);
      await redriveTask(scene.store, task, seen(generation), { isFresh: generation === 2 });
      const row = await scene.row(task);
      expectNear(row.deadlineAt! - row.runAt, HOUR);
      await scene.store.settle(pod, [failed(await scene.claimOne(pod))]);
    }
  });

  test('H11: the old outcome is kept behind records that the end did not speak of', async () => {
    const { claim, tail, task } = await failedOne();
    const late = segment(claim, 4, 6);
    await scene.store.archive([late]);
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    const history = await scene.store.histories([{ task, generation: 1 }]);
    expect(history.slice(0, 2)).toEqual([tail, late]);
    expect(history[2]).toMatchObject({ firstSeq: 7, lastSeq: 7, state: 'outcome' });
  });

  test('H11: a redrive from scratch carries nothing over, and its keys are new ones', async () => {
    const { pod, task } = await failedOne();
    expect(await redriveTask(scene.store, task, seen(1), { isFresh: true })).toBe(2);
    const next = await scene.claimOne(pod);
    expect(next).toMatchObject({ generation: 2, keyGeneration: 2 });
    expect(next.carriesFrom).toBeUndefined();
  });

  test('H11: a redrive goes on from the last generation that has begun, however many have not', async () => {
    const { pod, task } = await failedOne();
    for (const generation of [1, 2, 3]) {
      await redriveTask(scene.store, task, seen(generation), { isFresh: false });
      if (generation < 3) expect(await cancelTask(scene.store, task, 'not now')).toBe('done');
    }
    const fourth = await scene.claimOne(pod);
    expect(fourth).toMatchObject({ generation: 4, carriesFrom: 1 });
    // It has begun by what was archived, though the row knows nothing of that.
    await scene.store.archive([segment(fourth, 0, 1)]);
    await scene.store.settle(pod, [failed(fourth)]);
    await redriveTask(scene.store, task, seen(4), { isFresh: false });
    expect(await scene.claimOne(pod)).toMatchObject({ generation: 5, carriesFrom: 4 });
  });

  test('H11: what was to begin afresh does so, though somebody cancelled it meanwhile', async () => {
    const { pod, task } = await failedOne();
    await redriveTask(scene.store, task, seen(1), { isFresh: true });
    await cancelTask(scene.store, task, 'not now');
    await redriveTask(scene.store, task, seen(2), { isFresh: false });
    expect((await scene.claimOne(pod)).carriesFrom).toBeUndefined();
  });

  test('H11: what was paused before it ended is not paused when it is redriven', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await doTo(scene.store, claim.task, { what: 'pause' });
    await scene.store.settle(pod, [released(claim)]);
    await cancelTask(scene.store, claim.task, 'for good');
    await redriveTask(scene.store, claim.task, { generation: 1 }, { isFresh: false });
    expect((await scene.claimOne(pod)).task).toBe(claim.task);
  });

  test('H11: a redrive keeps the old outcome in the history (I4, I30)', async () => {
    const { claim, tail, task } = await failedOne();
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    const history = await scene.store.histories([{ task, generation: 1 }]);
    expect(history[0]).toEqual(tail);
    expect(history[1]).toMatchObject({
      task,
      generation: 1,
      epoch: claim.epoch,
      firstSeq: 4,
      lastSeq: 4,
      prevHash: tail.lastHash,
      lastHash: tail.lastHash,
      state: 'outcome',
    });
    const [event] = JSON.parse(history[1]!.events) as Record<string, unknown>[];
    expect(event).toMatchObject({ type: 'OUTCOME', status: 'failed', outcome: 'aborted' });
    expect(JSON.stringify(event)).toContain('it broke');
    expect(history).toHaveLength(2);
    expect(await scene.store.histories([{ task, generation: 2 }])).toEqual([]);
  });

  test('H11: a redrive pressed twice makes one generation', async () => {
    const { task } = await failedOne();
    expect(await redriveTask(scene.store, task, seen(1), { isFresh: false })).toBe(2);
    expect(await redriveTask(scene.store, task, seen(1), { isFresh: false })).toBeUndefined();
    expect(await redriveTask(scene.store, task, seen(2), { isFresh: false })).toBeUndefined();
    expect(await redriveTask(scene.store, newId(), seen(1), { isFresh: false })).toBeUndefined();
    expect((await scene.row(task)).generation).toBe(2);
  });

  test('H11: a redrive that was pressed before the last end comes too late', async () => {
    const { pod, task } = await failedOne();
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    await scene.store.settle(pod, [failed(await scene.claimOne(pod))]);
    expect(await redriveTask(scene.rival, task, seen(1), { isFresh: false })).toBeUndefined();
    expect(await scene.row(task)).toMatchObject({ status: 'failed', generation: 2 });
    expect(await redriveTask(scene.rival, task, seen(2), { isFresh: false })).toBe(3);
  });

  test('H11: a late settlement of the old generation is lost', async () => {
    const { pod, claim, task } = await failedOne();
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    expect(await scene.store.settle(pod, [completed(claim)])).toEqual([{ task, kind: 'lost' }]);
    const next = await scene.claimOne(pod);
    expect(await scene.store.settle(pod, [completed(claim)])).toEqual([{ task, kind: 'lost' }]);
    expect(await scene.store.settle(pod, [completed(next)])).toEqual([{ task, kind: 'stood' }]);
  });

  test('cancelled and completed tasks, and those that never ran, can be redriven', async () => {
    const pod = await scene.pod('alder');
    const never = await scene.enqueue();
    await cancelTask(scene.store, never, 'no');
    expect(await redriveTask(scene.store, never, seen(1), { isFresh: false })).toBe(2);
    const history = await scene.store.histories([{ task: never, generation: 1 }]);
    expect(history).toMatchObject([{ firstSeq: 0, lastSeq: 0, prevHash: '', state: 'outcome' }]);
    const claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [completed(claim)]);
    expect(await redriveTask(scene.store, never, seen(2), { isFresh: true })).toBe(3);
    const { deadlineAt } = await scene.row(never);
    expect(deadlineAt).toBeUndefined();
  });

  test('a run of a host is not redriven: it has ended in the journal that it belongs to', async () => {
    const pod = await scene.pod('alder');
    const run = { id: newId(), machine: MACHINE, version: 1, payload: '{}', startedAgoMs: 0 };
    const journal = 'journal-alder';
    await scene.store.mirror(pod, [{ ...run, journal, deadlineMs: undefined }]);
    const [held] = await scene.store.held(pod, '', 1);
    await scene.store.settle(pod, [failed(held!)]);
    expect(await scene.row(run.id)).toMatchObject({ status: 'failed', generation: 1 });
    expect(await redriveTask(scene.store, run.id, seen(1), { isFresh: false })).toBeUndefined();
    expect(await scene.row(run.id)).toMatchObject({ status: 'failed', generation: 1 });
  });

  test('a redriven task has its key for as long as it runs', async () => {
    const { task } = await failedOne();
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    await scene.pass(10 * MINUTE);
    const [answer] = await scene.store.enqueue([newTask({ key: 'k' })]);
    expect(answer).toMatchObject({ id: task, isNew: false, status: 'pending' });
  });

  test('a dead letter that is discarded is listed no longer, and comes back with a redrive', async () => {
    const { pod, task } = await failedOne();
    const letters = () => scene.store.list({ isDeadLetter: true, countMax: 10 });
    expect(await letters()).toMatchObject([{ id: task }]);
    expect(await discardTask(scene.store, task, seen(2))).toBe(false);
    expect(await discardTask(scene.store, task, seen(1))).toBe(true);
    expect(await letters()).toEqual([]);
    expect(await scene.row(task)).toMatchObject({ status: 'failed' });
    expect((await scene.row(task)).discardedAt).toBeDefined();
    await redriveTask(scene.store, task, seen(1), { isFresh: false });
    await scene.store.settle(pod, [failed(await scene.claimOne(pod))]);
    expect(await letters()).toMatchObject([{ id: task, generation: 2 }]);
  });

  test('only what failed can be discarded', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    expect(await discardTask(scene.store, claim.task, seen(1))).toBe(false);
    await scene.store.settle(pod, [completed(claim)]);
    expect(await discardTask(scene.store, claim.task, seen(1))).toBe(false);
    expect(await discardTask(scene.store, newId(), seen(1))).toBe(false);
    expect(codeOf((await scene.row(claim.task)).error)).toBeUndefined();
  });
}

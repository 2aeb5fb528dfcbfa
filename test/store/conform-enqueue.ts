/** Enqueueing: ids, keys and their lifetimes, due times, and the plain INSERT from any language. */
import { expect, test } from 'vitest';
import { TIME_MS_MAX } from '../../src/store/bounds.ts';
import { StoreRefusedError } from '../../src/store/errors.ts';
import { cancelTask, rescheduleTask } from './acts.ts';
import { completed, HOUR, ids, MINUTE, newId, newTask, newTasks } from './factories.ts';
import { expectNear, type Scene } from './harness.ts';

export function describeEnqueue(scene: Scene): void {
  test('the time that a task has begins when it is due, and is put off with it', async () => {
    const task = newTask({ due: { afterMs: 48 * HOUR }, deadlineMs: HOUR });
    await scene.store.enqueue([task]);
    const lasting = async () => {
      const { deadlineAt, runAt } = await scene.row(task.id);
      return deadlineAt! - runAt;
    };
    expectNear(await lasting(), HOUR);
    await rescheduleTask(scene.store, task.id, { afterMs: 96 * HOUR });
    expectNear(await lasting(), HOUR);
    await rescheduleTask(scene.store, task.id, { afterMs: 0 });
    expectNear(await lasting(), HOUR);
    const [endless] = await scene.store.enqueue([newTask()]);
    await rescheduleTask(scene.store, endless!.id, { afterMs: HOUR });
    expect((await scene.row(endless!.id)).deadlineAt).toBeUndefined();
    const last = newTask({ due: { at: TIME_MS_MAX }, deadlineMs: HOUR });
    await scene.store.enqueue([last]);
    expect((await scene.row(last.id)).deadlineAt).toBe(TIME_MS_MAX);
  });

  test('a task and its row in the audit log are made together, or neither is (I40)', async () => {
    const note = { requestId: newId(), who: 'olga', what: 'start', detail: { via: 'api' } };
    const task = newTask({ key: 'order-1' });
    await scene.store.enqueue([task], undefined, note);
    const rows = async () => {
      const reader = await scene.store.openReader();
      try {
        return (await reader.audit({ who: 'olga', countMax: 9 })).rows;
      } finally {
        await reader.close();
      }
    };
    const { requestId, who, what } = note;
    expect(await rows()).toMatchObject([{ requestId, who, what, task: task.id }]);
    // Sent again, since the answer was lost.
    const [again] = await scene.rival.enqueue([newTask({ key: 'order-1' })], undefined, note);
    expect(again).toMatchObject({ id: task.id, isNew: false });

    const other = newTask();
    await expect(scene.store.enqueue([other], undefined, note)).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
    expect(await scene.store.find([other.id])).toEqual([]);
    expect(await rows()).toHaveLength(1);
  });

  test('a note stands once under its id, and nothing else does', async () => {
    const note = { requestId: newId(), who: 'rev', what: 'reveal', detail: { path: '/x' } };
    expect(await scene.store.note(note)).toBe(false);
    expect(await scene.rival.note(note)).toBe(true);
    for (const other of [{ who: 'eve' }, { what: 'drain' }, { task: newId() }, { detail: {} }]) {
      await expect(scene.store.note({ ...note, ...other })).rejects.toMatchObject({
        code: 'FLEETQ_REQUEST_REUSED',
      });
    }
  });

  test('a task is stored as it was given', async () => {
    const task = newTask({
      queue: 'mail',
      priority: 4,
      payload: '{"to":"Ada","text":"ümlaut \\u0000 😀"}',
      key: 'order-1',
      retriesMax: 3,
      deadlineMs: HOUR,
      traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    const [answer] = await scene.store.enqueue([task]);
    const payload = task.payload;
    expect(answer).toEqual({ id: task.id, isNew: true, status: 'pending', payload });
    const row = await scene.row(task.id);
    expect(row).toMatchObject({
      id: task.id,
      generation: 1,
      machine: task.machine,
      version: 1,
      queue: 'mail',
      priority: 4,
      status: 'pending',
      retryCount: 0,
      retriesMax: 3,
      crashes: 0,
      claims: 0,
      isPaused: false,
      key: 'order-1',
      payload,
      lastSeq: -1,
    });
    expectNear(row.deadlineAt! - row.createdAt, HOUR);
    expect(Math.abs(row.createdAt - scene.harness.now())).toBeLessThan(MINUTE);
    const unset = [row.waitFor, row.claimedBy, row.control, row.pinnedTo, row.outcome, row.result];
    expect([...unset, row.error, row.finishedAt, row.discardedAt]).toEqual(
      Array(9).fill(undefined),
    );
    const pod = await scene.pod('alder');
    expect(await scene.claimOne(pod)).toMatchObject({ payload, traceParent: task.traceParent });
  });

  test('no tasks give no answers', async () => {
    expect(await scene.store.enqueue([])).toEqual([]);
    expect(await scene.store.list({ countMax: 10 })).toEqual([]);
  });

  test('many tasks are answered in the order they were given', async () => {
    const tasks = newTasks(1_500).reverse();
    const answers = await scene.store.enqueue(tasks);
    expect(ids(answers)).toEqual(ids(tasks));
    expect(answers.every(({ isNew }) => isNew)).toBe(true);
  });

  test('enqueueing again after a lost answer gives the task that is there (I6)', async () => {
    const tasks = newTasks(3);
    await scene.store.enqueue(tasks.slice(0, 2));
    const again = await scene.rival.enqueue(tasks);
    expect(again.map(({ id, isNew }) => [id, isNew])).toEqual([
      [tasks[0]!.id, false],
      [tasks[1]!.id, false],
      [tasks[2]!.id, true],
    ]);
    expect(await scene.store.list({ countMax: 10 })).toHaveLength(3);
  });

  test('a key that is there gives the task that has it, with its status and payload', async () => {
    const first = await scene.enqueue({ key: 'order-1', payload: '{"n":1}' });
    const [second] = await scene.rival.enqueue([newTask({ key: 'order-1', payload: '{"n":2}' })]);
    expect(second).toEqual({ id: first, isNew: false, status: 'pending', payload: '{"n":1}' });
    await scene.claimOne(await scene.pod('alder'));
    const [third] = await scene.store.enqueue([newTask({ key: 'order-1' })]);
    expect(third).toMatchObject({ id: first, isNew: false, status: 'claimed' });
    await scene.enqueue({ key: 'order-1', machine: 'sample/two' });
    await scene.enqueue({ key: 'order-2' });
    expect(await scene.store.list({ countMax: 10 })).toHaveLength(3);
  });

  test('two tasks with one key in one call are one task', async () => {
    const [a, b] = [newTask({ key: 'order-1' }), newTask({ key: 'order-1' })];
    const answers = await scene.store.enqueue([a, newTask(), b]);
    expect(answers.map(({ id, isNew }) => [id === a.id, isNew])).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);
  });

  test('a key stands for a task while it runs, and for its lifetime after the end', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod, { key: 'order-1', keyMs: 10 * MINUTE });
    const again = async () => (await scene.store.enqueue([newTask({ key: 'order-1' })]))[0]!;
    await scene.pass(HOUR);
    expect(await again()).toMatchObject({ id: claim.task, isNew: false });
    await scene.store.settle(pod, [completed(claim)]);
    await scene.pass(9 * MINUTE);
    expect(await again()).toMatchObject({ id: claim.task, isNew: false, status: 'completed' });
    await scene.pass(2 * MINUTE);
    const fresh = await again();
    expect(fresh).toMatchObject({ isNew: true, status: 'pending' });
    expect(fresh.id).not.toBe(claim.task);
    expect(await again()).toMatchObject({ id: fresh.id, isNew: false });
    expect((await scene.row(claim.task)).key).toBeUndefined();
  });

  test('a key outlives a cancellation by its lifetime too', async () => {
    const first = await scene.enqueue({ key: 'order-1', keyMs: MINUTE });
    expect(await cancelTask(scene.store, first, 'no')).toBe('done');
    const again = async () => (await scene.store.enqueue([newTask({ key: 'order-1' })]))[0]!;
    expect(await again()).toMatchObject({ id: first, isNew: false, status: 'cancelled' });
    await scene.pass(2 * MINUTE);
    expect(await again()).toMatchObject({ isNew: true });
  });

  test('a task that is due later waits for the time, and is claimed when it has come', async () => {
    const pod = await scene.pod('alder');
    const after = await scene.enqueue({ due: { afterMs: HOUR } });
    const at = scene.harness.now() + 2 * HOUR;
    const absolute = await scene.enqueue({ due: { at } });
    for (const id of [after, absolute]) {
      expect(await scene.row(id)).toMatchObject({ status: 'waiting', waitFor: 'time' });
    }
    expectNear((await scene.row(absolute)).runAt, at);
    const { runAt, createdAt } = await scene.row(after);
    expectNear(runAt - createdAt, HOUR);
    expect(await scene.claim(pod)).toEqual([]);
    await scene.pass(HOUR + MINUTE);
    expect(ids(await scene.claim(pod))).toEqual([after]);
    await scene.pass(HOUR);
    expect(ids(await scene.claim(pod))).toEqual([absolute]);
    expect((await scene.row(after)).waitFor).toBeUndefined();
  });

  test('a due time that has passed means now', async () => {
    const pod = await scene.pod('alder');
    const id = await scene.enqueue({ due: { at: scene.harness.now() - HOUR } });
    await scene.enqueue({ due: { afterMs: 0 } });
    expect((await scene.row(id)).status).toBe('pending');
    expect(await scene.claim(pod)).toHaveLength(2);
  });

  test('a plain INSERT of a machine and a payload enqueues', async () => {
    const id = await scene.harness.insertPlain({ machine: 'sample/one', payload: '{"n":1}' });
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(await scene.row(id)).toMatchObject({
      status: 'pending',
      machine: 'sample/one',
      version: 1,
      generation: 1,
      queue: 'default',
      priority: 0,
      lastSeq: -1,
    });
    const claimed = await scene.claimOne(await scene.pod('alder'));
    expect(claimed).toMatchObject({ task: id, payload: '{"n":1}', keyGeneration: 1 });
    await scene.store.settle('pod-alder' as never, [completed(claimed)]);
    expect((await scene.row(id)).status).toBe('completed');
  });

  test('a plain INSERT may leave the payload out, or write anything into it', async () => {
    const pod = await scene.pod('alder');
    const bare = await scene.harness.insertPlain({ machine: 'sample/one' });
    const broken = await scene.harness.insertPlain({ machine: 'sample/one', payload: '{not json' });
    const payloads = new Map((await scene.claim(pod)).map((claim) => [claim.task, claim.payload]));
    expect(payloads.get(bare as never)).toBeUndefined();
    expect(payloads.get(broken as never)).toBe('{not json');
  });

  test('a plain INSERT that is pending with a future run_at is claimed no sooner', async () => {
    const pod = await scene.pod('alder');
    await scene.harness.insertPlain({ machine: 'sample/one', runAfterMs: HOUR });
    expect(await scene.claim(pod)).toEqual([]);
    await scene.pass(HOUR + MINUTE);
    expect(await scene.claim(pod)).toHaveLength(1);
  });

  test('a value the store cannot hold is refused, and nothing of the call is stored', async () => {
    const { poison } = scene.harness;
    const tasks = [newTask(), newTask({ payload: `"${poison}"` }), newTask({ id: newId() })];
    await expect(scene.store.enqueue(tasks)).rejects.toThrow(StoreRefusedError);
    expect(await scene.store.list({ countMax: 10 })).toEqual([]);
  });
}

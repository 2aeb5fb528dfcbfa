/** Limits of queues, and queues and machines that stand still. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { FlowDeed } from '../../src/store/queues.ts';
import type { ClaimedTask, ClaimRequest, NewTask } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import {
  completed,
  ids,
  MACHINE,
  MINUTE,
  newId,
  newTask,
  parked,
  ROUTE,
  released,
} from './factories.ts';
import { claimRequest, podOf, type Scene } from './harness.ts';

const QUEUE = 'reports';
let requestCount = 0;

export function describeLimits(scene: Scene): void {
  const change = (deed: FlowDeed, more: object = {}) => {
    requestCount += 1;
    const requestId = `flow-${requestCount}`;
    return scene.store.changeFlow({ requestId, who: 'ann', via: 'test', deed, ...more });
  };
  const limit = (count: number | undefined, queue = QUEUE) =>
    change({ what: 'queue.limit', queue, limit: count });
  const enqueue = async (count: number, options: Partial<NewTask> = { queue: QUEUE }) =>
    ids(await scene.store.enqueue(Array.from({ length: count }, () => newTask(options))));
  const claimed = async (pod: PodId, options: Partial<ClaimRequest> = {}): Promise<RunId[]> =>
    ids(await scene.claim(pod, options));
  /** A handle that knows of every limit by now. */
  const opened = async () => {
    const store = await scene.harness.open();
    return { store, [Symbol.asyncDispose]: () => store.close() };
  };

  test('of a queue with a limit no more are claimed, however many pods ask', async () => {
    const pods = [await scene.pod('alder'), await scene.pod('birch')];
    await limit(3);
    const all = await enqueue(5);
    expect(await claimed(pods[0]!, { countMax: 2 })).toEqual(all.slice(0, 2));
    const [third, ...more] = await scene.claim(pods[1]!);
    expect([third!.task, more]).toEqual([all[2], []]);
    expect(await claimed(pods[0]!)).toEqual([]);
    await scene.store.settle(pods[1]!, [completed(third!)]);
    expect(await claimed(pods[0]!)).toEqual([all[3]]);
  });

  test('other queues are not held up, and the most urgent of a full one stay where they are', async () => {
    const pod = await scene.pod('alder');
    await limit(1);
    const [first] = await enqueue(3, { queue: QUEUE, priority: 9 });
    const others = await enqueue(2, {});
    expect(new Set(await claimed(pod))).toEqual(new Set([first, ...others]));
  });

  test('a limit is changed at any time, and what is claimed stays so', async () => {
    const pod = await scene.pod('alder');
    const all = await enqueue(6);
    await limit(4);
    expect(await claimed(pod)).toHaveLength(4);
    await limit(2);
    expect(await claimed(pod)).toEqual([]);
    await limit(5);
    expect(await claimed(pod)).toEqual([all[4]]);
    await limit(0);
    expect(await claimed(pod)).toEqual([]);
    await limit(undefined);
    expect(await claimed(pod)).toEqual([all[5]]);
  });

  test('what sleeps leaves its place to another, and waits for one when it is due', async () => {
    const pod = await scene.pod('alder');
    await limit(1);
    const [first, second] = await enqueue(2);
    const sleeper = await scene.claimOne(pod);
    await scene.store.settle(pod, [parked(sleeper, 'sleep', MINUTE)]);
    const next = await scene.claimOne(pod);
    expect(next.task).toBe(second);
    await scene.pass(2 * MINUTE);
    expect(await claimed(pod)).toEqual([]);
    await scene.store.settle(pod, [released(next)]);
    expect(await claimed(pod, { countMax: 1 })).toHaveLength(1);
    expect(await claimed(pod)).toEqual([]);
    expect(first).toBe(sleeper.task);
  });

  test('the share of a dead pod is free once it is swept, and not before', async () => {
    const [pod, next] = [await scene.pod('alder'), await scene.pod('birch')];
    await limit(2);
    const all = await enqueue(4);
    await scene.claim(pod);
    await scene.kill(pod);
    expect(await claimed(next)).toEqual([]);
    const taking = { from: pod, by: podOf('sweeper'), to: 'pool', countMax: 1 } as const;
    await scene.store.take({ ...taking, crashed: 'all', spreadMs: 0 });
    expect(await claimed(next)).toHaveLength(1);
    expect(await claimed(next)).toEqual([]);
    await scene.store.take({ ...taking, countMax: 9, crashed: 'all', spreadMs: 0 });
    expect(await claimed(next)).toHaveLength(1);
    expect(all).toHaveLength(4);
  });

  test('suspects count, and are held back by the limit, too', async () => {
    const suspect = { machine: MACHINE, payload: '{}', crashes: 2, queue: QUEUE };
    await scene.harness.insertPlain(suspect);
    await scene.harness.insertPlain(suspect);
    const pod = await scene.pod('alder');
    await limit(1);
    expect(await claimed(pod, { head: 'suspect' })).toHaveLength(1);
    expect(await claimed(pod, { head: 'suspect' })).toEqual([]);
  });

  test('local runs are their host’s, and no limit counts them', async () => {
    const pod = await scene.pod('alder');
    await limit(1, 'default');
    const run = { id: newId(), machine: MACHINE, version: 1, payload: '{}', startedAgoMs: 0 };
    await scene.store.mirror(pod, [{ ...run, journal: 'journal-alder', deadlineMs: undefined }]);
    const [first] = await enqueue(2, {});
    expect(await claimed(pod)).toEqual([first]);
  });

  test('nothing of a queue that is paused is claimed until it is resumed', async () => {
    const pod = await scene.pod('alder');
    await enqueue(2);
    const [due] = await enqueue(1, { queue: QUEUE, due: { afterMs: MINUTE } });
    const [other] = await enqueue(1, {});
    expect(await change({ what: 'queue.pause', queue: QUEUE })).toMatchObject({ kind: 'done' });
    await scene.pass(2 * MINUTE);
    expect(await claimed(pod)).toEqual([other]);
    expect(await change({ what: 'queue.resume', queue: QUEUE })).toMatchObject({ kind: 'done' });
    expect(await claimed(pod)).toContain(due);
  });

  test('a queue that is paused keeps its limit', async () => {
    const pod = await scene.pod('alder');
    await limit(1);
    await change({ what: 'queue.pause', queue: QUEUE });
    await enqueue(2);
    expect(await claimed(pod)).toEqual([]);
    await change({ what: 'queue.resume', queue: QUEUE });
    expect(await claimed(pod)).toHaveLength(1);
    expect(await claimed(pod)).toEqual([]);
  });

  test('nothing of a machine that is paused is claimed, in any version and queue', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE, `${MACHINE}@2`, 'sample/two@1'] });
    const routes = [ROUTE, `${MACHINE}@2`, 'sample/two@1'];
    await enqueue(1);
    await enqueue(1, { version: 2 });
    const [other] = await enqueue(1, { machine: 'sample/two' });
    await limit(5);
    await change({ what: 'machine.pause', machine: MACHINE });
    expect(await claimed(pod, { routes })).toEqual([other]);
    expect(await scene.store.pausedMachines()).toMatchObject([
      { machine: MACHINE, pausedBy: 'ann' },
    ]);
    await change({ what: 'machine.resume', machine: MACHINE });
    expect(await scene.store.pausedMachines()).toEqual([]);
    expect(await claimed(pod, { routes })).toHaveLength(2);
  });

  test('queues are listed with what is in them, their limits, and who paused them', async () => {
    const pod = await scene.pod('alder');
    await enqueue(3, {});
    await scene.claim(pod, { countMax: 1 });
    await enqueue(1, { due: { afterMs: MINUTE } });
    await limit(7);
    await change({ what: 'queue.pause', queue: 'idle' });
    const [first, idle, reports] = await scene.store.queues();
    expect(first).toMatchObject({ queue: 'default', pending: 2, waiting: 1, claimed: 1 });
    expect(first!.limit).toBeUndefined();
    // Of those that are pending, and of no other.
    expect(Math.abs(first!.dueAt! - scene.harness.now())).toBeLessThan(MINUTE / 2);
    expect(idle!.dueAt).toBeUndefined();
    expect(idle).toMatchObject({ queue: 'idle', isPaused: true, pausedBy: 'ann', pending: 0 });
    expect(Math.abs(idle!.pausedAt! - scene.harness.now())).toBeLessThan(60_000);
    expect(reports).toMatchObject({ queue: QUEUE, limit: 7, isPaused: false });
    await change({ what: 'queue.resume', queue: 'idle' });
    expect((await scene.store.queues()).map(({ queue }) => queue)).toEqual(['default', QUEUE]);
  });

  test('a change is made once for its request, and is in the audit log', async () => {
    const deed = { what: 'queue.limit', queue: QUEUE, limit: 3 } as const;
    const one = { requestId: 'once', who: 'ann', via: 'test', deed };
    expect(await scene.store.changeFlow({ ...one, isDryRun: true })).toMatchObject({
      kind: 'done',
    });
    expect(await scene.store.queues()).toEqual([]);
    expect(await scene.store.changeFlow(one)).toEqual({ kind: 'done', isRepeated: false });
    expect(await scene.store.changeFlow(one)).toEqual({ kind: 'done', isRepeated: true });
    expect(await limit(3)).toMatchObject({ kind: 'already' });
    const other = { ...one, deed: { ...deed, limit: 4 } };
    await expect(scene.store.changeFlow(other)).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
    const audit = await scene.harness.rows('audit_log');
    expect(audit.filter(({ id }) => id === 'once')).toMatchObject([
      { id: 'once', who: 'ann', what: 'queue.limit' },
    ]);
  });

  test('a request that found it so already does nothing when a copy of it comes later', async () => {
    await change({ what: 'queue.pause', queue: QUEUE });
    const deed = { what: 'queue.pause', queue: QUEUE } as const;
    const late = { requestId: 'late', who: 'bob', via: 'test', deed };
    const tried = await scene.store.changeFlow({ ...late, requestId: 'tried', isDryRun: true });
    expect(tried).toEqual({ kind: 'already', isRepeated: false });
    expect(await scene.store.changeFlow(late)).toEqual({ kind: 'already', isRepeated: false });
    await change({ what: 'queue.resume', queue: QUEUE });
    expect(await scene.rival.changeFlow(late)).toEqual({ kind: 'already', isRepeated: true });
    expect(await scene.store.queues()).toEqual([]);
    const other = { ...late, deed: { ...deed, what: 'queue.resume' } as const };
    await expect(scene.store.changeFlow(other)).rejects.toMatchObject({
      code: 'FLEETQ_REQUEST_REUSED',
    });
    const rows = (await scene.harness.rows('audit_log')).filter(({ who }) => who === 'bob');
    expect(rows).toMatchObject([{ id: 'late', what: 'queue.pause' }]);
    expect(rows[0]!['detail']).toContain('"kind":"already"');
  });

  test('two handles together never claim more than the limit', async () => {
    const pods = [await scene.pod('alder'), await scene.pod('birch')];
    await limit(3);
    await enqueue(24);
    await using third = await opened();
    const stores = [scene.store, scene.rival, third.store];
    let done = 0;
    for (let round = 0; round < 60 && done < 24; round += 1) {
      const request = (index: number) => claimRequest(pods[index % 2]!, { token: `${round}` });
      const answers = await Promise.all(stores.map((store, index) => store.claim(request(index))));
      const held = answers.flat().length;
      expect(held).toBeLessThanOrEqual(3);
      done += held;
      const settle = (claims: readonly ClaimedTask[], index: number) =>
        scene.store.settle(
          pods[index % 2]!,
          claims.map((claim) => completed(claim)),
        );
      await Promise.all(answers.map(settle));
    }
    expect(done).toBe(24);
  });

  test('a limited queue and the others are claimed in turns under a backlog', async () => {
    const pod = await scene.pod('alder');
    await limit(100);
    await enqueue(20);
    await enqueue(20, {});
    await using fresh = await opened();
    const queues = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const claims = await fresh.store.claim(claimRequest(pod, { countMax: 4 }));
      for (const row of await scene.store.find(ids(claims))) queues.add(row.queue);
    }
    expect(queues).toEqual(new Set(['default', QUEUE]));
  });
}

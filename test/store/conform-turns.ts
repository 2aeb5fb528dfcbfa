/** Serial keys: one task of a key at a time, in the order they are due, whatever becomes of them. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { ClaimedTask, NewTask, Settlement, Taking } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import { cancelTask, doTo, pauseTask, redriveTask, rescheduleTask, resumeTask } from './acts.ts';
import {
  cancelled,
  completed,
  failed,
  HOUR,
  ids,
  MINUTE,
  newId,
  newTask,
  parked,
  ROUTE,
  released,
  segment,
} from './factories.ts';
import { podOf, type Scene } from './harness.ts';

const KEY = { serialKey: 'customer-7' };

export function describeTurns(scene: Scene): void {
  const enqueue = async (count: number, options: Partial<NewTask> = KEY): Promise<RunId[]> =>
    ids(await scene.store.enqueue(Array.from({ length: count }, () => newTask(options))));
  const end = async (pod: PodId, claim: Claim, how = completed): Promise<void> => {
    expect(await scene.store.settle(pod, [how(claim)])).toMatchObject([{ kind: 'stood' }]);
  };
  const claimed = async (pod: PodId): Promise<RunId[]> => ids(await scene.claim(pod));
  const sweep = (from: PodId, options: Partial<Taking> = {}) =>
    scene.store.take({
      from,
      by: podOf('sweeper'),
      to: 'pool',
      countMax: 100,
      crashed: 'all',
      spreadMs: 0,
      ...options,
    });

  test('tasks of one serial key are claimed one at a time, in the order they came', async () => {
    const pod = await scene.pod('alder');
    const all = await enqueue(4);
    const seen: RunId[] = [];
    for (const _ of all) {
      const claim = await scene.claimOne(pod);
      expect(await claimed(pod)).toEqual([]);
      seen.push(claim.task);
      await end(pod, claim);
    }
    expect(seen).toEqual(all);
    expect(await claimed(pod)).toEqual([]);
  });

  test('other keys, other queues and tasks without one are not held up', async () => {
    const pod = await scene.pod('alder');
    const [first] = await enqueue(2);
    const [other] = await enqueue(2, { serialKey: 'customer-8' });
    const [elsewhere] = await enqueue(2, { ...KEY, queue: 'reports' });
    const [plain] = await enqueue(1, {});
    expect(new Set(await claimed(pod))).toEqual(new Set([first, other, elsewhere, plain]));
  });

  test('what has its turn and what waits for it can be told apart', async () => {
    const [first, second] = await enqueue(2);
    expect(await scene.row(first!)).toMatchObject({ ...KEY, hasTurn: true, status: 'pending' });
    const waiting = await scene.row(second!);
    expect(waiting).toMatchObject({ ...KEY, status: 'waiting', waitFor: 'turn' });
    expect(waiting.hasTurn).toBeUndefined();
  });

  test.each<[string, (claim: Claim) => Settlement]>([
    ['sleeps', (claim) => parked(claim, 'sleep', MINUTE, { tail: segment(claim, 0, 1) })],
    ['backs off', (claim) => parked(claim, 'retry', MINUTE, { retriesAdd: 1 })],
    ['is given back', (claim) => released(claim)],
  ])('a run that %s keeps its turn', async (_, settlement) => {
    const pod = await scene.pod('alder');
    const [first, second] = await enqueue(2);
    const claim = await scene.claimOne(pod);
    await scene.store.settle(pod, [settlement(claim)]);
    expect(await scene.row(first!)).toMatchObject({ hasTurn: true });
    expect(await scene.row(second!)).toMatchObject({ status: 'waiting', waitFor: 'turn' });
    await scene.pass(2 * MINUTE);
    const again = await scene.claimOne(pod);
    expect(again.task).toBe(first);
    await end(pod, again);
    expect(await claimed(pod)).toEqual([second]);
  });

  test.each<[string, (claim: Claim) => Settlement]>([
    ['completed', completed],
    ['failed', failed],
    ['cancelled', cancelled],
  ])('a run that has %s gives its turn on', async (_, how) => {
    const pod = await scene.pod('alder');
    const [, second] = await enqueue(2);
    await end(pod, await scene.claimOne(pod), how);
    expect(await scene.row(second!)).toMatchObject({ status: 'pending', hasTurn: true });
    expect(await claimed(pod)).toEqual([second]);
  });

  test('a task that is not due yet is in nobody’s way, and comes in its time', async () => {
    const pod = await scene.pod('alder');
    const [later] = await enqueue(1, { ...KEY, due: { afterMs: HOUR }, priority: 9 });
    const [now] = await enqueue(1);
    const claim = await scene.claimOne(pod);
    expect(claim.task).toBe(now);
    await end(pod, claim);
    expect(await claimed(pod)).toEqual([]);
    await scene.pass(2 * HOUR);
    expect(await claimed(pod)).toEqual([later]);
  });

  test('what became due while another had the turn is next in the order of due times', async () => {
    const pod = await scene.pod('alder');
    const [held] = await enqueue(1);
    const [last] = await enqueue(1, { ...KEY, due: { afterMs: 2 * MINUTE } });
    const [middle] = await enqueue(1, { ...KEY, due: { afterMs: MINUTE } });
    const first = await scene.claimOne(pod);
    expect(first.task).toBe(held);
    await scene.pass(3 * MINUTE);
    await end(pod, first);
    const second = await scene.claimOne(pod);
    expect(second.task).toBe(middle);
    await end(pod, second);
    expect(await claimed(pod)).toEqual([last]);
  });

  test('priority decides between keys, and not within one', async () => {
    const pod = await scene.pod('alder');
    const [low] = await enqueue(1, { ...KEY, priority: 0 });
    await enqueue(1, { ...KEY, priority: 9 });
    const [urgent] = await enqueue(1, { serialKey: 'customer-8', priority: 5 });
    expect(await claimed(pod)).toEqual([urgent, low]);
  });

  test('a flood of one key keeps no other key waiting', async () => {
    const pod = await scene.pod('alder');
    await enqueue(20, { serialKey: 'flood' });
    const one = () => scene.claimOne(pod, { countMax: 1 });
    const first = await one();
    await scene.pass(MINUTE);
    await end(pod, first);
    const [late] = await enqueue(1, { serialKey: 'late' });
    const seen: RunId[] = [];
    // Where claims pick their own among what is next, it is not picked in all of 19 once in half a million.
    for (let turn = 0; turn < (scene.harness.picksItsOwn ? 19 : 3); turn += 1) {
      const claim: ClaimedTask = await one();
      seen.push(claim.task);
      await scene.pass(MINUTE);
      await end(pod, claim);
    }
    expect(seen).toContain(late);
  });

  test('a key keeps its place at each turn: what came later does not go before it', async () => {
    const pod = await scene.pod('alder');
    const all = await enqueue(3);
    await scene.pass(HOUR);
    await enqueue(20, {});
    const seen: RunId[] = [];
    for (const _ of all) {
      // Where claims pick their own out of a few, all of those are asked for.
      const claims = await scene.claim(pod, { countMax: scene.harness.picksItsOwn ? 30 : 1 });
      const own = claims.filter(({ task }) => all.includes(task));
      expect(own).toHaveLength(1);
      seen.push(own[0]!.task);
      await end(pod, own[0]!);
    }
    expect(seen).toEqual(all);
  });

  test('a turn stands behind what came while its key was served', async () => {
    const pod = await scene.pod('alder');
    const [, second] = await enqueue(2);
    const first = await scene.claimOne(pod);
    await scene.pass(MINUTE);
    const [meanwhile] = await enqueue(1, {});
    await scene.pass(MINUTE);
    await end(pod, first);
    const next = await scene.claim(pod);
    expect(ids(next)).toEqual([meanwhile, second]);
  });

  test('what a dead pod held keeps its turn, and the next owner has it alone', async () => {
    const [pod, next] = [await scene.pod('alder'), await scene.pod('birch')];
    const [first, second] = await enqueue(2);
    await scene.claimOne(pod);
    await scene.kill(pod);
    expect(await claimed(next)).toEqual([]);
    await sweep(pod);
    const claim = await scene.claimOne(next);
    expect(claim.task).toBe(first);
    await end(next, claim);
    expect(await claimed(next)).toEqual([second]);
  });

  test('a task that ends with its owner gives its turn on', async () => {
    const [pod, next] = [await scene.pod('alder'), await scene.pod('birch')];
    const [first, second] = await enqueue(2);
    await scene.claimOne(pod);
    expect(await cancelTask(scene.store, first!, 'enough')).toBe('requested');
    await scene.kill(pod);
    expect(await sweep(pod)).toMatchObject([{ status: 'cancelled' }]);
    expect(await claimed(next)).toEqual([second]);
  });

  test('a suspect keeps its turn for a process of its own', async () => {
    const [first, second] = await enqueue(2);
    for (const name of ['alder', 'birch']) {
      const pod = await scene.pod(name);
      expect(await claimed(pod)).toEqual([first]);
      await scene.kill(pod);
      await sweep(pod);
    }
    const pod = await scene.pod('cedar');
    expect(await claimed(pod)).toEqual([]);
    const suspect = await scene.claimOne(pod, { head: 'suspect' });
    expect(suspect.task).toBe(first);
    await end(pod, suspect);
    expect(await claimed(pod)).toEqual([second]);
  });

  test('whoever cancels the one that has the turn gives it on', async () => {
    const pod = await scene.pod('alder');
    const [first, second, third] = await enqueue(3);
    expect(await cancelTask(scene.store, second!, 'not this one')).toBe('done');
    expect(await cancelTask(scene.store, first!, 'nor this one')).toBe('done');
    expect(await claimed(pod)).toEqual([third]);
  });

  test('what is paused or put off before it began blocks nobody; what has begun does', async () => {
    const pod = await scene.pod('alder');
    const [first, second, third] = await enqueue(3);
    expect(await pauseTask(scene.store, first!)).toBe('done');
    expect(await rescheduleTask(scene.store, second!, { afterMs: HOUR })).toBe('done');
    const claim = await scene.claimOne(pod);
    expect(claim.task).toBe(third);
    await scene.store.settle(pod, [parked(claim, 'sleep', 0, { tail: segment(claim, 0, 1) })]);
    expect(await pauseTask(scene.store, third!)).toBe('done');
    expect(await resumeTask(scene.store, first!)).toBe('done');
    expect(await claimed(pod)).toEqual([]);
    expect(await resumeTask(scene.store, third!)).toBe('done');
    await end(pod, await scene.claimOne(pod));
    await end(pod, await scene.claimOne(pod));
    await scene.pass(2 * HOUR);
    expect(await claimed(pod)).toEqual([second]);
  });

  test('one that is put off and brought forward waits for its turn', async () => {
    const pod = await scene.pod('alder');
    const [first, second] = await enqueue(2);
    expect(await rescheduleTask(scene.store, second!, { afterMs: HOUR })).toBe('done');
    expect(await rescheduleTask(scene.store, second!, { afterMs: 0 })).toBe('done');
    expect(await scene.row(second!)).toMatchObject({ status: 'waiting', waitFor: 'turn' });
    expect(await claimed(pod)).toEqual([first]);
  });

  test('a redriven dead letter goes to the end of its line', async () => {
    const pod = await scene.pod('alder');
    const [first, second] = await enqueue(2);
    await end(pod, await scene.claimOne(pod), failed);
    const running = await scene.claimOne(pod);
    expect(running.task).toBe(second);
    expect(await redriveTask(scene.store, first!, { generation: 1 }, { isFresh: true })).toBe(2);
    expect(await claimed(pod)).toEqual([]);
    await end(pod, running);
    expect(await scene.claimOne(pod)).toMatchObject({ task: first, generation: 2 });
  });

  test('a redriven task of a key that is free has its turn at once', async () => {
    const pod = await scene.pod('alder');
    const [only] = await enqueue(1);
    await end(pod, await scene.claimOne(pod), failed);
    await redriveTask(scene.store, only!, { generation: 1 }, { isFresh: true });
    expect(await scene.claimOne(pod)).toMatchObject({ task: only, generation: 2 });
  });

  test('a fork takes turns with the task it was made from', async () => {
    const pod = await scene.pod('alder');
    const [first] = await enqueue(1);
    const claim = await scene.claimOne(pod);
    const as = newId();
    const deed = { what: 'fork', as, payload: '{}', lastSeq: -1, state: '' } as const;
    const rest = { records: undefined, lastHash: undefined };
    expect(await doTo(scene.store, first!, { ...deed, ...rest } as never)).toBe('done');
    expect(await claimed(pod)).toEqual([]);
    await end(pod, claim);
    expect(await claimed(pod)).toEqual([as]);
  });

  test('a task past its deadline that nobody can run gives its turn on', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE] });
    const [first] = await enqueue(1, { ...KEY, deadlineMs: MINUTE, version: 9 });
    const [second] = await enqueue(1);
    expect(await claimed(pod)).toEqual([]);
    await scene.pass(2 * MINUTE);
    expect(ids(await scene.store.failHopeless(HOUR, 10))).toEqual([first]);
    expect(await claimed(pod)).toEqual([second]);
  });

  test('a plain row that waits for its turn gets it', async () => {
    const pod = await scene.pod('alder');
    const row = { machine: 'sample/one', payload: '{}', status: 'waiting', wait_for: 'turn' };
    const id = await scene.harness.insertPlain({ ...row, serial_key: 'by-hand' });
    expect(await claimed(pod)).toEqual([id]);
  });

  test('two handles never have two of a key between them', async () => {
    const pods = [await scene.pod('alder'), await scene.pod('birch')];
    const keys = ['a', 'b', 'c'];
    const order = new Map<string, RunId[]>();
    for (const serialKey of keys) order.set(serialKey, await enqueue(5, { serialKey }));
    const seen = new Map<string, RunId[]>(keys.map((key) => [key, []]));
    for (let round = 0; round < 40 && [...seen.values()].flat().length < 15; round += 1) {
      const stores = [scene.store, scene.rival];
      const answers = await Promise.all(
        stores.map((store, index) =>
          store.claim({
            pod: pods[index]!,
            routes: [ROUTE],
            countMax: 2,
            token: `${round}`,
            journal: `journal-${index}`,
            head: 'ready',
          }),
        ),
      );
      const rows = await scene.store.find(answers.flat().map(({ task }) => task));
      const held = rows.map(({ serialKey }) => serialKey!);
      expect(new Set(held).size).toBe(held.length);
      for (const { id, serialKey } of rows) seen.get(serialKey!)!.push(id);
      await Promise.all(
        stores.map((store, index) =>
          store.settle(
            pods[index]!,
            answers[index]!.map((c) => completed(c)),
          ),
        ),
      );
    }
    expect(seen).toEqual(order);
  });
}

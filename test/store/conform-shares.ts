/** Queues share claims: the highest priority first, and of one priority each queue in turn. */
import { expect, test } from 'vitest';
import { type InLine, inShares, remember } from '../../src/store/shares.ts';
import type { ClaimedTask, NewTask } from '../../src/store/tasks.ts';
import { type PodId, routeOf } from '../../src/store/words.ts';
import { below, seededRandom } from '../support/seeded-random.ts';
import { HOUR, ids, MACHINE, MINUTE, newId, newTask, ROUTE } from './factories.ts';
import type { Scene } from './harness.ts';

export function describeShares(scene: Scene): void {
  // Each pod picks its own of several times as many: by priority, and otherwise by chance.
  if (scene.harness.picksItsOwn) {
    test('a queue that is alone is claimed from whatever its name', async () => {
      const pod = await scene.pod('alder');
      const id = await scene.enqueue({ queue: '' });
      expect(ids(await scene.claim(pod))).toEqual([id]);
    });
    return;
  }
  const enqueue = async (count: number, options: Partial<NewTask>) =>
    ids(await scene.store.enqueue(Array.from({ length: count }, () => newTask(options))));
  /** Claims on, each from where the one before ended. */
  const claimer = (pod: PodId) => {
    const behind = new Map<string, string>();
    return async (countMax: number, routes = [ROUTE]): Promise<ClaimedTask[]> => {
      const claimed = await scene.claim(pod, { countMax, routes, behind });
      for (const task of claimed) {
        if (!task.isLimited) remember(behind, { ...task, route: routeOf(task) });
      }
      return claimed;
    };
  };

  test('a crowd in one queue keeps no other waiting, and each queue gives its oldest first', async () => {
    const claim = claimer(await scene.pod('alder'));
    const crowd = await enqueue(20, { queue: 'crowd' });
    const mail = await enqueue(2, { queue: 'mail' });
    const [own] = await enqueue(1, { queue: 'own' });
    const first = ids(await claim(6));
    expect(first).toEqual([crowd[0], mail[0], own, crowd[1], mail[1], crowd[2]]);
    expect(ids(await claim(4))).toEqual(crowd.slice(3, 7));
  });

  test('what has the higher priority comes before any share', async () => {
    const claim = claimer(await scene.pod('alder'));
    const [mail] = await enqueue(1, { queue: 'mail' });
    const urgent = await enqueue(3, { queue: 'crowd', priority: 2 });
    const crowd = await enqueue(3, { queue: 'crowd' });
    expect(ids(await claim(5))).toEqual([...urgent, crowd[0], mail]);
  });

  test('of more queues than a claim takes tasks, the next claim has the next ones', async () => {
    const claim = claimer(await scene.pod('alder'));
    for (let n = 0; n < 7; n += 1) await enqueue(3, { queue: `queue-${n}` });
    const queues: string[] = [];
    for (let n = 0; n < 7; n += 1) queues.push(...(await claim(3)).map(({ queue }) => queue));
    const round = Array.from({ length: 7 }, (_, n) => `queue-${n}`);
    expect(queues).toEqual([...round, ...round, ...round]);
  });

  test('an urgent stream in one queue does not throw the round of the others back', async () => {
    const claim = claimer(await scene.pod('alder'));
    for (let n = 0; n < 5; n += 1) await enqueue(2, { queue: `queue-${n}` });
    const queues: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const [urgent] = await enqueue(1, { queue: 'queue-1', priority: 5 });
      expect(ids(await claim(1))).toEqual([urgent]);
      queues.push(...(await claim(1)).map(({ queue }) => queue));
    }
    expect(queues).toEqual(['queue-0', 'queue-1', 'queue-2', 'queue-3', 'queue-4']);
  });

  test('a queue with a limit does not throw the round of the others back', async ({ skip }) => {
    if (scene.store.capabilities.lacks?.includes('queue limits')) return skip();
    const claim = claimer(await scene.pod('alder'));
    const deed = { what: 'queue.limit', queue: 'limited', limit: 1_000 } as const;
    await scene.store.changeFlow({ requestId: newId(), who: 'ann', via: 'test', deed });
    const open = Array.from({ length: 8 }, (_, n) => `queue-${n}`);
    for (const queue of [...open, 'limited']) await enqueue(8, { queue });
    const counts = new Map<string, number>();
    for (let n = 0; n < 12; n += 1) {
      for (const { queue } of await claim(2)) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['limited', ...open]);
    expect(Math.max(...open.map((queue) => counts.get(queue)!))).toBeLessThanOrEqual(3);
  });

  test('the highest priority is found in the last of many queues', async () => {
    const claim = claimer(await scene.pod('alder'));
    const crowd = Array.from({ length: 1_200 }, (_, n) =>
      newTask({ queue: `queue-${String(n).padStart(4, '0')}` }),
    );
    await scene.store.enqueue(crowd);
    await claim(10);
    const [urgent] = await enqueue(1, { queue: 'queue-1199', priority: 10 });
    expect(ids(await claim(2))[0]).toBe(urgent);
  });

  test('what was given back for later takes the place of nothing that is ready', async () => {
    const pod = await scene.pod('alder');
    const [swept] = await enqueue(1, { queue: 'a', priority: 5 });
    await scene.claimOne(pod);
    await scene.kill(pod);
    const taking = { from: pod, by: pod, to: 'pool', countMax: 1, crashed: [] } as const;
    await scene.store.take({ ...taking, spreadMs: 1_000 * HOUR });
    const [other] = await enqueue(1, { queue: 'b' });
    const claim = claimer(await scene.pod('birch'));
    expect(ids(await claim(1))).toEqual([other]);
    expect(await scene.row(swept!)).toMatchObject({ status: 'pending' });
  });

  test('a sleeper that is due has the place in its queue that it has by its time', async () => {
    const claim = claimer(await scene.pod('alder'));
    const [sleeper] = await enqueue(1, { queue: 'mail', due: { afterMs: MINUTE } });
    await scene.pass(HOUR);
    const crowd = await enqueue(3, { queue: 'crowd' });
    const mail = await enqueue(2, { queue: 'mail' });
    expect(ids(await claim(4))).toEqual([crowd[0], sleeper, crowd[1], mail[0]]);
  });

  // Of several routes each is looked at by itself, so that fewer tasks than queues are not exactly the first.
  test.each([
    [1, [ROUTE], 1],
    [2, [ROUTE], 1],
    [3, [ROUTE, 'sample/two@1'], 6],
  ])('random tasks come in shares, whatever is asked for (%i)', async (seed, routes, least) => {
    const random = seededRandom(seed);
    const claim = claimer(await scene.pod('alder'));
    const at = scene.harness.now() - HOUR;
    const tasks = Array.from({ length: 60 }, (_, n) =>
      newTask({
        machine: routes.length === 1 || random.fraction() < 0.5 ? MACHINE : 'sample/two',
        queue: ['a', 'b', 'c', 'd', ''][below(random, 5)]!,
        priority: [-1, 0, 0, 7][below(random, 4)]!,
        due: { at: at + 1_000 * n },
      }),
    );
    await scene.store.enqueue(tasks);
    let left = tasks.map((task): InLine => {
      const { id, queue, priority, due } = task;
      return { id, route: routeOf(task), queue, priority, runAt: (due as { at: number }).at };
    });
    const behind = new Map<string, string>();
    while (left.length > 0) {
      const count = least + below(random, 12);
      const wanted = inShares(left, (task) => task, behind).slice(0, count);
      expect(ids(await claim(count, routes))).toEqual(wanted.map(({ id }) => id));
      for (const task of wanted) remember(behind, task);
      left = left.filter((task) => !wanted.includes(task));
    }
  });
}

/** The fleet in figures: how much there is of everything, each figure up to a bound. */
import { expect, test } from 'vitest';
import type { Census } from '../../src/store/census.ts';
import type { FlowDeed } from '../../src/store/queues.ts';
import { discardTask } from './acts.ts';
import {
  completed,
  failed,
  HOUR,
  MACHINE,
  MINUTE,
  newId,
  newTasks,
  parked,
  ROUTE,
} from './factories.ts';
import type { Scene } from './harness.ts';

const NEXT = `${MACHINE}@2`;
const BOUND = 100;
const SILENCE = 15_000;

export function describeCensus(scene: Scene): void {
  const census = (countMax = BOUND): Promise<Census> => scene.store.census(countMax, SILENCE);
  const announce = (...routes: string[]) =>
    scene.store.announce(routes.map((route) => ({ route, fingerprint: 'f', shape: 's' })));
  const none = { isLive: false, pending: 0, waits: {}, suspect: 0, oldestMs: undefined };

  test('where nothing is there is nothing to count', async () => {
    // A server has transactions of its own.
    expect({ ...(await census()), oldestTransactionMs: undefined }).toEqual({
      routes: [],
      claimed: [],
      deadLetters: [],
      orphans: 0,
      orphansOldestMs: undefined,
      queues: [],
      scheduleLateMs: undefined,
      endedOldestMs: undefined,
      keysLateMs: undefined,
    });
    await announce(NEXT, ROUTE);
    expect((await census()).routes).toEqual([
      { ...none, route: ROUTE, machine: MACHINE },
      { ...none, route: NEXT, machine: MACHINE },
    ]);
  });

  test('tasks are counted by route and by what they wait for, those in hand by machine', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE] });
    await announce(ROUTE, NEXT);
    const [shelved, asleep, again] = [
      await scene.claimNew(pod),
      await scene.claimNew(pod),
      await scene.claimNew(pod),
    ];
    const done = await scene.claimNew(pod);
    await scene.store.settle(pod, [
      parked(shelved, 'version', HOUR),
      parked(asleep, 'sleep', HOUR),
      parked(again, 'retry', HOUR),
      completed(done),
    ]);
    await scene.claimNew(pod);
    await scene.store.enqueue([...newTasks(2), ...newTasks(3, { version: 2 })]);
    const { routes, claimed, deadLetters } = await census();
    const waits = { version: 1, sleep: 1, retry: 1 };
    const since = { oldestMs: expect.any(Number) };
    expect(routes).toMatchObject([
      { route: ROUTE, isLive: true, pending: 2, waits, suspect: 0 },
      { route: NEXT, isLive: false, pending: 3, waits: {} },
    ]);
    await scene.pass(1_000);
    expect((await census()).routes).toMatchObject([since, since]);
    expect([claimed, deadLetters]).toEqual([[{ machine: MACHINE, count: 1 }], []]);
  });

  test('no figure is counted further than its bound', async () => {
    const pod = await scene.pod('alder', { routes: [ROUTE] });
    await announce(ROUTE);
    await scene.store.enqueue(newTasks(4));
    await scene.claim(pod, { countMax: 4 });
    await scene.store.enqueue(newTasks(4));
    await scene.store.enqueue(newTasks(4, { due: { afterMs: HOUR } }));
    await scene.kill(pod);
    const found = await census(3);
    expect(found.routes).toMatchObject([{ pending: 3, waits: { time: 3 } }]);
    expect(found).toMatchObject({ claimed: [{ machine: MACHINE, count: 3 }] });
  });

  test('the oldest is found under every priority, and in every head', async () => {
    await announce(ROUTE);
    const oldest = async () => (await census()).routes[0]?.oldestMs;
    await scene.enqueue({ due: { afterMs: HOUR } });
    expect(await oldest(), 'what is not due has no age').toBeUndefined();
    await scene.enqueue({ priority: -5 });
    await scene.pass(10 * MINUTE);
    await scene.enqueue({ priority: 0 });
    await scene.pass(MINUTE);
    await scene.store.enqueue(newTasks(3, { priority: 7 }));
    const about = async (ms: number) => {
      expect(await oldest()).toBeGreaterThanOrEqual(ms);
      expect(await oldest()).toBeLessThan(ms + 30_000);
    };
    await about(11 * MINUTE);
    await scene.pass(2 * HOUR);
    await about(2 * HOUR + 11 * MINUTE);
    const pod = await scene.pod('alder', { routes: [ROUTE] });
    const claims = await scene.claim(pod, { countMax: 9 });
    await scene.store.settle(
      pod,
      claims.slice(1).map((claim) => completed(claim)),
    );
    await scene.store.settle(pod, [parked(claims[0]!, 'sleep', MINUTE)]);
    await scene.pass(5 * MINUTE);
    await about(4 * MINUTE);
  });

  test('what failed is counted until somebody discards it', async () => {
    const routes = [ROUTE, 'sample/two@1'];
    const pod = await scene.pod('alder', { routes });
    const one = await scene.claimNew(pod);
    await scene.enqueue({ machine: 'sample/two' });
    const two = await scene.claimOne(pod, { routes });
    await scene.store.settle(pod, [failed(one), failed(two)]);
    const both = [
      { machine: MACHINE, count: 1 },
      { machine: 'sample/two', count: 1 },
    ];
    expect((await census()).deadLetters).toEqual(both);
    await discardTask(scene.store, one.task, { generation: 1 });
    expect((await census()).deadLetters).toEqual(both.slice(1));
  });

  test('what a dead or silent pod holds is orphaned until somebody has taken it', async () => {
    const alder = await scene.pod('alder', { silenceMs: 5 * MINUTE });
    const birch = await scene.pod('birch');
    await scene.store.enqueue(newTasks(3));
    await scene.claim(alder, { countMax: 2 });
    await scene.claim(birch, { countMax: 1 });
    expect(await census()).toMatchObject({ orphans: 0, orphansOldestMs: undefined });
    await scene.pass(MINUTE);
    expect(await census(), 'each by its own silence').toMatchObject({ orphans: 1 });
    await scene.kill(alder);
    const { orphans, orphansOldestMs } = await census();
    expect(orphans).toBe(3);
    expect(orphansOldestMs).toBeGreaterThanOrEqual(MINUTE);
    expect(orphansOldestMs).toBeLessThan(2 * MINUTE);
    const by = await scene.pod('cedar');
    await scene.store.take({
      ...{ from: alder, by, to: 'pool', countMax: 9 },
      ...{ crashed: 'all', spreadMs: 0 },
    } as const);
    expect(await census()).toMatchObject({ orphans: 1 });
  });

  test('tasks that nobody may claim are not in the queue: paused ones, and those of a host', async () => {
    await announce(ROUTE);
    await scene.harness.insertPlain({ machine: MACHINE, paused: true });
    await scene.harness.insertPlain({ machine: MACHINE, pinned_to: 'journal-elsewhere' });
    await scene.harness.insertPlain({ machine: MACHINE, crashes: 2 });
    expect((await census()).routes).toMatchObject([{ pending: 0, waits: {}, suspect: 1 }]);
  });

  test('queues that have a limit, or are paused, are told with what is claimed of them', async ({
    skip,
  }) => {
    if (scene.store.capabilities.lacks?.includes('queue limits')) return skip();
    const pod = await scene.pod('alder');
    expect((await census()).queues).toEqual([]);
    const change = (deed: FlowDeed) =>
      scene.store.changeFlow({ requestId: newId(), who: 'ada', via: 'test', deed });
    await change({ what: 'queue.limit', queue: 'mail', limit: 2 });
    await change({ what: 'queue.pause', queue: 'slow' });
    await scene.store.enqueue([...newTasks(3, { queue: 'mail' }), ...newTasks(1)]);
    await scene.claim(pod);
    expect((await census()).queues).toEqual([
      { queue: 'mail', limit: 2, isPaused: false, claimed: 2 },
      { queue: 'slow', limit: undefined, isPaused: true, claimed: 0 },
    ]);
    expect((await census()).scheduleLateMs).toBeUndefined();
  });

  test('how late retention is shows by the first task that may go, and the first key that has expired', async () => {
    const pod = await scene.pod('alder');
    const end = async (options?: object) =>
      scene.store.settle(pod, [completed(await scene.claimNew(pod, options))]);
    await end({ key: 'kept', keyMs: 9 * HOUR });
    await scene.pass(HOUR);
    await end();
    await scene.pass(MINUTE);
    await end({ key: 'short', keyMs: MINUTE });
    await scene.pass(9 * MINUTE);
    const { endedOldestMs, keysLateMs } = await census();
    expect(endedOldestMs).toBeGreaterThanOrEqual(10 * MINUTE);
    expect(endedOldestMs).toBeLessThan(11 * MINUTE);
    expect(keysLateMs).toBeGreaterThanOrEqual(8 * MINUTE);
    expect(keysLateMs).toBeLessThan(9 * MINUTE);
  });

  test('a claim tells how long the task had been due', async () => {
    const pod = await scene.pod('alder');
    await scene.enqueue({ due: { afterMs: MINUTE }, deadlineMs: HOUR });
    await scene.pass(3 * MINUTE);
    const { waitedMs } = await scene.claimOne(pod);
    expect(waitedMs).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(waitedMs).toBeLessThan(3 * MINUTE);
  });
}

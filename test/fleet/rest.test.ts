/** A pod that has nothing to do, where beating costs. */
import { expect, test } from 'vitest';
import { type RunId, runIdMint } from '../../src/ground/index.ts';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { MemoryStore, MemoryTables } from '../../src/store/index.ts';
import { newTask } from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { restingStore, TIMES } from './resting.ts';
import { anyInput, Wire } from './support.ts';

const newDir = useTempDirs();
const MINUTE_MS = 60_000;

const newId = runIdMint(new FakeClock(), seededRandom(9));

const machine = defineMachine({
  name: 'rest/one',
  version: 1,
  input: anyInput,
  check: 'none',
  work: async () => 'done',
});
const sleeper = defineMachine({
  name: 'rest/sleeper',
  version: 1,
  input: anyInput,
  steps: (line) => line.sleep('night', '30m').step('after', { check: 'none', work: async () => 1 }),
});

interface Scened {
  readonly fleet: Awaited<ReturnType<typeof createFleet>>;
  readonly wire: Wire;
  isResting(): boolean | undefined;
}

async function scene(names: readonly string[]) {
  const clock = new FakeClock();
  const tables = new MemoryTables({ clock, random: seededRandom(5) });
  const store = new MemoryStore(tables);
  const pods: Scened[] = [];
  for (const [index, podName] of names.entries()) {
    const wire = new Wire();
    const opening = createFleet({
      ...{ ...TIMES, podName, clock, dataDir: newDir(), socket: false },
      random: seededRandom(index + 1),
      machines: [machine, sleeper],
      store: restingStore(tables, wire),
    });
    const fleet = await advancing(clock, opening);
    pods.push({ fleet, wire, isResting: () => fleet.status.pod?.isResting });
  }
  const stop = () => {
    for (const { fleet } of pods) fleet.stopNow();
  };
  return { clock, tables, store, pods, stop };
}

/** Time goes on until it has come to something. */
async function advancing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await clock.advance(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return work;
}

async function minutes(clock: FakeClock, count: number): Promise<void> {
  for (let second = 0; second < count * 60; second += 5) {
    await clock.advance(5_000);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a pod without work rests: it beats no more, is not swept, and looks at nothing but the mark', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  const [{ fleet, wire, isResting }] = pods as [Scened];
  let fenced = 0;
  const stopListening = listen('pod.fenced', () => {
    fenced += 1;
  });
  await minutes(clock, 1);
  expect(isResting()).toBe(false);
  await minutes(clock, 3);
  expect(isResting()).toBe(true);
  expect(fleet.status.pod).toMatchObject({ isReady: true, held: 0 });
  wire.asked.length = 0;
  await minutes(clock, 60);
  expect(new Set(wire.asked)).toEqual(new Set(['mark']));
  expect(wire.asked.length).toBeLessThanOrEqual(65);
  expect(await store.pods()).toMatchObject([{ status: 'down', desired: 'rest', claimCount: 0 }]);
  expect(fenced).toBe(0);
  stopListening();
  stop();
}, 60_000);

test('it is up again a minute after somebody has put a task in, and before anything it registers', async () => {
  const { clock, store, pods, stop } = await scene(['alder', 'birch']);
  await minutes(clock, 8);
  expect(pods.map(({ isResting }) => isResting())).toEqual([true, true]);
  const before = (await store.pods()).map(({ pod }) => pod);
  const id = await put(store);
  await minutes(clock, 2);
  const [row] = await store.find([id]);
  expect(row).toMatchObject({ status: 'completed', crashes: 0 });
  const up = (await store.pods()).filter(({ status }) => status === 'up');
  expect(up).toHaveLength(2);
  expect(up.some(({ pod }) => before.includes(pod))).toBe(false);
  // Nothing says any more that the lives before are resting.
  expect((await store.pods()).filter(({ desired }) => desired === 'rest')).toEqual([]);
  stop();
}, 60_000);

/** By somebody else, without a hint. */
async function put(store: MemoryStore): Promise<RunId> {
  const id = newId();
  await store.enqueue([newTask({ id, machine: 'rest/one' })]);
  return id;
}

test('a task of its own process wakes it at once', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  const [{ fleet, isResting }] = pods as [Scened];
  await minutes(clock, 5);
  expect(isResting()).toBe(true);
  const { id } = await fleet.enqueue(machine, {});
  expect(isResting()).toBe(false);
  await minutes(clock, 1 / 4);
  expect(await store.find([id])).toMatchObject([{ status: 'completed' }]);
  stop();
}, 60_000);

test('what is due while all of them rest is done in time', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  const [{ fleet, isResting }] = pods as [Scened];
  const { id } = await fleet.enqueue(sleeper, {});
  await minutes(clock, 10);
  expect(isResting()).toBe(true);
  await minutes(clock, 22);
  expect(await store.find([id])).toMatchObject([{ status: 'completed' }]);
  stop();
}, 60_000);

test('nobody rests while another holds a task: if that one dies, somebody is there', async () => {
  const { clock, store, tables, pods, stop } = await scene(['alder', 'birch']);
  const task = await pods[0]!.fleet.enqueue(machine, {});
  await minutes(clock, 1);
  expect(await store.find([task.id])).toMatchObject([{ status: 'completed' }]);
  // A pod that is gone, with what it held.
  const gone = { pod: 'gone' as never, name: 'gone', journal: 'g', boot: 1, lsn: 0, routes: [] };
  await store.register({ ...gone, report: {}, nonce: 'g', silenceMs: 10 * MINUTE_MS });
  const id = await put(store);
  Object.assign(tables.tasks.get(id)!, {
    ...{ status: 'claimed', claimedBy: 'gone', claimEpoch: 1, claims: 1 },
  });
  await minutes(clock, 7);
  expect(pods.map(({ isResting }) => isResting())).toEqual([false, false]);
  await minutes(clock, 8);
  expect(await store.find([id])).toMatchObject([{ status: 'completed' }]);
  stop();
}, 60_000);

test('a process that ends while it rests says so', async () => {
  const { clock, store, pods } = await scene(['alder']);
  await minutes(clock, 5);
  await advancing(clock, pods[0]!.fleet.drain({ budget: '5s' }));
  expect(await store.pods()).toMatchObject([{ status: 'down', desired: undefined }]);
}, 60_000);

/** Carried out, and not answered before `answer` is called. */
function holdRest({ wire }: Scened): () => void {
  let answer!: () => void;
  wire.holdsAnswers.set('rest', new Promise<void>((resolve) => (answer = resolve)));
  return () => {
    wire.holdsAnswers.delete('rest');
    answer();
  };
}

const untilLaid = async (clock: FakeClock, store: MemoryStore) => {
  for (let second = 0; (await store.pods())[0]?.desired !== 'rest'; second += 1) {
    expect(second).toBeLessThan(300);
    await minutes(clock, 1 / 60);
  }
};

test('a process that ends while it lies down says so', async () => {
  const { clock, store, pods } = await scene(['alder']);
  const answer = holdRest(pods[0]!);
  await untilLaid(clock, store);
  const draining = pods[0]!.fleet.drain({ budget: '5s' });
  answer();
  await advancing(clock, draining);
  expect(await store.pods()).toMatchObject([{ status: 'down', desired: undefined }]);
}, 60_000);

test('one that hears late that it may rest, and is up again by then, has one life', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  const answer = holdRest(pods[0]!);
  await untilLaid(clock, store);
  await minutes(clock, 1);
  answer();
  await minutes(clock, 1 / 6);
  expect(pods[0]!.isResting()).toBe(false);
  const id = await put(store);
  await minutes(clock, 1.5);
  expect(await store.pods()).toMatchObject([{ status: 'down' }, { status: 'up' }]);
  expect(await store.find([id])).toMatchObject([{ status: 'completed', crashes: 0 }]);
  stop();
}, 60_000);

test('a pod that never heard that it may rest is up again, and does what comes', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  pods[0]!.wire.losesAnswers.set('rest', 1);
  await minutes(clock, 4);
  const id = await put(store);
  await minutes(clock, 2);
  expect(await store.find([id])).toMatchObject([{ status: 'completed', crashes: 0 }]);
  stop();
}, 60_000);

test('a local run that is started while the pod lies down gets it up at once', async () => {
  const { clock, store, pods, stop } = await scene(['alder']);
  const [{ fleet, isResting }] = pods as [Scened];
  const answer = holdRest(pods[0]!);
  await untilLaid(clock, store);
  const { id } = await fleet.startLocal(machine, {});
  answer();
  await minutes(clock, 1 / 4);
  expect(isResting()).toBe(false);
  expect(await store.find([id])).toMatchObject([{ status: 'completed' }]);
  stop();
}, 60_000);

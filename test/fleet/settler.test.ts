/** Ending runs in the store: in batches, again and again until it answers, once each. */
import { expect, test } from 'vitest';
import { HeldRun } from '../../src/fleet/held-run.ts';
import type { Keeper } from '../../src/fleet/keeper.ts';
import { Settler, type SettlerPorts } from '../../src/fleet/settler.ts';
import type { ClaimedTask, SettleAnswer, Settlement, Store } from '../../src/store/index.ts';
import { MemoryStore, MemoryTables, StoreUnreachableError } from '../../src/store/index.ts';
import { completed, newTasks } from '../store/factories.ts';
import { birthOf, claimRequest, podOf } from '../store/harness.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTestFleets, Wire } from './support.ts';

const { hear } = useTestFleets();
const POD = podOf('alder');

async function newScene(count: number) {
  const clock = new FakeClock();
  const tables = new MemoryTables({ clock, random: seededRandom(1) });
  const wire = new Wire();
  const store = new MemoryStore(tables, { way: wire.way });
  const direct = new MemoryStore(tables);
  await direct.register(birthOf('alder'));
  await direct.enqueue(newTasks(count));
  const tasks = await direct.claim(claimRequest(POD, { countMax: count }));
  const over: HeldRun[] = [];
  const newSettler = (through: Store = store, ports: Partial<SettlerPorts> = {}) =>
    new Settler({
      store: through,
      clock,
      random: seededRandom(2),
      pod: POD,
      onOver: (held) => over.push(...held),
      ...ports,
    });
  const statuses = async () => (await direct.list({ countMax: 5_000 })).map(({ status }) => status);
  return { clock, wire, store, direct, tasks, over, newSettler, statuses };
}

const NOTHING = { seq: -1, hash: '', state: undefined };
const held = (task: ClaimedTask) => new HeldRun(task, NOTHING, {} as Keeper);

test('what ends in one turn goes in one statement', async () => {
  const { clock, wire, tasks, over, newSettler, statuses } = await newScene(50);
  const settler = newSettler();
  for (const task of tasks) settler.push(held(task), completed(task));
  await clock.settle();
  expect(wire.asked).toEqual(['settle']);
  expect(over).toHaveLength(50);
  expect(new Set(await statuses())).toEqual(new Set(['completed']));
});

test('a large pile is cut into batches, by number and by size', async () => {
  const { clock, wire, tasks, over, newSettler } = await newScene(1_100);
  const settler = newSettler();
  for (const task of tasks) settler.push(held(task), completed(task));
  await clock.settle();
  expect(wire.asked).toHaveLength(3);
  expect(over).toHaveLength(1_100);
  const large = await newScene(10);
  const result = JSON.stringify('x'.repeat(1024 * 1024));
  const slow = large.newSettler();
  for (const task of large.tasks) slow.push(held(task), completed(task, { result }));
  await large.clock.settle();
  expect(large.wire.asked.length).toBeGreaterThan(2);
  expect(large.over).toHaveLength(10);
});

test('one value that the store cannot hold fails its own task and no other', async () => {
  const { clock, tasks, over, newSettler, direct } = await newScene(20);
  const settler = newSettler();
  tasks.forEach((task, index) => {
    settler.push(held(task), completed(task, index === 7 ? { result: '"\u0000"' } : {}));
  });
  await clock.settle();
  expect(over).toHaveLength(20);
  const rows = await direct.find(tasks.map(({ task }) => task));
  const [bad] = rows.filter(({ status }) => status !== 'completed');
  expect(bad).toMatchObject({ id: tasks[7]!.task, status: 'failed', outcome: 'aborted' });
  expect(bad!.error).toContain('FLEETQ_STORE_REFUSED');
  expect(rows.filter(({ status }) => status === 'completed')).toHaveLength(19);
});

test('a store that is away is tried again until it is back, and each is settled once', async () => {
  const { clock, wire, tasks, over, newSettler, statuses } = await newScene(3);
  const failures = hear('store.failed');
  const settler = newSettler();
  wire.isCut = true;
  for (const task of tasks) settler.push(held(task), completed(task));
  await clock.advance(30_000);
  expect(over).toEqual([]);
  expect(failures.length).toBeGreaterThan(20);
  wire.isCut = false;
  await clock.advance(1_000);
  expect(over).toHaveLength(3);
  expect(await statuses()).toEqual(['completed', 'completed', 'completed']);
  expect(settler.waiting).toBe(0);
});

test('an answer that was lost is found out by asking again: done, and not lost', async () => {
  const { clock, wire, tasks, over, newSettler } = await newScene(1);
  const settled = hear('task.settled');
  const lost = hear('claim.lost');
  wire.losesAnswers.set('settle', 1);
  newSettler().push(held(tasks[0]!), completed(tasks[0]!));
  await clock.advance(1_000);
  expect(wire.asked.filter((verb) => verb === 'settle')).toHaveLength(2);
  expect(over).toHaveLength(1);
  expect([settled.length, lost.length]).toEqual([1, 0]);
});

test('a claim that no longer stands is over here and changes nothing there', async () => {
  const { clock, direct, tasks, over, newSettler } = await newScene(1);
  const lost = hear('claim.lost');
  const [task] = tasks;
  await direct.fence(POD, podOf('sweeper'), 'proved');
  const by = podOf('sweeper');
  await direct.take({ from: POD, by, to: 'pool', countMax: 9, crashed: 'all', spreadMs: 0 });
  newSettler().push(held(task!), completed(task!));
  await clock.settle();
  expect(over).toHaveLength(1);
  expect(lost).toMatchObject([{ run: task!.task, what: 'completed' }]);
  expect(await direct.find([task!.task])).toMatchObject([
    { status: 'pending', outcome: undefined },
  ]);
});

test('I43: a defect over one answer takes no other answer away, and is not said to be of the store', async () => {
  const { clock, store, wire, tasks, over, newSettler } = await newScene(5);
  const faults = hear('pod.faulted');
  const failures = hear('store.failed');
  const onStood = ({ task }: Settlement) => {
    if (task === tasks[2]!.task) throw new TypeError('a defect');
  };
  const settler = newSettler(store, { onStood });
  for (const task of tasks) settler.push(held(task), completed(task));
  await clock.advance(5_000);
  expect(over.map(({ claim }) => claim.task)).toEqual(tasks.map(({ task }) => task));
  expect(wire.asked).toEqual(['settle']);
  expect(settler.waiting).toBe(0);
  expect(faults).toMatchObject([{ pod: POD, what: 'settle', error: { message: 'a defect' } }]);
  expect(failures).toEqual([]);
});

/** A store that answers for one task by itself, for so many times. */
function answering(direct: Store, task: string, answer: SettleAnswer, times: number) {
  const asked: string[][] = [];
  const store = Object.assign(Object.create(direct) as Store, {
    settle: async (...[pod, settlements]: Parameters<Store['settle']>) => {
      asked.push(settlements.map((settlement) => settlement.task));
      const isOver = asked.flat().filter((one) => one === task).length > times;
      if (isOver) return direct.settle(pod, settlements);
      const others = settlements.filter((settlement) => settlement.task !== task);
      return [...(await direct.settle(pod, others)), answer];
    },
  });
  return { store, asked };
}

test('a row that is locked is sent again by itself, and the others do not wait for it', async () => {
  const { clock, direct, tasks, over, newSettler, statuses } = await newScene(5);
  const { task } = tasks[2]!;
  const { store, asked } = answering(direct, task, { task, kind: 'locked' }, 6);
  const settler = newSettler(store);
  for (const one of tasks) settler.push(held(one), completed(one));
  await clock.settle();
  expect(over).toHaveLength(4);
  expect(settler.waiting).toBe(1);
  let isIdle = false;
  const idle = settler.idle().then(() => {
    isIdle = true;
  });
  await clock.advance(2_000);
  expect(asked.length).toBeLessThan(7);
  expect(isIdle).toBe(false);
  await clock.advance(20_000);
  await idle;
  expect(asked.slice(1)).toEqual(Array.from({ length: 6 }, () => [task]));
  expect(over).toHaveLength(5);
  expect(new Set(await statuses())).toEqual(new Set(['completed']));
});

test('what is refused a second time is said aloud, and sent again ever more seldom', async () => {
  const { clock, direct, tasks, over, newSettler } = await newScene(2);
  const failures = hear('store.failed');
  const { task } = tasks[0]!;
  const answer: SettleAnswer = { task, kind: 'refused', reason: 'interval out of range' };
  const { store, asked } = answering(direct, task, answer, 12);
  const settler = newSettler(store);
  for (const one of tasks) settler.push(held(one), completed(one));
  await clock.advance(10_000);
  expect(over).toHaveLength(1);
  expect(asked.length).toBeLessThan(10);
  expect(failures.length).toBeGreaterThan(2);
  expect(failures[0]).toMatchObject({ what: 'settle', error: { code: 'FLEETQ_STORE_REFUSED' } });
  await clock.advance(60_000);
  expect(await direct.find([task])).toMatchObject([{ status: 'failed', outcome: 'aborted' }]);
  expect(settler.waiting).toBe(0);
});

test('a stopped one forgets what rests, and keeps nobody waiting', async () => {
  const { clock, direct, tasks, newSettler } = await newScene(1);
  const { task } = tasks[0]!;
  const { store, asked } = answering(direct, task, { task, kind: 'locked' }, 99);
  const settler = newSettler(store);
  settler.push(held(tasks[0]!), completed(tasks[0]!));
  await clock.settle();
  const idle = settler.idle();
  settler.stop();
  await idle;
  await clock.advance(30_000);
  expect(asked).toHaveLength(1);
  expect(settler.waiting).toBe(0);
});

test('a stopped one lets an answer that is still to come change nothing here', async () => {
  const { clock, tasks, over, newSettler, direct } = await newScene(1);
  let answer!: () => void;
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow = Object.assign(Object.create(direct) as Store, {
    settle: async (...given: Parameters<Store['settle']>) => {
      await gate;
      return direct.settle(...given);
    },
  });
  const settler = newSettler(slow);
  settler.push(held(tasks[0]!), completed(tasks[0]!));
  await clock.settle();
  settler.stop();
  settler.push(held(tasks[0]!), completed(tasks[0]!));
  answer();
  await settler.idle();
  expect(over).toEqual([]);
});

test('it is idle when the last answer is in, however often it had to ask', async () => {
  const { clock, tasks, newSettler, direct } = await newScene(2);
  let failures = 2;
  const flaky = Object.assign(Object.create(direct) as Store, {
    settle: async (...given: Parameters<Store['settle']>) => {
      if (failures-- > 0) throw new StoreUnreachableError('not now');
      return direct.settle(...given);
    },
  });
  const settler = newSettler(flaky);
  for (const task of tasks) settler.push(held(task), completed(task));
  let isIdle = false;
  const idle = settler.idle().then(() => {
    isIdle = true;
  });
  await clock.settle();
  expect(isIdle).toBe(false);
  await clock.advance(1_000);
  await idle;
  expect(isIdle).toBe(true);
});

/** Single tasks of many callers at once: few statements, and to each caller its own answer. */
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import {
  BATCH_BYTES_MAX,
  BATCH_COUNT_MAX,
  Gatherer,
  SENDING_COUNT_MAX,
  WAITING_COUNT_MAX,
  WAITING_MS_MAX,
} from '../../src/fleet/gatherer.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine, type Fleet, listen } from '../../src/index.ts';
import {
  type EnqueueAnswer,
  MemoryStore,
  MemoryTables,
  type NewTask,
  type Store,
  StoreRefusedError,
  StoreUnreachableError,
} from '../../src/store/index.ts';
import { newTask, newTasks } from '../store/factories.ts';
import { useTempDirs } from '../support/temp-dir.ts';

interface Sent {
  readonly tasks: readonly NewTask[];
  answer(): void;
  fail(error: Error): void;
}

/** What it sends is answered by hand. */
function newGatherer() {
  const sent: Sent[] = [];
  let nowMs = 0;
  const gatherer = new Gatherer({
    clock: { monotonicMs: () => nowMs },
    countMax: BATCH_COUNT_MAX,
    send: (given) =>
      new Promise((resolve, reject) => {
        const tasks = given.map(({ task }) => task);
        sent.push({ tasks, answer: () => resolve(tasks.map(answerTo)), fail: reject });
      }),
  });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  /** Answers what is sent, and what is sent then, until nothing is. */
  const answerAll = async () => {
    for (let at = 0; at < sent.length; at += 1) {
      sent[at]!.answer();
      await settled();
    }
  };
  return { gatherer, sent, advance, answerAll };
}

function answerTo({ id, payload }: NewTask): EnqueueAnswer {
  return { id, isNew: true, status: 'pending', payload };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const sizes = (sent: readonly Sent[]) => sent.map(({ tasks }) => tasks.length);

test('few are sent at once, each by itself; the rest go together, and each gets its own answer', async () => {
  const { gatherer, sent, answerAll } = newGatherer();
  const tasks = newTasks(SENDING_COUNT_MAX + BATCH_COUNT_MAX + 20);
  const answers = tasks.map((task) => gatherer.put({ task }));
  expect(sizes(sent)).toEqual([1, 1, 1, 1]);
  sent[2]!.answer();
  await settled();
  expect(sizes(sent)).toEqual([1, 1, 1, 1, BATCH_COUNT_MAX]);
  await answerAll();
  expect(sizes(sent)).toEqual([1, 1, 1, 1, BATCH_COUNT_MAX, 20]);
  expect((await Promise.all(answers)).map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
  expect(sent.flatMap(({ tasks: batch }) => batch)).toEqual(tasks);
});

test('however many there are, few statements are on their way, none of them too large', async () => {
  const { gatherer, sent, answerAll } = newGatherer();
  const payload = JSON.stringify('x'.repeat(BATCH_BYTES_MAX / 4));
  const large = newTasks(20, { payload });
  const all = Promise.all([...newTasks(2_000), ...large].map((task) => gatherer.put({ task })));
  expect(sent).toHaveLength(SENDING_COUNT_MAX);
  await answerAll();
  await all;
  expect(Math.max(...sizes(sent))).toBe(BATCH_COUNT_MAX);
  for (const { tasks } of sent) {
    expect(tasks.reduce((sum, task) => sum + task.payload.length, 0)).toBeLessThan(BATCH_BYTES_MAX);
  }
});

test('one that the store cannot keep harms nobody but itself', async () => {
  const { gatherer, sent } = newGatherer();
  const bad = newTask({ payload: '"bad"' });
  const tasks = [...newTasks(30), bad, ...newTasks(30)];
  const results = Promise.allSettled(tasks.map((task) => gatherer.put({ task })));
  for (let at = 0; at < sent.length; at += 1) {
    const { tasks: batch, answer, fail } = sent[at]!;
    if (batch.includes(bad)) fail(new StoreRefusedError('it cannot be kept'));
    else answer();
    await settled();
  }
  const refused = (await results).flatMap(({ status }, index) =>
    status === 'rejected' ? [tasks[index]] : [],
  );
  expect(refused).toEqual([bad]);
});

test('an answer that does not come is told to those who waited for it, and nothing is sent twice', async () => {
  const { gatherer, sent, advance, answerAll } = newGatherer();
  const first = newTasks(SENDING_COUNT_MAX + 10).map((task) => gatherer.put({ task }));
  const told = Promise.allSettled(first);
  sent[0]!.answer();
  await settled();
  const early = Promise.allSettled(newTasks(5).map((task) => gatherer.put({ task })));
  advance(WAITING_MS_MAX);
  const late = Promise.allSettled(newTasks(5).map((task) => gatherer.put({ task })));
  sent[4]!.fail(new StoreUnreachableError('no answer'));
  await settled();
  await answerAll();
  const statuses = (results: readonly { status: string }[]) => [
    ...new Set(results.map(({ status }) => status)),
  ];
  expect(statuses((await told).slice(SENDING_COUNT_MAX))).toEqual(['rejected']);
  expect(statuses((await told).slice(0, SENDING_COUNT_MAX))).toEqual(['fulfilled']);
  // Nobody has sent these: they waited for as long as an answer may take, and are told as well.
  expect(statuses(await early)).toEqual(['rejected']);
  expect(statuses(await late)).toEqual(['fulfilled']);
  const ids = sent.flatMap(({ tasks }) => tasks.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

test('one lost answer fails nobody: the same are sent once more, and no third time', async () => {
  const { gatherer, sent } = newGatherer();
  const lost = new StoreUnreachableError('the connection was cut');
  const all = newTasks(SENDING_COUNT_MAX + 30).map((task) => gatherer.put({ task }));
  const told = Promise.allSettled(all);
  sent[0]!.answer();
  await settled();
  const batch = sent[4]!.tasks;
  sent[4]!.fail(lost);
  await settled();
  expect([batch.length, sent[5]!.tasks]).toEqual([30, batch]);
  sent[5]!.answer();
  // One that goes alone likewise; where the second answer is lost, too, it is told.
  sent[1]!.fail(lost);
  await settled();
  sent[6]!.fail(lost);
  for (const { answer } of sent.slice(2, 4)) answer();
  const statuses = (await told).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'rejected')).toHaveLength(1);
  expect([statuses[1], sizes(sent)]).toEqual(['rejected', [1, 1, 1, 1, 30, 30, 1]]);
});

test('a crowd without bound is refused, and who waits when it ends is told', async () => {
  const { gatherer, sent, answerAll } = newGatherer();
  const [task] = newTasks(1);
  const all: Promise<unknown>[] = [];
  for (let n = 0; n < WAITING_COUNT_MAX + SENDING_COUNT_MAX; n += 1)
    all.push(gatherer.put({ task: task! }));
  await expect(gatherer.put({ task: task! })).rejects.toMatchObject({ code: 'FLEETQ_STORE_BUSY' });
  let isIdle = false;
  const idle = gatherer.idle().then(() => {
    isIdle = true;
  });
  const told = Promise.allSettled(all);
  gatherer.stop(new Error('it ends'));
  await settled();
  expect(isIdle).toBe(false);
  await answerAll();
  await idle;
  const rejected = (await told).filter(({ status }) => status === 'rejected');
  expect([rejected.length, sizes(sent)]).toEqual([WAITING_COUNT_MAX, [1, 1, 1, 1]]);
});

const newDir = useTempDirs();
const mail = defineMachine({
  name: 'mail',
  version: 1,
  input: z.object({ n: z.int() }),
  check: 'none',
  work: () => 1,
});
let fleet: Fleet | undefined;
afterEach(() => fleet?.drain());

/**
 * A store that takes a turn of the loop for each answer, and tells how many tasks each call had. The
 * answers to calls of these numbers are lost.
 */
async function openFleet(lost: readonly number[] = []) {
  const tables = new MemoryTables({ clock: systemClock, random: systemRandom });
  const calls: number[] = [];
  let [open, most] = [0, 0];
  const memory = new MemoryStore(tables, {
    way: async (_, act) => {
      await settled();
      return act();
    },
  });
  const enqueue: Store['enqueue'] = async (tasks, ...more) => {
    const number = calls.push(tasks.length);
    open += 1;
    most = Math.max(most, open);
    try {
      const answers = await memory.enqueue(tasks, ...more);
      if (lost.includes(number)) throw new StoreUnreachableError('the connection was cut');
      return answers;
    } finally {
      open -= 1;
    }
  };
  const store = new Proxy(memory, {
    get: (target, name) => {
      if (name === 'enqueue') return enqueue;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  fleet = await createFleet({ machines: [mail], store, isClient: true, dataDir: newDir() });
  const look = new MemoryStore(tables);
  return { fleet, calls, look, most: () => most };
}

test('a drain waits for those who enqueue, and all that they were told is there', async () => {
  const { fleet, calls, look } = await openFleet();
  const all = Array.from({ length: 1_500 }, (_, n) => fleet.enqueue(mail, { n }));
  await settled();
  await fleet.drain();
  const ids = (await Promise.all(all)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(1_500);
  expect(await look.find(ids)).toHaveLength(1_500);
  expect(calls.length).toBeLessThan(20);
});

test('tasks whose answers were lost are there once, are told as new, and nobody fails', async () => {
  // The first four are plain ones, the next four have keys.
  const { fleet, look } = await openFleet([1, 5]);
  let told = 0;
  const stop = listen('task.enqueued', ({ count }) => {
    told += count;
  });
  const plain = Array.from({ length: 600 }, (_, n) => fleet.enqueue(mail, { n }));
  const keyed = Array.from({ length: 5 }, (_, n) => fleet.enqueue(mail, { n }, { key: `${n}` }));
  const ids = (await Promise.all([...plain, ...keyed])).map(({ id }) => id);
  stop();
  expect([new Set(ids).size, told]).toEqual([605, 605]);
  expect(await look.find(ids)).toHaveLength(605);
});

test('what has a key goes by itself, and a conflict is told to whoever has it', async () => {
  const { fleet, calls } = await openFleet();
  const keyed = Array.from({ length: 20 }, (_, n) =>
    fleet.enqueue(mail, { n: n % 2 }, { key: 'one' }),
  );
  const results = await Promise.allSettled([...keyed, fleet.enqueue(mail, { n: 1 })]);
  const told = results.map((result) =>
    result.status === 'rejected' ? result.reason.code : 'there',
  );
  expect(told.slice(0, 20)).toEqual(
    Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'there' : 'FLEETQ_KEY_CONFLICT')),
  );
  expect([told[20], calls]).toEqual(['there', Array(21).fill(1)]);
});

test('however many with keys come at once, never more than a few have a connection, and none is refused', async () => {
  const { fleet, calls, most } = await openFleet();
  const all = Array.from({ length: 3_000 }, (_, n) => fleet.enqueue(mail, { n }, { key: `${n}` }));
  const ids = (await Promise.all(all)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(3_000);
  expect([calls.length, most()]).toEqual([3_000, SENDING_COUNT_MAX]);
});

test('after a drain whoever enqueues or waits is told that it has drained, and nobody waits for ever', async () => {
  const { fleet, calls } = await openFleet();
  const task = await fleet.enqueue(mail, { n: 1 }, { runAt: '1h' });
  const waited = task.result();
  const drained = fleet.drain();
  await expect(waited).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
  await drained;
  for (const late of [
    () => fleet.enqueue(mail, { n: 2 }),
    () => fleet.enqueue(mail, { n: 2 }, { key: 'two' }),
    () => task.result(),
  ]) {
    await expect(late()).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
  }
  expect(calls).toEqual([1]);
});

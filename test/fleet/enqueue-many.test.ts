/** Many tasks at once: whole batches in order, no more in memory than two, and bad ones by number. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine, type EnqueueItem, type Fleet } from '../../src/index.ts';
import {
  MemoryStore,
  MemoryTables,
  StoreUnreachableError,
  type Way,
} from '../../src/store/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const mail = defineMachine({
  name: 'mail',
  version: 1,
  input: z.object({ n: z.int().nonnegative() }),
  check: 'none',
  work: () => 1,
});

type Verb = string;
let fault: ((verb: Verb) => 'before' | 'after' | undefined) | undefined;
let fleet: Fleet;
let tables: MemoryTables;

beforeAll(async () => {
  tables = new MemoryTables({ clock: systemClock, random: systemRandom });
  const way: Way = async (verb, act) => {
    const when = fault?.(verb);
    if (when === 'before') throw new StoreUnreachableError('not reached');
    const answer = act();
    if (when === 'after') throw new StoreUnreachableError('the answer was lost');
    return answer;
  };
  const store = new MemoryStore(tables, { way });
  fleet = await createFleet({ machines: [mail], store, isClient: true, dataDir: newDir() });
});
afterAll(() => fleet.drain());

const count = async () => (await fleet.store.list({ countMax: 10_000, machine: 'mail' })).length;

function* numbers(
  from: number,
  to: number,
  more: object = {},
): Generator<EnqueueItem<{ n: number }>> {
  for (let n = from; n < to; n += 1) yield { input: { n }, ...more };
}

test('all of a stream are there, each batch is told of, and a key that is there is no new one', async () => {
  const before = await count();
  const batches: [number, number][] = [];
  async function* stream() {
    for (const item of numbers(0, 25))
      yield { ...item, key: `a ${item.input.n % 20}`, input: { n: item.input.n % 20 } };
  }
  const options = {
    batchMax: 10,
    priority: 3,
    onBatch: ({ first, tasks }: { first: number; tasks: readonly { isNew: boolean }[] }) =>
      void batches.push([first, tasks.filter(({ isNew }) => isNew).length]),
  };
  expect(await fleet.enqueueMany(mail, stream(), options)).toEqual({ count: 25, newCount: 20 });
  expect(batches).toEqual([
    [0, 10],
    [10, 10],
    [20, 0],
  ]);
  expect(await count()).toBe(before + 20);
  const [row] = await fleet.store.list({ countMax: 1, machine: 'mail' });
  expect(row).toMatchObject({ priority: 3 });
});

test('no more than two batches are read ahead of what is there', async () => {
  let [taken, most, there] = [0, 0, 0];
  function* source() {
    for (const item of numbers(0, 100)) {
      taken += 1;
      most = Math.max(most, taken - there);
      yield item;
    }
  }
  const onBatch = async ({ tasks }: { tasks: readonly unknown[] }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    there += tasks.length;
  };
  await fleet.enqueueMany(mail, source(), { batchMax: 10, onBatch });
  expect([taken, there]).toEqual([100, 100]);
  expect(most).toBeLessThanOrEqual(21);
});

for (const [what, bad, message] of [
  ['an input that does not fit', { input: { n: -1 } }, /^item 14: .*n: .*; the first 10 are/],
  ['an option that makes no sense', { input: { n: 1 }, priority: 0.5 }, /^item 14: priority must/],
  [
    'a key that no store can keep',
    { input: { n: 1 }, key: 'a\0' },
    /^item 14: key must be text without NUL/,
  ],
  [
    'half of a character in a queue',
    { input: { n: 1 }, queue: 'a\ud800' },
    /^item 14: queue must be text without NUL and halves of surrogate pairs, got "a\\ud800"/,
  ],
  [
    'a mistyped option',
    { input: { n: 1 }, serialkey: 'a' },
    /^item 14: it has no option "serialkey": did you mean serialKey\?/,
  ],
  ['nothing', null, /^item 14: it takes an object, got null/],
  ['another input under a key', { input: { n: 1 }, key: 'a 2' }, /^item 14: the key 'a 2' of mail/],
] as const) {
  test(`${what} is told by its number, and nothing of its batch is there`, async () => {
    const before = await count();
    const items = [...numbers(0, 30)].map((item, index) => (index === 14 ? (bad as never) : item));
    const failure = await fleet.enqueueMany(mail, items, { batchMax: 10 }).catch((error) => error);
    expect(failure).toMatchObject({ code: 'FLEETQ_BAD_ITEM', index: 14, enqueued: 10 });
    expect(failure.message).toMatch(message);
    expect(await count()).toBe(before + 10);
  });
}

test('a batch that did not arrive, or whose answer was lost, is there once', async () => {
  const before = await count();
  const faults = [undefined, 'after', undefined, 'before', 'before', undefined] as const;
  let asked = 0;
  fault = (verb) => (verb === 'enqueue' ? faults[asked++] : undefined);
  try {
    const report = await fleet.enqueueMany(mail, numbers(0, 30), { batchMax: 10 });
    expect(report).toEqual({ count: 30, newCount: 30 });
  } finally {
    fault = undefined;
  }
  expect([asked, await count()]).toEqual([6, before + 30]);
});

test('a store that stays away is told, and so is what came of a source that breaks', async () => {
  fault = (verb) => (verb === 'enqueue' ? 'before' : undefined);
  const failing = fleet.enqueueMany(mail, numbers(0, 5));
  await expect(failing).rejects.toMatchObject({ code: 'FLEETQ_STORE_UNREACHABLE' });
  fault = undefined;
  const before = await count();
  function* broken() {
    yield* numbers(0, 15);
    throw new Error('the file ended early');
  }
  await expect(fleet.enqueueMany(mail, broken(), { batchMax: 10 })).rejects.toThrow('ended early');
  expect(await count()).toBe(before + 10);
  await expect(fleet.enqueueMany(mail, [], { batchMax: 1_001 })).rejects.toThrow(/batchMax/);
  expect(await fleet.enqueueMany(mail, [])).toEqual({ count: 0, newCount: 0 });
});

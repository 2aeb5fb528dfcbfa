/** Batches to the store: cut as one likes, sent again, in any order, they give what one gives. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import type { ClaimedTask, NewTask, Segment, Settlement } from '../../src/store/tasks.ts';
import { seeded } from '../ground/seed.ts';
import {
  birthOf,
  claimRequest,
  completed,
  failed,
  newTasks,
  parked,
  podOf,
  released,
  segment,
} from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const POD = podOf('alder');
const COUNT = 4;

async function fresh(tasks: readonly NewTask[]) {
  const tables = new MemoryTables({ clock: new FakeClock(), random: seededRandom(1) });
  const store = new MemoryStore(tables);
  await store.register(birthOf('alder'));
  await store.enqueue(tasks);
  const claims = await store.claim(claimRequest(POD));
  const state = async () => ({
    rows: await store.list({ countMax: 100 }),
    histories: await store.histories(claims),
  });
  return { store, claims, state };
}

/** Cuts a list into batches after these places. */
function batches<T>(items: readonly T[], places: readonly number[]): T[][] {
  const ends = [...new Set([...places.map((place) => place % items.length), items.length])];
  ends.sort((a, b) => a - b);
  return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end));
}

const places = fc.array(fc.nat(20), { maxLength: 5 });
const which = fc.nat(COUNT - 1);
const parts = fc.array(fc.tuple(which, fc.nat(3)), { minLength: 1, maxLength: 12 });
/** Growing from the same beginning, as a flusher sends them that does not know what has arrived. */
const partOf = (
  claims: readonly ClaimedTask[],
  [index, last]: readonly [number, number],
): Segment => segment(claims[index]!, 0, last);

test('I15: overlapping flushes in any order, any number of times, equal the longest of each once', async () => {
  await fc.assert(
    fc.asyncProperty(parts, places, fc.boolean(), async (chosen, cuts, isTwice) => {
      const tasks = newTasks(COUNT);
      const once = await fresh(tasks);
      const longest = new Map<number, number>();
      for (const [index, last] of chosen) {
        longest.set(index, Math.max(last, longest.get(index) ?? 0));
      }
      await once.store.archive([...longest].map((pair) => partOf(once.claims, pair)));
      const many = await fresh(tasks);
      const all = chosen.map((pair) => partOf(many.claims, pair));
      for (const batch of batches(isTwice ? [...all, ...all] : all, cuts)) {
        for (const { kind } of await many.store.archive(batch)) expect(kind).toBe('held');
      }
      expect(await many.state()).toEqual(await once.state());
    }),
    seeded(200),
  );
});

const WAYS: readonly ((claim: ClaimedTask) => Settlement)[] = [
  (claim) => completed(claim, { tail: segment(claim, 0, 2) }),
  (claim) => failed(claim, { tail: segment(claim, 0, 1), retriesAdd: 1 }),
  (claim) => released(claim, { tail: segment(claim, 0, 0) }),
  (claim) => parked(claim, 'sleep', 5_000, { tail: segment(claim, 0, 3), hasCompletedStep: true }),
];
const ways = fc.array(fc.nat(WAYS.length - 1), { minLength: COUNT, maxLength: COUNT });
const orders = fc.shuffledSubarray([0, 1, 2, 3], { minLength: COUNT, maxLength: COUNT });

test('settlements in one batch equal the same in several, in any order; sent again they do nothing', async () => {
  await fc.assert(
    fc.asyncProperty(ways, orders, places, async (chosen, order, cuts) => {
      const tasks = newTasks(COUNT);
      const [once, many] = [await fresh(tasks), await fresh(tasks)];
      const of = (claims: readonly ClaimedTask[]) =>
        claims.map((claim, index) => WAYS[chosen[index]!]!(claim));
      const answers = await once.store.settle(POD, of(once.claims));
      expect(answers.map(({ kind }) => kind)).toEqual(Array(COUNT).fill('stood'));
      const settlements = order.map((index) => of(many.claims)[index]!);
      for (const batch of batches(settlements, cuts)) await many.store.settle(POD, batch);
      const wanted = await once.state();
      expect(await many.state()).toEqual(wanted);
      const again = await many.store.settle(POD, settlements);
      const isEnd = (index: number) => chosen[index]! < 2;
      expect(again.map(({ kind }) => kind)).toEqual(
        order.map((index) => (isEnd(index) ? 'done' : 'lost')),
      );
      expect(await many.state()).toEqual(wanted);
    }),
    seeded(200),
  );
});

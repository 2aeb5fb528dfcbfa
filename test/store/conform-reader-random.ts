/**
 * Random rows and random filters: whatever a reader answers is what `matches` says of the rows. The
 * rows and the filters are the same for every store, so all of them answer alike.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Filter, matches, type Term } from '../../src/query/index.ts';
import { isBlocked, LiveRoutes } from '../../src/store/blocked.ts';
import { factsOfTask } from '../../src/store/facts.ts';
import type { TaskStatus } from '../../src/store/words.ts';
import { type ReaderScene, useReader } from './conform-reader.ts';
import { HOUR, ids, newId } from './factories.ts';
import type { PlainRow, Scene } from './harness.ts';

const ROUTES = ['m/a@2', 'm/b@1'];
const LIVE = new LiveRoutes([{ status: 'up', routes: ROUTES }]);

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);
const machine = pick('m/a', 'm/b', 'M/A', 'n');
const word = pick('a', 'ab', 'B', 'ä', 'x"y', 'x\\y', '%', 'İ', 'K', '🦆', 'a b');
const message = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '));
const error = fc.oneof(
  fc.record({ code: word, message }).map((told) => JSON.stringify(told)),
  // As a program that escapes everything would write it.
  fc.record({ name: word, message }).map((told) => escaped(JSON.stringify(told))),
  message,
);

function escaped(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (character) =>
    [...character].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** Times are hours before now. */
const row = fc.record({
  machine,
  version: pick(1, 2, 3),
  queue: word,
  priority: pick(-1, 0, 7),
  agoHours: fc.integer({ min: 0, max: 5 }),
  state: pick<TaskStatus>('pending', 'waiting', 'claimed', 'completed', 'failed', 'cancelled'),
  hasKey: fc.boolean(),
  error,
  crashes: pick(0, 2),
  retry_count: pick(0, 3),
  paused: fc.boolean(),
  isPinned: fc.boolean(),
  isDiscarded: fc.boolean(),
  pod: pick('pod-a', 'pod-b', 'Pod-a'),
  wait: pick('retry', 'version', 'sleep'),
});
type Row = typeof row extends fc.Arbitrary<infer Made> ? Made : never;

function plainOf(made: Row, index: number, nowMs: number): PlainRow {
  const { agoHours, state, hasKey, error, isPinned, isDiscarded, pod, wait, ...same } = made;
  const createdAt = nowMs - agoHours * HOUR;
  const isEnded = ['completed', 'failed', 'cancelled'].includes(state);
  return {
    ...same,
    ...{ task_id: newId(), status: state, createdAt, updatedAt: createdAt },
    ...(hasKey ? { key: `${made.queue}-${index}` } : {}),
    ...(state === 'claimed' ? { claimed_by: pod, claim_epoch: 1 } : {}),
    ...(state === 'waiting' ? { wait_for: wait } : {}),
    ...(isEnded ? { finishedAt: nowMs - HOUR, outcome: state } : {}),
    ...(state === 'failed' || made.paused ? { error } : {}),
    ...(state === 'failed' && isDiscarded ? { discardedAt: nowMs } : {}),
    ...(isPinned ? { pinned_to: 'journal-x' } : {}),
  };
}

const words = (...values: fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...values), { minLength: 1, maxLength: 3 });
const wordTerm = fc.oneof(
  fc.record({ field: pick('machine'), words: words(machine, pick('m/*', 'M*')) }),
  fc.record({ field: pick('queue'), words: words(word, pick('a*', '*', 'x"*')) }),
  fc.record({
    field: pick('status'),
    words: words(pick('pending', 'failed', 'claimed', 'c*', 'waiting')),
  }),
  fc.record({ field: pick('outcome'), words: words(pick('completed', 'failed', 'c*')) }),
  fc.record({ field: pick('key'), words: words(pick('a-0', 'a-1', 'ä*', 'B-2', 'b-2')) }),
  fc.record({ field: pick('pod'), words: words(pick('pod-a', 'pod*', 'Pod-a')) }),
  fc.record({ field: pick('wait'), words: words(pick('retry', 'version', 's*')) }),
  fc.record({ field: pick('error'), words: words(word, pick('a*')) }),
  fc.record({ field: pick('version'), words: words(pick('1', '2', '1*')) }),
  fc.record({
    field: pick('is'),
    words: words(
      pick('unfinished', 'finished', 'paused', 'suspect', 'pinned'),
      pick('blocked', 'dead-letter', 'discarded', 'p*'),
    ),
  }),
);
const isNot = fc.boolean();
const when = fc.option(
  fc.integer({ min: -2, max: 6 }).map((hours) => ({ agoMs: hours * HOUR - 0.5 })),
  { nil: undefined },
);
const bound = fc.option(pick(-1, 0, 2, 3, 7, 0.5), { nil: undefined });
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.tuple(wordTerm, isNot).map(([told, isNot]) => ({ kind: 'words', isNot, ...told }) as Term),
  fc.record({
    kind: pick('number' as const),
    field: pick('priority' as const, 'retries' as const, 'crashes' as const, 'claims' as const),
    ...{ isNot, from: bound, until: bound },
  }),
  fc.record({
    kind: pick('time' as const),
    field: pick('created' as const, 'finished' as const, 'updated' as const, 'due' as const),
    ...{ isNot, from: when, until: when },
  }),
  fc.record({ kind: pick('text' as const), isNot, text: fc.oneof(word, message, machine) }),
);
const filter: fc.Arbitrary<Filter> = fc
  .array(term, { minLength: 1, maxLength: 3 })
  .map((terms) => ({ terms }));

const FILTERS_A_CROWD = 25;

export function describeReaderAtRandom(scene: Scene): void {
  const on = useReader(scene);

  test('random filters over random rows find what matches says', { timeout: 240_000 }, async () => {
    scene.isChecked = false;
    const crowds = fc.tuple(
      fc.array(row, { minLength: 1, maxLength: 25 }),
      fc.array(filter, { minLength: FILTERS_A_CROWD, maxLength: FILTERS_A_CROWD }),
    );
    // One seed, so that every store is asked the same.
    const runs = fc.sample(crowds, { seed: 20_261_116, numRuns: scene.harness.crowdCount ?? 3 });
    for (const [rows, filters] of runs) {
      await scene.harness.reset();
      const nowMs = scene.harness.now();
      for (const [index, made] of rows.entries()) {
        await scene.harness.insertPlain(plainOf(made, index, nowMs));
      }
      for (const asked of filters) await judge(scene, on, asked, nowMs);
    }
  });
}

async function judge(scene: Scene, on: ReaderScene, filter: Filter, nowMs: number): Promise<void> {
  const rows = await scene.store.list({ countMax: 1_000 });
  const wanted = rows.filter((row) =>
    matches(filter, factsOfTask(row, isBlocked(LIVE, row)), nowMs),
  );
  const said = JSON.stringify(filter);
  const more = { nowMs, liveRoutes: ROUTES };
  const found = await on.all(filter, more);
  expect(found.toSorted(), said).toEqual(ids(wanted).sort());
  const places = new Map(rows.map((row) => [row.id, row.createdAt]));
  const times = found.map((id) => places.get(id)!);
  expect(times, said).toEqual(times.toSorted((one, other) => other - one));
  const count = await on.reader.count({ filter, countMax: 1, ...more });
  expect(count, said).toEqual({ count: wanted.length, isExact: true });
  const span = { fromMs: nowMs - 10 * HOUR, untilMs: nowMs + HOUR, buckets: 11 };
  const { buckets } = await on.reader.histogram({ filter, ...span, ...more });
  const sum = buckets
    .flatMap(({ byStatus }) => Object.values(byStatus))
    .reduce((total, each) => total + each, 0);
  expect(sum, said).toBe(wanted.length);
}

/** Where a list says that runs were last seen. */
import { expect, test } from 'vitest';
import { lastPlaces } from '../../src/admin/desk/last-places.ts';
import type { RunId } from '../../src/ground/index.ts';
import type { Segment, TaskGlance } from '../../src/store/index.ts';

const task = (id: string, lastSeq: number, outcome?: string) =>
  ({ id, generation: 1, lastSeq, outcome }) as TaskGlance;

const segment = (id: string, lastSeq: number, states: readonly string[]) =>
  ({
    task: id as RunId,
    generation: 1,
    lastSeq,
    state: states.at(-1),
    events: JSON.stringify(states.map((state) => ({ state }))),
  }) as Segment;

test('it is the phase on record, the one before an end, and where that was sent before, that one', async () => {
  const asked: string[][] = [];
  const kept: Readonly<Record<string, readonly Segment[]>> = {
    runs: [segment('runs', 0, ['main.check'])],
    fails: [segment('fails', 1, ['main.work', 'failed'])],
    told: [segment('told', 3, ['failed']), segment('told', 2, ['main.check', 'main.validate'])],
    long: [segment('long', 5_000, ['failed']), segment('long', 4_999, ['main.work'])],
    never: [segment('never', 0, ['cancelled'])],
  };
  const places = await lastPlaces(
    {
      lastSegments: async (runs) => runs.map(({ task }) => kept[task]![0]!),
      histories: async (runs) => {
        asked.push(runs.map(({ task }) => task));
        return runs.flatMap(({ task }) => kept[task]!);
      },
    },
    [
      task('done', 9, 'completed'),
      task('runs', 0),
      task('fails', 1, 'exhausted'),
      task('told', 3, 'exhausted'),
      task('long', 5_000, 'exhausted'),
      task('never', 0, 'cancelled'),
    ],
  );
  expect(Object.fromEntries(places)).toEqual({
    runs: 'main.check',
    fails: 'main.work',
    told: 'main.validate',
  });
  // Whole histories are read of those alone whose last records do not tell, and are short.
  expect(asked).toEqual([['told']]);
});

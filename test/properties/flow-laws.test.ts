/** Serial keys and limits of queues hold whatever eight claimers, people and deaths do, in any order. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLAIMER_COUNT, FlowScene, KEYS, QUEUES, type Step } from './flow-scene.ts';

const index = (count: number) => fc.nat({ max: count - 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      key: index(KEYS.length),
      queue: index(QUEUES.length),
      afterMs: fc.constantFrom(0, 0, 0, 200, 1_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      pod: index(CLAIMER_COUNT),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      nth: fc.nat({ max: 50 }),
      how: index(5),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('act' as const),
      nth: fc.nat({ max: 200 }),
      what: index(6),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('die' as const), pod: index(CLAIMER_COUNT) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      queue: index(QUEUES.length),
      limit: fc.constantFrom(0, 1, 2, 5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('stand' as const),
      queue: index(QUEUES.length),
      isPaused: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 100, 600),
    }),
  },
);

test('never two of a key, never more than a limit, in order, and nothing is stuck: 10,000 rounds', {
  timeout: 120_000,
}, async () => {
  let rounds = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 100, maxLength: 120 }), async (steps) => {
      const scene = new FlowScene();
      await scene.begin();
      for (const one of steps) await scene.take(one);
      await scene.finish();
      rounds += steps.length;
    }),
    { numRuns: 100, seed: 9, endOnFailure: true },
  );
  expect(rounds).toBeGreaterThanOrEqual(10_000);
});

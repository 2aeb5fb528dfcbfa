/** Which rule decides how often, how soon and how long: the nearest one. */
import { expect, test } from 'vitest';
import { exponential } from '../../src/ground/index.ts';
import { planOf, type StepPlan } from '../../src/machine/index.ts';
import { define, good, ofLine, step } from './refused.ts';

const stepOf = (definition: unknown, index = 0) =>
  planOf(define(definition))!.line[index] as StepPlan;

test('without a rule there are five attempts, 200 ms to 30 s apart, and no time limit', () => {
  const { policy } = stepOf(good);
  for (const phase of ['check', 'work', 'validate', 'persist'] as const) {
    expect(policy[phase].attemptMax).toBe(5);
    expect(policy[phase].timeoutMs).toBeUndefined();
    expect([1, 2, 3, 50].map(policy[phase].backoff)).toEqual([200, 400, 800, 30_000]);
  }
});

test('a rule of the step beats one of the machine, and one of a phase beats one of the step', () => {
  const machineBackoff = exponential('1s');
  const stepBackoff = exponential('2s');
  const definition = {
    ...ofLine((line) =>
      line
        .step('a', {
          ...step,
          retry: { attemptMax: 3, backoff: stepBackoff, work: { attemptMax: 4 } },
          timeout: { work: '4s' },
        })
        .step('b', { ...step, retry: { persist: { attemptMax: 6 } } }),
    ),
    retry: { attemptMax: 1, backoff: machineBackoff, work: { attemptMax: 2 }, check: {} },
    timeout: { work: '1s', persist: '2s', run: '1h' },
  };
  const a = stepOf(definition, 0).policy;
  expect([a.check, a.work, a.persist].map(({ attemptMax }) => attemptMax)).toEqual([3, 4, 3]);
  expect([a.check, a.work, a.persist].map(({ timeoutMs }) => timeoutMs)).toEqual([
    undefined,
    4_000,
    2_000,
  ]);
  expect(a.work.backoff).toBe(stepBackoff);
  const b = stepOf(definition, 1).policy;
  expect([b.check, b.work, b.persist].map(({ attemptMax }) => attemptMax)).toEqual([1, 2, 6]);
  expect(b.work.backoff).toBe(machineBackoff);
  expect(b.work.timeoutMs).toBe(1_000);
  expect(planOf(define(definition))!.runTimeoutMs).toBe(3_600_000);
});

test('the rules of a machine of one step are those of its step', () => {
  const definition = {
    ...good,
    retry: { work: { attemptMax: 2 } },
    timeout: { work: 5, run: '1m' },
  };
  expect(stepOf(definition).policy.work).toMatchObject({ attemptMax: 2, timeoutMs: 5 });
  expect(stepOf(definition).policy.check).toMatchObject({ attemptMax: 5, timeoutMs: undefined });
  expect(planOf(define(definition))!.runTimeoutMs).toBe(60_000);
});

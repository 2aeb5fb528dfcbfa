/** How often a task may fail: what its machine allows, and what whoever enqueued it allows. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

function failing(attempts: string[]) {
  return defineMachine({
    name: 'failing',
    version: 1,
    input: anyInput,
    retry: { attemptMax: 4, backoff: () => 100 },
    check: 'none',
    work: ({ runId }) => {
      attempts.push(runId);
      throw new Error('not today');
    },
  });
}

test.each([
  { retriesMax: 0, attempts: 1 },
  { retriesMax: 2, attempts: 3 },
  { retriesMax: 9, attempts: 4 },
  { retriesMax: undefined, attempts: 4 },
])(
  'a task that may fail $retriesMax times is attempted $attempts times, also in place, and every failure is counted',
  async (given) => {
    const attempts: string[] = [];
    const machine = failing(attempts);
    const { clock, tables, startPod, row } = startFleet();
    await startPod('alder', { machines: [machine] });
    const { retriesMax } = given;
    const { taskId } = tables.insert({ machine: machine.name, payload: '{}', retriesMax });
    await clock.advance(10_000);
    expect(attempts).toHaveLength(given.attempts);
    expect(await row(taskId)).toMatchObject({
      status: 'failed',
      outcome: 'exhausted',
      retryCount: given.attempts,
    });
  },
);

test('failures of an earlier owner count towards what was allowed', async () => {
  const attempts: string[] = [];
  const machine = failing(attempts);
  const { clock, tables, startPod, row } = startFleet();
  await startPod('alder', { machines: [machine] });
  const of = { machine: machine.name, payload: '{}', retriesMax: 3, retryCount: 2 };
  const { taskId } = tables.insert(of);
  await clock.advance(10_000);
  expect(attempts).toHaveLength(2);
  expect(await row(taskId)).toMatchObject({ status: 'failed', retryCount: 4 });
});

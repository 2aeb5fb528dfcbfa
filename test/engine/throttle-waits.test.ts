/** What waiting for a permit costs a run: no attempt, none of its phase's time, and not its place. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle } from '../../src/index.ts';
import { anyInput, kinds, useFleets } from '../support/fleets.ts';

const { open } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const one = [defineThrottle('llm', { limits: { inFlight: 1 }, probe: 'off' })];

test('a wait for a permit takes nothing of the time of its phase, nor an attempt', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'short',
    retry: { attemptMax: 1 },
    timeout: { work: '2s' },
    work: ({ use }) =>
      use('llm', () => {
        calls++;
        return new Promise<string>((resolve) => clock.after(1_900, () => resolve('done')));
      }),
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const runs = await Promise.all([1, 2, 3, 4, 5, 6].map(() => fleet.startLocal(machine, {})));
  await clock.advance('2m');
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(Array(6).fill('done'));
  expect(calls).toBe(6);
});

test('what comes before and after the wait is counted as one', async () => {
  const machine = defineMachine({
    ...head,
    name: 'long',
    retry: { attemptMax: 1 },
    timeout: { work: '3s' },
    work: async ({ use }) => {
      await new Promise<void>((resolve) => clock.after(2_000, () => resolve()));
      return use('llm', () => new Promise<never>(() => {}));
    },
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const holding = fleet.throttle('llm').tryAcquire()!;
  const run = await fleet.startLocal(machine, {});
  await clock.advance('5s');
  expect(kinds(fleet, run.id)).toEqual(['STARTED']);
  holding.release();
  await clock.advance(900);
  expect(fleet.throttle('llm').snapshot().inFlight).toBe(1);
  await clock.advance('6s');
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  expect(fleet.throttle('llm').snapshot().ended.timeout).toBe(1);
});

test('the deadline of the run goes on while it waits', async () => {
  const machine = defineMachine({
    ...head,
    name: 'due',
    timeout: { work: '2s', run: '3s' },
    work: ({ use }) => use('llm', () => 'done'),
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  fleet.throttle('llm').tryAcquire();
  const run = await fleet.startLocal(machine, {});
  await clock.advance(2_900);
  expect(fleet.status.waits.throttle).toBe(1);
  await clock.advance(200);
  await expect(run.result()).rejects.toMatchObject({ outcome: 'timedOut' });
  expect(fleet.status.waits.throttle).toBe(0);
});

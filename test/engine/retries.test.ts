import { expect, test } from 'vitest';
import { abort, defineMachine, retryAfter } from '../../src/index.ts';
import { anyInput, kinds, useFleets } from '../support/fleets.ts';

const { open, afterCrash } = useFleets();
const head = { version: 1, input: anyInput } as const;

function failing(times: number, backoffMs: number, calls: number[]) {
  return defineMachine({
    ...head,
    name: 'failing',
    retry: { attemptMax: times + 1, backoff: () => backoffMs },
    check: 'none',
    work: ({ attempt }) => {
      calls.push(attempt);
      if (attempt <= times) throw new Error(`no ${attempt}`);
      return attempt;
    },
  });
}

test.each([2_000, 60_000, 3_600_000])(
  'an attempt that failed is made again after its backoff of %i ms, jittered, and not before',
  async (backoffMs) => {
    const calls: number[] = [];
    const machine = failing(1, backoffMs, calls);
    const { fleet, clock } = await open({ machines: [machine] });
    const failedAt = clock.now();
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    const { dueAt } = fleet.describe(run.id);
    expect(dueAt).toBeGreaterThanOrEqual(failedAt + backoffMs / 2);
    expect(dueAt).toBeLessThanOrEqual(failedAt + backoffMs);

    await clock.advance(dueAt! - failedAt - 1);
    expect(calls).toEqual([1]);
    await clock.advance(1);
    expect(calls).toEqual([1, 2]);
    expect(await run.result()).toBe(2);
  },
);

test.each([4_000, 60_000])(
  'the time of the next attempt, %i ms away, survives a crash',
  async (backoffMs) => {
    const calls: number[] = [];
    const machine = failing(1, backoffMs, calls);
    const first = await open({ machines: [machine] });
    const { id } = await first.fleet.startLocal(machine, {});
    await first.clock.advance(100);
    const { dueAt } = first.fleet.describe(id);

    const second = await afterCrash(first, { machines: [machine] });
    first.fleet.stopNow();
    expect(second.fleet.describe(id)).toMatchObject({ status: 'waiting', dueAt, attempt: 2 });
    await second.clock.advance(dueAt! - second.clock.now() - 1);
    expect(calls).toEqual([1]);
    await second.clock.advance(1);
    expect(calls).toEqual([1, 2]);
    expect(kinds(second.fleet, id)).toEqual(['STARTED', 'FAILED', 'DONE']);
  },
);

test('a time that passed while no process ran is acted on at once', async () => {
  const calls: number[] = [];
  const machine = failing(1, 60_000, calls);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  first.fleet.stopNow();
  first.clock.pass(3_600_000);
  const { fleet, clock } = await open({
    machines: [machine],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.advance(0);
  expect(fleet.describe(id)).toMatchObject({ status: 'completed', output: 2 });
});

test('failures of one moment are spread by jitter', async () => {
  const machine = failing(1, 4_000, []);
  const { fleet, clock } = await open({ machines: [machine] });
  const runs = await Promise.all(Array.from({ length: 20 }, () => fleet.startLocal(machine, {})));
  await clock.settle();
  const times = runs.map((run) => fleet.describe(run.id).dueAt);
  expect(new Set(times).size).toBeGreaterThan(15);
});

test('a run fails for good after attemptMax attempts, with every error in its history', async () => {
  const machine = defineMachine({
    ...head,
    name: 'hopeless',
    retry: { attemptMax: 3, backoff: () => 0 },
    check: 'none',
    work: ({ attempt }): string => {
      throw new Error(`no ${attempt}`);
    },
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_FAILED',
    outcome: 'exhausted',
    state: 'main.work',
    error: { message: 'no 3' },
  });
  const messages = fleet
    .events(run.id)
    .flatMap(({ event }) => ('error' in event && event.error ? [event.error.message] : []));
  expect(messages).toEqual(['no 1', 'no 2', 'no 3']);
});

test('attempts are counted per step: the next step begins with its first', async () => {
  const attempts: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'two',
    retry: { attemptMax: 3, backoff: () => 0 },
    steps: (line) =>
      line
        .step('a', {
          check: 'none',
          work: ({ attempt }) => {
            attempts.push(`a${attempt}`);
            if (attempt < 3) throw new Error('again');
            return 1;
          },
        })
        .step('b', {
          check: 'none',
          work: ({ attempt }) => {
            attempts.push(`b${attempt}`);
            if (attempt < 3) throw new Error('again');
            return 2;
          },
        }),
  });
  const { fleet } = await open({ machines: [machine] });
  expect(await (await fleet.startLocal(machine, {})).result()).toBe(2);
  expect(attempts).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
});

test('a rejected validation has the work done again', async () => {
  const calls: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'picky',
    retry: { backoff: () => 0 },
    check: () => void calls.push('check'),
    work: ({ attempt }) => {
      calls.push(`work ${attempt}`);
      return { attempt };
    },
    validate: ({ work }) => {
      calls.push(`validate ${work.attempt}`);
      if (work.attempt === 1) throw new Error('not good enough');
    },
    persist: ({ work }) => work.attempt,
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  expect(await run.result()).toBe(2);
  // The check in the middle is the probe: the rejected work may have left what is wanted after all.
  expect(calls).toEqual(['check', 'work 1', 'validate 1', 'check', 'work 2', 'validate 2']);
});

test('a phase has its own number of attempts where the machine says so', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'strict-persist',
    retry: { attemptMax: 9, backoff: () => 0, persist: { attemptMax: 1 } },
    check: 'none',
    work: () => 1,
    persist: (): number => {
      calls++;
      throw new Error('no');
    },
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted', state: 'main.persist' });
  expect(calls).toBe(1);
});

test('retryAfter waits without counting an attempt', async () => {
  const attempts: number[] = [];
  const machine = defineMachine({
    ...head,
    name: 'busy-elsewhere',
    retry: { attemptMax: 1 },
    check: 'none',
    work: ({ attempt }) => {
      attempts.push(attempt);
      if (attempts.length < 4) retryAfter('30s', 'somebody else has it');
      return attempts.length;
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(29_999);
  expect(attempts).toEqual([1]);
  expect(fleet.describe(run.id)).toMatchObject({ reason: 'somebody else has it', attempt: 1 });
  await clock.advance(60_001);
  expect(await run.result()).toBe(4);
  expect(attempts).toEqual([1, 1, 1, 1]);
  expect(fleet.events(run.id).filter(({ event }) => event.type === 'POSTPONED')).toHaveLength(3);
});

test('retryAfter is bounded by the deadline of the run', async () => {
  const machine = defineMachine({
    ...head,
    name: 'for-ever-busy',
    timeout: { run: '1m' },
    check: 'none',
    work: (): string => retryAfter('45s', 'busy'),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(59_999);
  expect(fleet.describe(run.id).status).toBe('waiting');
  await clock.advance(1);
  expect(fleet.describe(run.id)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});

test('a run that tries again and again leaves its slot to others that wait', async () => {
  const order: string[] = [];
  const machine = defineMachine({
    ...head,
    name: 'greedy',
    retry: { attemptMax: 5, backoff: () => 0 },
    check: 'none',
    work: ({ input, attempt }) => {
      order.push(`${input.id}${attempt}`);
      if (input.id === 'greedy' && attempt < 4) throw new Error('again');
      return null;
    },
  });
  const { fleet } = await open({ machines: [machine], slots: 1 });
  const runs = await Promise.all(
    ['greedy', 'modest'].map((id) => fleet.startLocal(machine, { id })),
  );
  await Promise.all(runs.map((run) => run.result()));
  expect(order.indexOf('modest1')).toBeLessThan(order.indexOf('greedy4'));
});

test.each([
  ['user', abort.bind(undefined, 'no such account', { kind: 'user' as const })],
  ['system', abort.bind(undefined, 'the registry is gone')],
] as const)('abort ends a run at once and says whose fault it was: %s', async (kind, act) => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'aborting',
    check: 'none',
    work: (): string => {
      calls++;
      return act();
    },
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_ABORTED',
    outcome: 'aborted',
    kind,
    state: 'main.work',
  });
  expect(calls).toBe(1);
});

const badBackoffs: readonly (readonly [string, () => number])[] = [
  [
    'throws',
    () => {
      throw new Error('in backoff');
    },
  ],
  ['gives NaN', () => Number.NaN],
  ['gives less than nothing', () => -1],
  ['gives text', () => 'soon' as never],
];

test.each(badBackoffs)(
  'a backoff that %s aborts the run and does not spin or hang',
  async (_what, backoff) => {
    const machine = defineMachine({
      ...head,
      name: 'bad-backoff',
      retry: { backoff },
      check: 'none',
      work: (): string => {
        throw new Error('no');
      },
    });
    const { fleet } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await expect(run.result()).rejects.toMatchObject({ outcome: 'aborted', kind: 'system' });
  },
);

test('a backoff without end is cut to a year', async () => {
  const machine = defineMachine({
    ...head,
    name: 'endless-backoff',
    retry: { backoff: () => Number.POSITIVE_INFINITY },
    check: 'none',
    work: (): string => {
      throw new Error('no');
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(fleet.describe(run.id).dueAt! - clock.now()).toBeLessThanOrEqual(365 * 86_400_000);
});

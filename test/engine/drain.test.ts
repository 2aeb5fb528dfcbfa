import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, gate, kinds, never, useFleets } from '../support/fleets.ts';

const fleets = useFleets();
const { open, hear, newDir } = fleets;
const head = { version: 1, input: anyInput } as const;

/** Says what was called; `work` waits for the test or, if asked to, for its signal. */
function steady(calls: string[], work: (signal: AbortSignal) => Promise<string>) {
  return defineMachine({
    ...head,
    name: 'steady',
    retry: { attemptMax: 1 },
    check: ({ fencingToken }) => void calls.push(`check in ${fencingToken}`),
    work: ({ fencingToken, attempt, signal }): Promise<string> | string => {
      calls.push(`work in ${fencingToken}, attempt ${attempt}`);
      return fencingToken === 1 ? work(signal) : 'made later';
    },
    persist: ({ fencingToken, work: made }) => {
      calls.push(`persist in ${fencingToken}`);
      return made;
    },
  });
}
const heeding = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

test('a drain waits for the phase that is being executed, records it, and begins no other', async () => {
  const calls: string[] = [];
  const answer = gate<string>();
  const machine = steady(calls, () => answer.opened);
  const first = await open({ machines: [machine] });
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const draining = first.fleet.drain({ budget: '20s' });
  await first.clock.advance(10_000);
  answer.open('made');
  await first.clock.settle();
  expect(await draining).toEqual({ unfinished: 1, interrupted: 0 });
  expect(calls).toEqual(['check in 1', 'work in 1, attempt 1']);

  const second = await open({ machines: [machine], dataDir: first.dataDir, clock: first.clock });
  expect(await second.fleet.run(machine, run.id).result()).toBe('made');
  // attemptMax is 1: had the drain cost an attempt, the run would have failed.
  expect(calls.slice(2)).toEqual(['persist in 2']);
});

test('near the end of its budget a drain tells handlers to stop; that costs no attempt, and check is asked', async () => {
  const calls: string[] = [];
  const machine = steady(calls, heeding);
  const first = await open({ machines: [machine] });
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const draining = first.fleet.drain({ budget: '10s' });
  await first.clock.advance(6_999);
  expect(first.fleet.status.busy).toBe(1);
  await first.clock.advance(1);
  expect(await draining).toEqual({ unfinished: 1, interrupted: 0 });

  const second = await open({ machines: [machine], dataDir: first.dataDir, clock: first.clock });
  expect(await second.fleet.run(machine, run.id).result()).toBe('made later');
  expect(calls.slice(2)).toEqual(['check in 2', 'work in 2, attempt 1', 'persist in 2']);
  expect(second.fleet.events(run.id)[2]?.event).toEqual({ type: 'INTERRUPTED', isFree: true });
});

test('what a hurried handler still finishes counts, and is not done again', async () => {
  const calls: string[] = [];
  const machine = steady(
    calls,
    (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('made in time'));
      }),
  );
  const first = await open({ machines: [machine] });
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const draining = first.fleet.drain({ budget: '10s' });
  await first.clock.advance(7_000);
  await draining;
  const second = await open({ machines: [machine], dataDir: first.dataDir, clock: first.clock });
  expect(await second.fleet.run(machine, run.id).result()).toBe('made in time');
  expect(calls.filter((call) => call.startsWith('work'))).toHaveLength(1);
});

test.each([
  ['its deadline', { run: '9s' }, 'TIMED_OUT'],
  ['its timeout', { work: '9s' }, 'EXHAUSTED'],
] as const)(
  'what a hurried handler finishes after %s counts for nothing',
  async (_, timeout, event) => {
    const answer = gate<string>();
    const machine = defineMachine({
      ...head,
      name: 'slow',
      retry: { attemptMax: 1 },
      timeout,
      check: 'none',
      work: () => answer.opened,
    });
    const { fleet, clock } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    const draining = fleet.drain({ budget: '10s' });
    // It is told to stop after seven seconds, and has two more.
    await clock.advance(9_500);
    const ended = hear('run.recorded');
    answer.open('made too late');
    await clock.settle();
    await draining;
    expect(ended.map((record) => record.event.type)).toEqual([event]);
    expect(ended[0]).toMatchObject({ run: run.id });
  },
);

test('a handler that ignores everything does not keep a drain beyond its budget', async () => {
  const drained = hear('engine.drained');
  const machine = steady([], () => never());
  const first = await open({ machines: [machine] });
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const draining = first.fleet.drain({ budget: '10s' });
  await first.clock.advance(10_000);
  expect(await draining).toEqual({ unfinished: 1, interrupted: 1 });
  expect(drained).toEqual([{ unfinished: 1, interrupted: 1, elapsedMs: 10_000 }]);

  const second = await open({ machines: [machine], dataDir: first.dataDir, clock: first.clock });
  await second.clock.settle();
  // attemptMax is 1: it goes on in the next process, where it is known to have had its attempt.
  expect(second.fleet.describe(run.id)).toMatchObject({
    outcome: 'exhausted',
    error: { code: 'FLEETQ_INTERRUPTED' },
  });
});

test('a drain does not wait for runs that wait, sleep or have no slot', async () => {
  const machine = defineMachine({
    ...head,
    name: 'mixed',
    retry: { backoff: () => 2_000 },
    steps: (line) =>
      line
        .sleep('nap', ({ input }) => (input.id === 'asleep' ? '8h' : 0))
        .step('work', {
          check: 'none',
          work: ({ input, signal }): Promise<string> => {
            if (input.id === 'failing') throw new Error('later');
            return heeding(signal);
          },
        }),
  });
  const { fleet, clock, dataDir } = await open({ machines: [machine], slots: 1 });
  for (const id of ['asleep', 'failing', 'working', 'queued', 'queued'])
    await fleet.startLocal(machine, { id });
  await clock.advance(100);
  expect(fleet.status).toMatchObject({ busy: 1, queued: 2 });
  const draining = fleet.drain({ budget: '3s' });
  await clock.advance(0);
  expect(await draining).toMatchObject({ interrupted: 0 });
  expect(clock.timerCount).toBe(0);

  const second = await open({ machines: [machine], slots: 1, dataDir, clock });
  await clock.advance(100);
  expect(second.fleet.status).toMatchObject({ busy: 1, queued: 2 });
});

test('an idle process drains at once', async () => {
  const { fleet } = await open({ machines: [steady([], heeding)] });
  expect(await fleet.drain()).toEqual({ unfinished: 0, interrupted: 0 });
});

test('a draining process starts nothing, and says so', async () => {
  const machine = steady([], heeding);
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  const draining = fleet.drain({ budget: '5s' });
  await expect(fleet.startLocal(machine, {})).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
  await clock.advance(5_000);
  await draining;
  await expect(fleet.startLocal(machine, {})).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
  expect(fleet.runs).toBeDefined();
});

test('a start whose schema is still thinking when the drain begins is refused', async () => {
  const thinking = gate<void>();
  const machine = defineMachine({
    version: 1,
    name: 'thoughtful',
    input: anyInput.refine(async () => {
      await thinking.opened;
      return true;
    }),
    check: 'none',
    work: () => 1,
  });
  const { fleet } = await open({ machines: [machine] });
  const starting = fleet.startLocal(machine, {});
  await fleet.drain();
  thinking.open();
  await expect(starting).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
});

test('whoever waits for a result when the process drains away is told', async () => {
  const machine = steady([], heeding);
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  const waiting = expect(run.result()).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
  await clock.settle();
  const draining = fleet.drain({ budget: '3s' });
  await clock.advance(3_000);
  await draining;
  await waiting;
});

test('a second drain is the first one', async () => {
  const machine = steady([], heeding);
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  const drains = [fleet.drain({ budget: '5s' }), fleet.drain({ budget: '1h' })];
  await clock.advance(5_000);
  const [first, second] = await Promise.all(drains);
  expect(second).toEqual(first);
  expect(await fleet.drain()).toEqual(first);
});

test('a process that must end now ends in the middle of a drain, and nothing is left hanging', async () => {
  const machine = steady([], () => never());
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  const draining = fleet.drain({ budget: '1h' });
  fleet.stopNow();
  fleet.stopNow();
  await clock.settle();
  expect(await draining).toMatchObject({ interrupted: 1 });
});

test('stopping at once keeps what is durable, and marks only what was inside a phase', async () => {
  const calls: string[] = [];
  const machine = steady(calls, () => never());
  const dataDir = newDir();
  const first = await open({ machines: [machine], dataDir, slots: 1 });
  const runs = [
    await first.fleet.startLocal(machine, { id: 'inside' }),
    await first.fleet.startLocal(machine, { id: 'waiting' }),
  ];
  await first.clock.settle();
  first.fleet.stopNow();
  const second = await open({ machines: [machine], dataDir, slots: 1, clock: first.clock });
  await second.clock.settle();
  // attemptMax is 1: the one that was inside its phase has had its attempt.
  expect(runs.map((run) => second.fleet.describe(run.id).outcome)).toEqual([
    'exhausted',
    'completed',
  ]);
  // It was asked for, and not found, before it was given up.
  const asked = ['STARTED', 'DONE', 'INTERRUPTED', 'EXHAUSTED'];
  expect(kinds(second.fleet, runs[0]!.id)).toEqual(asked);
});

test('a kill in the middle of a drain punishes nobody who had stopped between two phases', async () => {
  const answer = gate<string>();
  const calls: string[] = [];
  const machine = steady(calls, () => answer.opened);
  const stuck = defineMachine({
    ...head,
    name: 'stuck',
    check: 'none',
    work: () => never() as never,
  });
  const rig = await open({ machines: [machine, stuck] });
  const run = await rig.fleet.startLocal(machine, {});
  await rig.fleet.startLocal(stuck, {});
  await rig.clock.settle();
  void rig.fleet.drain({ budget: '1h' });
  answer.open('made');
  await rig.clock.settle();
  const { afterCrash } = fleets;
  const second = await afterCrash(rig, { machines: [machine, stuck] });
  await second.clock.settle();
  expect(second.fleet.describe(run.id)).toMatchObject({ outcome: 'completed', output: 'made' });
});

test('await using drains at the end of the block', async () => {
  const machine = defineMachine({ ...head, name: 'quick', check: 'none', work: () => 1 });
  const dataDir = newDir();
  {
    const { fleet } = await open({ machines: [machine], dataDir });
    await using used = fleet;
    await (await used.startLocal(machine, {})).result();
  }
  // Nobody holds the directory any more.
  const { fleet } = await open({ machines: [machine], dataDir });
  expect(fleet.status.boot).toBe(2);
});

/** What waiting for a permit costs a run: no attempt, none of its phase's time, and not its place. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle, type Fleet } from '../../src/index.ts';
import { anyInput, kinds, useFleets } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';

const { open, afterCrash } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const one = [defineThrottle('llm', { limits: { inFlight: 1 } })];

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

test('whoever was parked brings its age along, and comes to its turn', async () => {
  const machine = defineMachine({
    ...head,
    name: 'patient',
    work: ({ use }) => use('llm', () => 'done', { priority: 'low' }),
  });
  const throttles = [defineThrottle('llm', { limits: { inFlight: 2 } })];
  const { fleet, clock } = await open({ machines: [machine], throttles });
  const soon = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  let isOver = false;
  const keepCalling = async () => {
    while (!isOver) {
      await fleet
        .throttle('llm')
        .use(() => soon(1_000))
        .catch(() => soon(100));
    }
  };
  for (let count = 0; count < 6; count++) keepCalling();
  await clock.settle();
  const run = await fleet.startLocal(machine, {});
  await clock.advance('2m');
  const parks = fleet.events(run.id).filter(({ event }) => event.type === 'POSTPONED');
  expect(parks.length).toBeGreaterThan(2);
  const since = parks.map(({ event }) => 'wantedAt' in event && event.wantedAt);
  expect(new Set(since).size).toBe(1);
  expect(fleet.describe(run.id).status).toBe('completed');
  isOver = true;
  await clock.advance('2s');
});

test('how often it was refused is known after a park, a probe and a restart', async () => {
  let isBusy = true;
  const machine = defineMachine({
    ...head,
    name: 'refused',
    check: () => undefined,
    work: ({ use }) =>
      use('llm', () => {
        if (isBusy) throw Object.assign(new Error('busy'), { status: 429 });
        return 'done';
      }),
  });
  const random = { ...seededRandom(1), fraction: () => 0.99 };
  const rig = await open({ machines: [machine], random });
  const run = await rig.fleet.startLocal(machine, {});
  await rig.clock.advance('1m');
  const refusals = (fleet: Fleet) =>
    fleet
      .events(run.id)
      .flatMap(({ at, event }) =>
        event.type === 'POSTPONED' ? [[event.refusals, event.dueAt - at]] : [],
      );
  const before = refusals(rig.fleet);
  expect(before.slice(0, 6)).toEqual(
    [1, 2, 3, 4, 5, 6].map((count) => [count, Math.ceil(0.99 * 250 * 2 ** count)]),
  );
  const next = await afterCrash(rig, { machines: [machine], random });
  await next.clock.advance('2m');
  const after = refusals(next.fleet);
  expect(after.length).toBeGreaterThan(before.length);
  expect(after.map(([count]) => count)).toEqual(after.map((_, index) => index + 1));
  isBusy = false;
  await next.clock.advance('2m');
  expect(await next.fleet.run(machine, run.id).result()).toBe('done');
});

/** As `AbortSignal.timeout`, by the fleet's clock. */
function timeoutSignal(clock: { after(ms: number, then: () => void): unknown }, ms: number) {
  const controller = new AbortController();
  clock.after(ms, () => controller.abort(new DOMException('time is up', 'TimeoutError')));
  return controller.signal;
}

test('a timeout of its own that is over in line costs no attempt, and says nothing of the API', async () => {
  let calls = 0;
  const machine = defineMachine({
    ...head,
    name: 'hasty',
    retry: { attemptMax: 1 },
    work: ({ use }) => {
      const signal = timeoutSignal(clock, 2_500);
      const call = () =>
        new Promise<string>((resolve, reject) => {
          calls++;
          clock.after(1_000, () => resolve('done'));
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      return use('llm', call, { signal });
    },
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const runs = await Promise.all(Array.from({ length: 12 }, () => fleet.startLocal(machine, {})));
  await clock.advance('5m');
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(Array(12).fill('done'));
  expect(calls).toBeGreaterThan(12);
  expect(fleet.throttle('llm').snapshot().ended).toMatchObject({ ok: 12, timeout: 0 });
});

test('one who gives up waiting without a timeout has given up', async () => {
  const machine = defineMachine({
    ...head,
    name: 'fickle',
    retry: { attemptMax: 1 },
    work: ({ use }) => {
      const controller = new AbortController();
      clock.after(1_000, () => controller.abort(new Error('no longer wanted')));
      return use('llm', () => 'done', { signal: controller.signal });
    },
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  fleet.throttle('llm').tryAcquire();
  const run = await fleet.startLocal(machine, {});
  await clock.advance('2s');
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
});

test.each([1_000, 20_000])(
  'many calls of one phase wait for each other (calls of %i ms)',
  async (ms) => {
    let calls = 0;
    const machine = defineMachine({
      ...head,
      name: 'many',
      timeout: { work: '1h' },
      work: async ({ use }) => {
        const call = () =>
          new Promise<number>((resolve) => clock.after(ms, () => resolve(++calls)));
        const found = await Promise.all(Array.from({ length: 20 }, () => use('llm', call)));
        return found.length;
      },
    });
    const { fleet, clock } = await open({ machines: [machine], throttles: one });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(22 * ms);
    expect(await run.result()).toBe(20);
    expect(calls).toBe(20);
  },
);

test('phases that hold a permit each, and each wait for another, are parked', async () => {
  const machine = defineMachine({
    ...head,
    name: 'nested',
    work: ({ use }) => use('llm', () => use('llm', () => 'done')),
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('2m');
  expect(kinds(fleet, run.id)).toContain('POSTPONED');
});

test('whoever waits for a phase that has ended leaves the line, and spends nothing', async () => {
  const machine = defineMachine({
    ...head,
    name: 'torn',
    retry: { attemptMax: 1 },
    work: async ({ use }) => {
      const failing = new Promise<string>((_, reject) =>
        clock.after(100, () => reject(new Error('no'))),
      );
      return Promise.all([use('llm', () => 'never'), failing]);
    },
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const holding = fleet.throttle('llm').tryAcquire()!;
  const run = await fleet.startLocal(machine, {});
  await clock.advance(50);
  expect(fleet.status.waits.throttle).toBe(1);
  await clock.advance(100);
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  expect(fleet.status.waits.throttle).toBe(0);
  holding.release();
  await clock.advance('1s');
  expect(fleet.throttle('llm').snapshot().ended).toMatchObject({ ok: 1, ignored: 0 });
});

test('a call that fails before it is awaited ends its run, and nothing else', async () => {
  const machine = defineMachine({
    ...head,
    name: 'pair',
    retry: { attemptMax: 1 },
    work: async ({ use }) => {
      const first = use('llm', () => new Promise<void>((resolve) => clock.after(3_000, resolve)));
      const second = use('other', () => Promise.reject(new Error('no')));
      await first;
      return second;
    },
  });
  const { fleet, clock } = await open({ machines: [machine], throttles: one });
  const run = await fleet.startLocal(machine, {});
  await clock.advance('4s');
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
});

test('a person who cancels runs says nothing of the API that they call', async () => {
  const machine = defineMachine({
    ...head,
    name: 'cancelled',
    work: ({ use }) => use('llm', () => new Promise<string>(() => {})),
  });
  const throttles = [defineThrottle('llm', { limits: { inFlight: 8 } })];
  const { fleet, clock } = await open({ machines: [machine], throttles });
  const runs = await Promise.all(Array.from({ length: 8 }, () => fleet.startLocal(machine, {})));
  await clock.advance('1s');
  for (const run of runs) run.cancel();
  await clock.advance('20s');
  const { ended, breaker } = fleet.throttle('llm').snapshot();
  expect([ended.cancelled, ended.timeout, breaker]).toEqual([8, 0, 'closed']);
});

import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, kinds, never, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const DAY_MS = 86_400_000;

test('a phase that takes longer than its timeout fails, is told so, and is tried again', async () => {
  const reasons: unknown[] = [];
  const machine = defineMachine({
    ...head,
    name: 'slow',
    timeout: { work: '10s' },
    retry: { attemptMax: 2, backoff: () => 0 },
    work: ({ signal, attempt }): Promise<string> | string =>
      attempt === 2
        ? 'second'
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason.code);
              reject(signal.reason);
            });
          }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(9_999);
  expect(kinds(fleet, run.id)).toEqual(['STARTED']);
  await clock.advance(1);
  expect(await run.result()).toBe('second');
  expect(reasons).toEqual(['FLEETQ_PHASE_TIMEOUT']);
});

test('a phase that never answers is left to itself, and its slot and its run go on', async () => {
  const leaks = hear('phase.leaked');
  const machine = defineMachine({
    ...head,
    name: 'never',
    timeout: { work: '10s' },
    retry: { attemptMax: 1 },
    work: () => never() as Promise<string>,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(14_999);
  expect(fleet.status.busy).toBe(1);
  await clock.advance(1);
  expect(leaks).toMatchObject([{ run: run.id, phase: 'work', why: 'timeout' }]);
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'exhausted' });
  expect(fleet.status.busy).toBe(0);
});

test('a run that is cancelled while its timed-out phase is still waited for ends as cancelled', async () => {
  const [ended, quarantined] = [hear('phase.ended'), hear('run.quarantined')];
  const machine = defineMachine({
    ...head,
    name: 'cancelled-late',
    timeout: { work: '10s' },
    work: () => never() as Promise<string>,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(10_000);
  expect(await run.cancel('enough')).toEqual({ isCancelled: true, outcome: 'cancelled' });
  expect([ended.length, fleet.status.busy]).toEqual([0, 1]);
  await clock.advance(5_000);
  expect([ended.length, fleet.status.busy]).toEqual([1, 0]);
  expect(fleet.describe(run.id)).toMatchObject({ status: 'cancelled' });
  expect(quarantined).toEqual([]);
});

test('an answer after the timeout counts for nothing', async () => {
  const machine = defineMachine({
    ...head,
    name: 'too-late',
    timeout: { work: '1s' },
    retry: { attemptMax: 1 },
    work: ({ signal }): Promise<string> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('all is well'));
      }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
});

test('a handler that holds the loop past its timeout has timed out, though no timer could fire', async () => {
  const blocked = hear('phase.blocked');
  const machine = defineMachine({
    ...head,
    name: 'blocking',
    timeout: { work: '2s' },
    retry: { attemptMax: 1 },
    work: () => {
      rig.clock.pass(3_000);
      return 'done';
    },
  });
  const rig = await open({ machines: [machine] });
  const run = await rig.fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({ outcome: 'exhausted' });
  expect(blocked).toMatchObject([{ run: run.id, elapsedMs: 3_000 }]);
});

test('each phase has the timeout of its own', async () => {
  const machine = defineMachine({
    ...head,
    name: 'unlike',
    timeout: { work: '1m', persist: '1s' },
    retry: { attemptMax: 1 },
    work: () => 1,
    persist: ({ signal }): Promise<number> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('told')));
      }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(1_000);
  await expect(run.result()).rejects.toMatchObject({ state: 'main.persist' });
});

const heedless = { work: () => never() as Promise<string> };

test('the deadline of a run ends it inside a phase', async () => {
  const machine = defineMachine({ ...head, name: 'due', timeout: { run: '1m' }, ...heedless });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(60_000 + 5_000);
  await expect(run.result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_TIMED_OUT',
    outcome: 'timedOut',
    state: 'main.work',
  });
});

test.each([4_000, 600_000])(
  'the deadline of a run ends it while it waits %i ms for its next attempt',
  async (backoffMs) => {
    const machine = defineMachine({
      ...head,
      name: 'waiting',
      timeout: { run: '3s' },
      retry: { backoff: () => backoffMs * 2 },
      work: (): string => {
        throw new Error('no');
      },
    });
    const { fleet, clock } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(2_999);
    expect(fleet.describe(run.id).status).toBe('waiting');
    await clock.advance(1);
    expect(fleet.describe(run.id)).toMatchObject({ outcome: 'timedOut', state: 'main.work' });
  },
);

test('the deadline of a run ends it in its sleep', async () => {
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'overslept',
    timeout: { run: '1h' },
    steps: (line) => line.sleep('night', '8h').step('day', { check: 'none', work: () => 1 }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(3_600_000);
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'timedOut', state: 'night.sleep' });
});

test('the deadline counts from the start, also for a run that waited for a slot', async () => {
  const machine = defineMachine({ ...head, name: 'queued', timeout: { run: '1m' }, ...heedless });
  const { fleet, clock } = await open({ machines: [machine], slots: 1 });
  const runs = [await fleet.startLocal(machine, {}), await fleet.startLocal(machine, {})];
  await clock.advance(65_000);
  for (const run of runs) {
    await expect(run.result()).rejects.toMatchObject({ outcome: 'timedOut' });
  }
});

test('a timeout longer than a timer can be is kept', async () => {
  const machine = defineMachine({
    ...head,
    name: 'patient',
    timeout: { work: '30d' },
    retry: { attemptMax: 1 },
    ...heedless,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  clock.pass(29 * DAY_MS);
  // More than the grace that a handler has once it was told to stop.
  await clock.advance(10_000);
  expect(fleet.describe(run.id).status).toBe('active');
  clock.pass(DAY_MS);
  await clock.advance(6_000);
  expect(fleet.describe(run.id).outcome).toBe('exhausted');
});

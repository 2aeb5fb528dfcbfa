import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, gate, kinds, never, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const cancelled = { isCancelled: true, outcome: 'cancelled' };

/** Ends as soon as it is told to, like a handler that hands its signal on. */
function heeding(calls: string[]) {
  return defineMachine({
    ...head,
    name: 'heeding',
    work: ({ signal, input }): Promise<string> => {
      calls.push(input.id ?? '');
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
}
const stuck = defineMachine({ ...head, name: 'stuck', work: () => never() as Promise<string> });

test('a phase that heeds its signal is cancelled at once, and its handler is not called again', async () => {
  const calls: string[] = [];
  const machine = heeding(calls);
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, { id: 'a' });
  await clock.settle();
  expect(await run.cancel('changed my mind')).toEqual(cancelled);
  await clock.advance(60_000);
  expect(calls).toEqual(['a']);
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'CANCELLED']);
  await expect(run.result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_CANCELLED',
    reason: 'changed my mind',
    state: 'main.work',
  });
  expect(fleet.status).toMatchObject({ busy: 0, queued: 0, inMemory: 0 });
});

test('a phase that ignores its signal is cancelled all the same, and its slot comes back', async () => {
  const leaks = hear('phase.leaked');
  const { fleet, clock } = await open({ machines: [stuck], slots: 1 });
  const run = await fleet.startLocal(stuck, {});
  await clock.settle();
  expect(await run.cancel()).toEqual(cancelled);
  expect(fleet.status.busy).toBe(1);
  await clock.advance(5_000);
  expect(fleet.status.busy).toBe(0);
  expect(leaks).toMatchObject([{ run: run.id, phase: 'work', why: 'cancelled' }]);
});

test('what a handler answers after the cancel counts for nothing', async () => {
  const answer = gate<string>();
  const machine = defineMachine({ ...head, name: 'late', work: () => answer.opened });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  const cancelling = run.cancel();
  answer.open('too late');
  expect(await cancelling).toEqual(cancelled);
  await clock.advance(10_000);
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'CANCELLED']);
});

test('a cancel in the very moment of the answer gives one outcome, whichever it is', async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const answer = gate<string>();
    const machine = defineMachine({ ...head, name: 'torn', work: () => answer.opened });
    const { fleet, clock } = await open({ machines: [machine] });
    const quarantined = hear('run.quarantined');
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    answer.open('done');
    for (let tick = 0; tick < ticks; tick++) await undefined;
    const report = await run.cancel();
    await clock.settle();
    expect(quarantined).toEqual([]);
    expect(fleet.describe(run.id).outcome).toBe(report.outcome);
    expect(report.isCancelled).toBe(report.outcome === 'cancelled');
    expect(kinds(fleet, run.id)).toHaveLength(2);
  }
});

test('a run that waits for a slot is cancelled without ever being executed', async () => {
  const calls: string[] = [];
  const machine = heeding(calls);
  const { fleet, clock } = await open({ machines: [machine], slots: 1 });
  const first = await fleet.startLocal(machine, { id: 'first' });
  const second = await fleet.startLocal(machine, { id: 'second' });
  await clock.settle();
  // Both at once: the slot of the first is free before the cancel of the second is durable.
  expect(await Promise.all([second.cancel(), first.cancel()])).toEqual([cancelled, cancelled]);
  await clock.advance(10_000);
  expect(calls).toEqual(['first']);
});

test.each([1_000, 60_000])(
  'a run in a backoff of %i ms is cancelled and not tried again',
  async (backoffMs) => {
    let calls = 0;
    const machine = defineMachine({
      ...head,
      name: 'backing-off',
      retry: { backoff: () => backoffMs },
      work: (): string => {
        calls++;
        throw new Error('no');
      },
    });
    const { fleet, clock } = await open({ machines: [machine] });
    const run = await fleet.startLocal(machine, {});
    await clock.advance(100);
    expect(await run.cancel()).toEqual(cancelled);
    await clock.advance(10 * backoffMs);
    expect(calls).toBe(1);
    expect(kinds(fleet, run.id)).toEqual(['STARTED', 'FAILED', 'CANCELLED']);
  },
);

test('a run of which only a timer is left is cancelled, also after a restart', async () => {
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'asleep',
    steps: (line) => line.sleep('night', '8h').step('day', { check: 'none', work: () => 'up' }),
  });
  const first = await open({ machines: [machine] });
  const [one, other] = [
    await first.fleet.startLocal(machine, {}),
    await first.fleet.startLocal(machine, {}),
  ];
  await first.clock.advance(60_000);
  expect(first.fleet.status.inMemory).toBe(0);
  expect(await one.cancel('no need')).toEqual(cancelled);

  const second = await afterCrash(first, { machines: [machine] });
  expect(second.fleet.describe(one.id)).toMatchObject({ outcome: 'cancelled', reason: 'no need' });
  expect(await second.fleet.run(machine, other.id).cancel()).toEqual(cancelled);
  await second.clock.advance(9 * 3_600_000);
  expect(kinds(second.fleet, other.id)).toEqual(['STARTED', 'ASLEEP', 'CANCELLED']);
  expect(second.fleet.status.inMemory).toBe(0);
});

test('a cancel while a record is on its way is carried out right after it', async () => {
  const machine = defineMachine({
    ...head,
    name: 'quick',
    work: () => 1,
    persist: () => never() as Promise<number>,
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const cancels: Promise<unknown>[] = [];
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    const appended = append.call(this, entry);
    if (entry.event.type === 'DONE') cancels.push(fleet.run(machine, entry.run).cancel('mid-air'));
    return appended;
  };
  try {
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    expect(await Promise.all(cancels)).toEqual([cancelled]);
    expect(kinds(fleet, run.id)).toEqual(['STARTED', 'DONE', 'CANCELLED']);
  } finally {
    SqliteJournal.prototype.append = append;
  }
});

test('a cancel that overtakes the last record comes too late and changes nothing', async () => {
  const machine = defineMachine({ ...head, name: 'last', work: () => 1 });
  const { fleet, clock } = await open({ machines: [machine] });
  const cancels: Promise<unknown>[] = [];
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    const appended = append.call(this, entry);
    if (entry.event.type === 'DONE') cancels.push(fleet.run(machine, entry.run).cancel());
    return appended;
  };
  try {
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    expect(await Promise.all(cancels)).toEqual([{ isCancelled: false, outcome: 'completed' }]);
    expect(await run.result()).toBe(1);
  } finally {
    SqliteJournal.prototype.append = append;
  }
});

test('a run may be cancelled before its start is durable, and then is never executed', async () => {
  let calls = 0;
  const machine = defineMachine({ ...head, name: 'early', work: () => ++calls });
  const { fleet, clock } = await open({ machines: [machine] });
  const cancels: Promise<unknown>[] = [];
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    const appended = append.call(this, entry);
    if (entry.event.type === 'STARTED') cancels.push(fleet.run(machine, entry.run).cancel());
    return appended;
  };
  try {
    const run = await fleet.startLocal(machine, {});
    await clock.settle();
    expect(await Promise.all(cancels)).toEqual([cancelled]);
    expect(kinds(fleet, run.id)).toEqual(['STARTED', 'CANCELLED']);
    expect(calls).toBe(0);
  } finally {
    SqliteJournal.prototype.append = append;
  }
});

test('of two cancels the first wins, and both learn the outcome', async () => {
  const { fleet, clock } = await open({ machines: [stuck] });
  const run = await fleet.startLocal(stuck, {});
  await clock.settle();
  const reports = await Promise.all([run.cancel('first'), run.cancel('second')]);
  expect(reports).toEqual([cancelled, { isCancelled: false, outcome: 'cancelled' }]);
  expect(fleet.describe(run.id).reason).toBe('first');
});

test('cancelling a run that has ended changes nothing and says how it ended', async () => {
  const machine = defineMachine({ ...head, name: 'ended', work: () => 1 });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await run.result();
  expect(await run.cancel()).toEqual({ isCancelled: false, outcome: 'completed' });
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'DONE']);
  expect(await run.result()).toBe(1);
});

test('cancelling a run that nobody knows is an error', async () => {
  const { fleet } = await open({ machines: [stuck] });
  const unknown = fleet.run(stuck, '01ARZ3NDEKTSV4RRFFQ69G5FAV' as never);
  await expect(unknown.cancel()).rejects.toMatchObject({ code: 'FLEETQ_RUN_NOT_FOUND' });
});

test('a cancel that was answered is still there after a crash in the same instant', async () => {
  const first = await open({ machines: [stuck] });
  const run = await first.fleet.startLocal(stuck, {});
  await first.clock.settle();
  await run.cancel('for good');
  const second = await afterCrash(first, { machines: [stuck] });
  await second.clock.advance(60_000);
  expect(second.fleet.describe(run.id)).toMatchObject({ outcome: 'cancelled', reason: 'for good' });
});

test('a cancel that comes while the process drains away is refused or done, and never hangs', async () => {
  const { fleet, clock } = await open({ machines: [stuck] });
  const run = await fleet.startLocal(stuck, {});
  await clock.settle();
  const draining = fleet.drain({ budget: '1s' });
  const cancelling = run.cancel();
  await clock.advance(2_000);
  await draining;
  expect(await cancelling).toEqual(cancelled);
  await expect(run.cancel()).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
});

test('a process that stops at once answers those who wait for a cancel with an error', async () => {
  const { fleet, clock } = await open({ machines: [stuck] });
  const run = await fleet.startLocal(stuck, {});
  await clock.settle();
  const cancelling = run.cancel();
  fleet.stopNow();
  await expect(cancelling).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' });
});

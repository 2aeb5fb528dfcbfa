/** Runs that stand still here: a cancel ends them too, since it needs no definition. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { defineMachine, type Machine } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, kinds, never, type Rig, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();
const cancelled = { isCancelled: true, outcome: 'cancelled' };

/** Does one step, and then waits in another; `second` is what a deploy may change. */
function twoSteps(second: string) {
  return defineMachine({
    version: 1,
    input: anyInput,
    name: 'two-steps',
    steps: (line) =>
      line
        .step('first', { check: 'none', work: () => 1 })
        .step(second, { check: 'none', work: () => never() as Promise<number> }),
  });
}

const sleeper = defineMachine({
  version: 1,
  input: anyInput,
  name: 'sleeper',
  steps: (line) => line.sleep('night', '8h').step('day', { check: 'none', work: () => 'up' }),
});

type Any = Machine<{ id?: string | undefined }>;

async function startThenStop(machine: Any): Promise<{ rig: Rig; id: string }> {
  const rig = await open({ machines: [machine] });
  const { id } = await rig.fleet.startLocal(machine, { id: 'x' }, { key: 'k' });
  await rig.clock.settle();
  rig.fleet.stopNow();
  return { rig, id };
}

async function openAgain({ dataDir, clock }: Rig, machines: readonly Machine[]): Promise<Rig> {
  const rig = await open({ machines, dataDir, clock });
  await clock.settle();
  return rig;
}

function timersIn(dataDir: string): unknown[] {
  const file = new Database(join(dataDir, 'journal.db'), { readonly: true });
  try {
    return file.prepare('select run from timers').all();
  } finally {
    file.close();
  }
}

test.each([
  ['blocked, since nobody has its machine', []],
  ['blocked, since its definition has changed', [twoSteps('other')]],
] as const)('a run that is %s can be cancelled, for good', async (what, machines) => {
  const finished = hear('run.finished');
  const { rig, id } = await startThenStop(twoSteps('second'));
  const second = await openAgain(rig, machines);
  expect(what).toContain(second.fleet.describe(id).status);
  expect(await second.fleet.runById(id).cancel('give up')).toEqual(cancelled);
  const ended = { status: 'cancelled', reason: 'give up', state: 'second.work', key: 'k' };
  expect(second.fleet.describe(id)).toMatchObject(ended);
  await expect(second.fleet.runById(id).result()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_CANCELLED',
    reason: 'give up',
  });
  expect(finished).toMatchObject([{ run: id, outcome: 'cancelled', state: 'second.work' }]);
  second.fleet.stopNow();

  const third = await openAgain(rig, [twoSteps('second')]);
  expect(third.fleet.describe(id)).toMatchObject(ended);
  expect(kinds(third.fleet, id)).toEqual(['STARTED', 'DONE', 'CANCELLED']);
  expect(third.fleet.status).toMatchObject({ inMemory: 0, alarms: [] });
});

test('a sleeper that nobody has the machine of is cancelled, and its timer goes with it', async () => {
  const { rig, id } = await startThenStop(sleeper);
  const second = await openAgain(rig, []);
  expect(await second.fleet.runById(id).cancel()).toEqual(cancelled);
  second.fleet.stopNow();
  expect(timersIn(rig.dataDir)).toEqual([]);
});

test('of two cancels of a blocked run the first wins, and whoever waits learns of it', async () => {
  const { rig, id } = await startThenStop(sleeper);
  const { fleet } = await openAgain(rig, []);
  const result = expect(fleet.runById(id).result()).rejects.toMatchObject({ reason: 'first' });
  const reports = await Promise.all([
    fleet.runById(id).cancel('first'),
    fleet.runById(id).cancel('second'),
  ]);
  expect(reports).toEqual([cancelled, { isCancelled: false, outcome: 'cancelled' }]);
  await result;
  expect(await fleet.runById(id).cancel('third')).toEqual(reports[1]);
});

test('a timer that comes due while its blocked run is being cancelled does not disturb that', async () => {
  const { rig, id } = await startThenStop(sleeper);
  const { fleet, clock } = await openAgain(rig, []);
  const cancels: Promise<unknown>[] = [];
  const { takeDueTimers } = SqliteJournal.prototype;
  SqliteJournal.prototype.takeDueTimers = function (until, countMax) {
    const due = takeDueTimers.call(this, until, countMax);
    for (const one of due) cancels.push(fleet.runById(one).cancel());
    return due;
  };
  try {
    await clock.advance(8 * 3_600_000);
    expect(await Promise.all(cancels)).toEqual([cancelled]);
    expect(fleet.describe(id).status).toBe('cancelled');
  } finally {
    SqliteJournal.prototype.takeDueTimers = takeDueTimers;
  }
});

test('a run whose records cannot be trusted is not ended by guesswork', async () => {
  const { rig, id } = await startThenStop(twoSteps('second'));
  const file = new Database(join(rig.dataDir, 'journal.db'));
  const trigger = file
    .prepare("select sql from sqlite_master where name = 'events_are_final'")
    .pluck()
    .get() as string;
  file.exec('drop trigger events_are_final');
  file.prepare("update events set data = replace(data, 'x', 'y') where run = ?").run(id);
  file.exec(trigger);
  file.close();
  const { fleet } = await openAgain(rig, []);
  await expect(fleet.runById(id).cancel()).rejects.toMatchObject({
    code: 'FLEETQ_RUN_SET_ASIDE',
    message: expect.stringContaining('does not match its hash'),
  });
});

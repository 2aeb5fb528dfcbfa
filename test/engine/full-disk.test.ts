/** A disk that takes nothing: runs stand still where they are on record, and nobody is told a lie. */
import { expect, test } from 'vitest';
import type { LiveRun } from '../../src/engine/live-run.ts';
import { RunTable } from '../../src/engine/run-table.ts';
import type { RunId } from '../../src/ground/index.ts';
import { defineMachine } from '../../src/index.ts';
import { JournalWriter } from '../../src/journal/journal-writer.ts';
import { anyInput, gate, kinds, useFleets } from '../support/fleets.ts';
import { fullDisk } from '../support/full-disk.ts';

const { open, hear } = useFleets();

function stepwise(calls: string[], answer: Promise<string>) {
  return defineMachine({
    version: 1,
    input: anyInput,
    name: 'stepwise',
    check: ({ fencingToken }) => void calls.push(`check in ${fencingToken}`),
    work: ({ fencingToken }): Promise<string> | string => {
      calls.push(`work in ${fencingToken}`);
      return fencingToken === 1 ? answer : 'made again';
    },
    persist: ({ work, fencingToken }) => {
      calls.push(`persist in ${fencingToken}`);
      return work;
    },
  });
}

test('while the disk is full a run goes no further than its last record, starts are refused, and all goes on when there is space', async () => {
  const recovered = hear('journal.recovered');
  const calls: string[] = [];
  const answer = gate<string>();
  const machine = stepwise(calls, answer.opened);
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  const mend = fullDisk(Number.POSITIVE_INFINITY);
  answer.open('made');
  await clock.advance(60_000);
  expect(calls).toEqual(['check in 1', 'work in 1']);
  expect(kinds(fleet, run.id)).toEqual(['STARTED', 'DONE']);
  await expect(fleet.startLocal(machine, {})).rejects.toMatchObject({
    code: 'FLEETQ_JOURNAL_STALLED',
  });
  mend();
  await clock.advance(10_000);
  expect(await run.result()).toBe('made');
  expect(calls).toEqual(['check in 1', 'work in 1', 'persist in 1']);
  expect(recovered).toHaveLength(1);
  expect(await (await fleet.startLocal(machine, {})).result()).toBe('made');
});

/** Timers cannot be taken either; says how often that was tried. Whoever never stops is stopped. */
function failingTimers() {
  const { takeDueTimers } = JournalWriter.prototype;
  let tries = 0;
  JournalWriter.prototype.takeDueTimers = () => {
    const code = ++tries > 1_000 ? 'ENOUGH' : 'SQLITE_FULL';
    throw Object.assign(new Error('database or disk is full'), { code });
  };
  return {
    tries: () => tries,
    mend: () => {
      JournalWriter.prototype.takeDueTimers = takeDueTimers;
    },
  };
}

test('a run that was to wake while the disk was full wakes soon after, and is not asked for meanwhile', async () => {
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'sleeper',
    steps: (line) => line.sleep('night', '10s').step('day', { check: 'none', work: () => 'up' }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.advance(9_000);
  const [timers, mend] = [failingTimers(), fullDisk(Number.POSITIVE_INFINITY)];
  const late = fleet.startLocal(machine, { id: 'waits for the disk' });
  try {
    await clock.advance(31_000);
    expect(timers.tries()).toBe(0);
    expect(fleet.describe(run.id).state).toBe('night.sleep');
  } finally {
    timers.mend();
    mend();
  }
  await clock.advance(10_000);
  expect(await run.result()).toBe('up');
  await late;
});

test('a process that ends while the disk is full answers whoever waits, and the next one asks check', async () => {
  const calls: string[] = [];
  const answer = gate<string>();
  const machine = stepwise(calls, answer.opened);
  const first = await open({ machines: [machine] });
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  const mend = fullDisk(Number.POSITIVE_INFINITY);
  const starting = first.fleet.startLocal(machine, { id: 'never durable' });
  answer.open('made');
  const [refused, unheard] = [
    expect(starting).rejects.toMatchObject({ code: 'FLEETQ_JOURNAL_STALLED' }),
    expect(run.result()).rejects.toMatchObject({ code: 'FLEETQ_DRAINING' }),
  ];
  await first.clock.settle();
  const draining = first.fleet.drain({ budget: '10s' });
  await first.clock.advance(10_000);
  await draining;
  await refused;
  await unheard;
  mend();
  const { fleet, clock } = await open({
    machines: [machine],
    dataDir: first.dataDir,
    clock: first.clock,
  });
  await clock.settle();
  // The work was done and is not on record: the one case in which it may be done again.
  expect(calls.slice(2)).toEqual(['check in 2', 'work in 2', 'persist in 2']);
  expect(fleet.runs({ countMax: 9 }).map(({ id }) => id)).toEqual([run.id]);
});

test('a record that the disk never took, of a run that is let go of, is waited for by whoever wants, and ends no process', async () => {
  const runs = new RunTable();
  const disk = gate<never>();
  const run = { id: 'run' as RunId, appending: disk.opened } as unknown as LiveRun;
  runs.lose(run, new Error('others have it'));
  const gone = runs.letGo.get(run.id);
  disk.open(Promise.reject(new Error('database or disk is full')) as never);
  // Were it rejected, nobody else would hear of it: such a promise ends the process.
  await expect(gone).resolves.toBeUndefined();
  expect(runs.letGo.size).toBe(0);
});

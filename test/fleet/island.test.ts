/** A pod that the store does not answer: what goes on, what waits, and what becomes of it afterwards. */
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { defineMachine } from '../../src/index.ts';
import type { MemoryTables, PodId } from '../../src/store/index.ts';
import { gate } from '../support/fleets.ts';
import { loseSegments } from '../support/rewinds.ts';
import { Script } from './script.ts';
import { anyInput, HEARTBEAT_MS, SILENT_MS, STEADY_MS, useTestFleets } from './support.ts';

const { startFleet, hear, newDir } = useTestFleets();

function machineOf(script: Script, autonomous?: '20s') {
  const { check, work } = script.phases;
  return defineMachine({
    name: 'rover',
    version: 1,
    input: anyInput,
    autonomous,
    steps: (line) => line.step('a', { check, work }).step('b', { check, work }),
  });
}

async function cutInside(autonomous: '20s' | undefined) {
  const script = new Script();
  const machine = machineOf(script, autonomous);
  const fleet = startFleet();
  const alder = await fleet.startPod('alder', { machines: [machine], around: script.around });
  const held = gate();
  script.holds.set('a.work', held.opened);
  const { id } = await alder.fleet.enqueue(machine, {});
  await fleet.clock.advance(1_000);
  expect(script.count('a.work')).toBe(1);
  alder.wire.isCut = true;
  return { ...fleet, script, machine, alder, id, held };
}

test('without the store a claimed run begins no phase after the deadline, and goes on once it is back', async () => {
  const { clock, script, alder, id, held, row } = await cutInside(undefined);
  await clock.advance(2 * SILENT_MS);
  held.open();
  await clock.advance(1_000);
  expect(script.count('b.check')).toBe(0);
  expect(alder.fleet.status.pod?.aloneMs).toBeGreaterThan(SILENT_MS);
  alder.wire.isCut = false;
  await clock.advance(3 * HEARTBEAT_MS);
  expect(alder.fleet.status.pod?.aloneMs).toBeUndefined();
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
});

test('an autonomous run goes on without the store, and its result is settled once that is back', async () => {
  const { clock, script, alder, id, held, row } = await cutInside('20s');
  await clock.advance(2 * SILENT_MS);
  held.open();
  await clock.advance(1_000);
  expect(script.count('b.work')).toBe(1);
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  alder.wire.isCut = false;
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
});

test('an autonomous run begins nothing after its own time, counted from the deadline', async () => {
  const { clock, script, alder, id, held, row } = await cutInside('20s');
  await clock.advance(SILENT_MS + 20_000);
  held.open();
  await clock.advance(2_000);
  expect(script.count('b.check')).toBe(0);
  alder.wire.isCut = false;
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('what an autonomous run came to after another pod had it counts for nothing, is kept, and is counted', async () => {
  const superseded = hear('run.superseded');
  const { clock, script, machine, startPod, store, alder, id, held, row } = await cutInside('20s');
  await startPod('birch', { machines: [machine], around: script.around });
  const pod = alder.id;
  await clock.advance(SILENT_MS + STEADY_MS - 3_000);
  expect((await row(id)).claimedBy).not.toBe(pod);
  held.open();
  await clock.advance(1_500);
  const before = await row(id);
  alder.wire.isCut = false;
  await clock.advance(4 * HEARTBEAT_MS);
  expect(superseded).toMatchObject([{ run: id, generation: 1 }]);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: before.epoch });
  const epochs = (await store.histories([{ task: before.id, generation: 1 }])).map(
    ({ epoch }) => epoch,
  );
  expect(new Set(epochs).size).toBe(2);
});

test('what an autonomous run came to is not sent to a server that lacks what came before it', async () => {
  const superseded = hear('run.superseded');
  const { clock, script, machine, startPod, tables, alder, id, held, row } = await cutInside('20s');
  const task = id as RunId;
  await clock.advance(2 * SILENT_MS);
  held.open();
  await clock.advance(1_000);
  expect(script.count('b.work')).toBe(1);
  // Another server takes over: it has no record of the run, and a sweep has given it away there.
  expect(tables.events.of(task)).not.toEqual([]);
  loseSegments(tables, id);
  tables.timeline = '2';
  const swept = { status: 'pending' as const, claimEpoch: 2, claimedBy: undefined };
  tables.tasks.set(task, { ...tables.tasks.get(task)!, ...swept, runAt: clock.now() + 20_000 });
  tables.pods.get(alder.id)!.status = 'down';
  alder.wire.isCut = false;
  await clock.advance(10_000);
  expect(superseded).toMatchObject([{ run: id }]);
  // What its next life has written is all of it, and begins where it began.
  expect(tables.events.of(task).map(({ firstSeq }) => firstSeq)).toEqual([0]);
  await startPod('birch', { machines: [machine], around: script.around });
  await clock.advance(20_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('runs that are started on a host without the store are all in it afterwards, with their times', async () => {
  const script = new Script();
  const machine = machineOf(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  pod.wire.isCut = true;
  await clock.advance(2 * SILENT_MS);
  const startedAt = clock.now();
  const runs = await Promise.all(
    Array.from({ length: 20 }, (_, index) => pod.fleet.startLocal(machine, { id: `${index}` })),
  );
  await clock.advance(60_000);
  expect(script.count('b.work')).toBe(20);
  pod.wire.isCut = false;
  await clock.advance(15_000);
  for (const { id } of runs) {
    const found = await row(id);
    expect(found).toMatchObject({ status: 'completed', result: expect.stringContaining('b.work') });
    expect(found.createdAt).toBeLessThan(startedAt + 2_000);
  }
});

test('runs that ended without the store, in a process that ended too, are shown by the next one', async () => {
  const script = new Script();
  const machine = machineOf(script);
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around };
  const pod = await startPod('alder', { ...options, dataDir: newDir() });
  pod.wire.isCut = true;
  await clock.advance(SILENT_MS);
  const { id } = await pod.fleet.startLocal(machine, {});
  await clock.advance(2_000);
  expect(script.count('b.work')).toBe(1);
  const image = pod.crash();
  expect(await store.find([id as never])).toEqual([]);
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('b.work')).toBe(1);
});

test('pods that lost the store at one moment do not come back to it at one', async () => {
  const { clock, startPod } = startFleet();
  const pods = [];
  for (const name of ['alder', 'birch', 'cedar', 'elder']) {
    pods.push(await startPod(name, { machines: [machineOf(new Script())] }));
  }
  await clock.advance(SILENT_MS);
  const times = new Map<string, number[]>(pods.map(({ name }) => [name, []]));
  for (const { name, store } of pods) {
    const { beat } = store;
    store.beat = (given) => {
      times.get(name)!.push(clock.now());
      return beat(given);
    };
  }
  for (const { wire } of pods) wire.isCut = true;
  await clock.advance(20 * HEARTBEAT_MS);
  const gaps = [...times.values()].flatMap((all) =>
    all.slice(1).map((at, index) => at - all[index]!),
  );
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(HEARTBEAT_MS / 6 - 1);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(HEARTBEAT_MS);
  expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(20);
});

function loseRecords(tables: MemoryTables, id: string): void {
  for (const [key, { task }] of [...tables.events]) if (task === id) tables.events.delete(key);
}

/** As a server that takes over after it had lost the last of what was committed. */
async function playRewind(loses: 'settle' | 'claim' | 'task') {
  const rewound = hear('store.rewound');
  const script = new Script();
  const machine = machineOf(script);
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
  const { id } = await pod.fleet.enqueue(machine, {});
  await fleet.clock.advance(1_000);
  expect(await fleet.row(id)).toMatchObject({ status: 'completed' });
  const task = fleet.tables.tasks.get(id)!;
  const { claimEpoch } = task;
  if (loses === 'task') fleet.tables.tasks.delete(id);
  else {
    const open = { outcome: undefined, result: undefined, finishedAt: undefined, lastSeq: -1 };
    Object.assign(task, open, { lastHash: undefined, status: 'claimed', claimedBy: pod.id });
    if (loses === 'claim') {
      // Nobody else may be faster than the pod that has it.
      const later = fleet.clock.now() + 60_000;
      const free = { claimEpoch: claimEpoch - 1, claimedBy: undefined, claimToken: undefined };
      Object.assign(task, { status: 'waiting', waitFor: 'time', runAt: later, ...free });
    }
  }
  loseRecords(fleet.tables, id);
  fleet.tables.timeline = '2';
  await fleet.clock.advance(5 * HEARTBEAT_MS);
  return { ...fleet, script, id, rewound, claimEpoch };
}

test.each(['settle', 'claim'] as const)(
  'I23: an outcome whose %s was lost with the primary is written again, and nothing runs twice',
  async (loses) => {
    const { row, script, id, rewound, claimEpoch, history } = await playRewind(loses);
    expect(rewound).toMatchObject([{ outcomesWritten: 1, outcomesLost: 0, tasks: [id] }]);
    expect(await row(id)).toMatchObject({ status: 'completed', epoch: claimEpoch });
    expect(script.count('b.work')).toBe(1);
    expect(await history(id)).not.toEqual([]);
  },
);

test('I23: a task that only the lost primary had is said to be lost', async () => {
  const { rewound, id } = await playRewind('task');
  expect(rewound).toMatchObject([{ enqueuesLost: 1, outcomesLost: 1, tasks: [id] }]);
});

test('I23: a run in hand whose claim and records were lost goes on, with all its records', async () => {
  const rewound = hear('store.rewound');
  const script = new Script();
  const machine = machineOf(script);
  const { clock, tables, startPod, row, history } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const held = gate();
  script.holds.set('b.work', held.opened);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(4_000);
  const task = tables.tasks.get(id)!;
  const free = { claimedBy: undefined, claimToken: undefined, claimEpoch: task.claimEpoch - 1 };
  Object.assign(task, { status: 'pending', runAt: clock.now() + 60_000, ...free });
  loseRecords(tables, id);
  tables.timeline = '2';
  await clock.advance(3 * HEARTBEAT_MS);
  expect(rewound).toMatchObject([{ claimsRestored: 1, recordsWritten: 1 }]);
  held.open();
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  expect((await history(id))[0]).toBe('STARTED');
  expect(script.count('a.work')).toBe(1);
});

test('a pod whose row has gone back in time goes on as the same pod', async () => {
  const died = hear('pod.died');
  const { clock, tables, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machineOf(new Script())] });
  await clock.advance(3 * HEARTBEAT_MS);
  const row = tables.pods.get(pod.id)!;
  const { beatSeq, beatNonce } = row;
  await clock.advance(3 * HEARTBEAT_MS);
  Object.assign(row, { beatSeq, beatNonce });
  const id: PodId = pod.id;
  await clock.advance(5 * HEARTBEAT_MS);
  expect(died).toEqual([]);
  expect(pod.id).toBe(id);
  expect(row.beatSeq).toBeGreaterThan(beatSeq + 2);
});

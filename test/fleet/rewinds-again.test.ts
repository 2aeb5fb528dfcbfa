/** Servers of the store take over one after the other, before pods have looked up all that they were told. */
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { type MemoryTables, type PodId, TIMELINE_EPOCHS } from '../../src/store/index.ts';
import { gate } from '../support/fleets.ts';
import { loseSegments, untilAsked, useRewinds } from '../support/rewinds.ts';
import { HEARTBEAT_MS, Wire, whileAdvancing } from './support.ts';

const { play, hear } = useRewinds({ isEagerlyKept: true });

test('I37: a pod that is taken for dead on a new server adopts its runs there, and they go on', async () => {
  const { clock, store, tables, pod, script, enqueue, row } = await play();
  const held = gate();
  script.holds.set('b.work', held.opened);
  const id = await enqueue();
  await clock.advance(4_000);
  const first = pod.id as PodId;
  tables.timeline = '2';
  await store.fence(first, first, 'proved');
  await clock.advance(4 * HEARTBEAT_MS);
  held.open();
  script.holds.clear();
  await clock.advance(4 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(1);
});

test('I23: an outcome is written again behind whatever part of its records is there', async () => {
  const rewound = hear('store.rewound');
  const { clock, store, tables, pod, script, enqueue, row } = await play();
  const gates = ['a.check', 'b.check', 'b.work'].map((place) => {
    const held = gate();
    script.holds.set(place, held.opened);
    return held;
  });
  const id = await enqueue();
  // Each time what it has come to is archived, as a part of its own.
  for (const held of gates) {
    await clock.advance(4_000);
    held.open();
  }
  const before = { ...tables.tasks.get(id)! };
  await untilAsked(pod, 'settle', clock);
  await clock.advance(HEARTBEAT_MS / 10);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  const parts = [...tables.events.values()].filter(({ task }) => task === id);
  expect(parts.length).toBeGreaterThan(3);
  const hashes = async () =>
    rowsOf(id, await store.histories([{ task: id, generation: 1 }]), undefined).map(
      ({ hash }) => hash,
    );
  const all = await hashes();
  Object.assign(tables.tasks.get(id)!, before);
  loseSegments(tables, id, 2);
  tables.timeline = '2';
  await clock.advance(5 * HEARTBEAT_MS);
  expect(rewound).toMatchObject([{ outcomesWritten: 1, outcomesLost: 0 }]);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  expect(await hashes()).toEqual(all);
  expect(script.count('b.work')).toBe(1);
});

test('I23: what a dead life of a pod still hears of a server before the last counts for nothing', async () => {
  const { clock, store, tables, pod, enqueue, row } = await play();
  const told = await enqueue();
  await clock.advance(1_000);
  expect(await row(told)).toMatchObject({ status: 'completed' });
  const looked = gate();
  pod.wire.holdsAnswers.set('find', looked.opened);
  tables.timeline = '2';
  await untilAsked(pod, 'find', clock);
  pod.wire.holdsAnswers.clear();
  const first = pod.id as PodId;
  tables.timeline = '3';
  await store.fence(first, first, 'proved');
  await clock.advance(5 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  looked.open();
  await clock.advance(HEARTBEAT_MS);
  const next = await enqueue();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(next)).toMatchObject({ status: 'completed' });
});

test('I7: what a new server says to be held is not believed, before what was told is looked up there', async () => {
  const { clock, tables, pod, script, enqueue, row } = await play();
  const held = gate();
  script.holds.set('b.work', held.opened);
  const id = await enqueue();
  await clock.advance(4_000);
  const before = { ...tables.tasks.get(id)! };
  held.open();
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  // A claim that the pod does not know of, and one that is on its way: what is held is looked at after it.
  pod.wire.losesAnswers.set('claim', 1);
  script.holds.set('a.check', new Promise(() => undefined));
  await enqueue();
  await untilAsked(pod, 'claim', clock);
  const answered = gate();
  pod.wire.holdsAnswers.set('claim', answered.opened);
  await untilAsked(pod, 'claim', clock);
  await clock.advance(4 * HEARTBEAT_MS);
  await untilAsked(pod, 'beat', clock);
  Object.assign(tables.tasks.get(id)!, before);
  loseSegments(tables, id);
  tables.timeline = '2';
  pod.wire.holdsAnswers.clear();
  answered.open();
  await clock.advance(HEARTBEAT_MS / 10);
  expect(pod.wire.asked).toContain('held');
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  await clock.advance(8 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  // The other one is begun under an epoch of the new server.
  expect(script.calls.filter((call) => call === 'a.check@1')).toHaveLength(1);
  expect(script.count('b.work')).toBe(1);
});

test('I13: a run of the host is told anew where a server knows it under an epoch before its last', async () => {
  const { clock, store, tables, pod, script, machine, row } = await play();
  const held = gate();
  script.holds.set('b.work', held.opened);
  const { id } = await pod.fleet.startLocal(machine, {});
  await clock.advance(3_000);
  const first = { ...tables.tasks.get(id)! };
  expect(first).toMatchObject({ status: 'claimed', claimEpoch: 1 });
  tables.tasks.delete(id);
  loseSegments(tables, id);
  tables.timeline = '2';
  await clock.advance(10 * HEARTBEAT_MS);
  expect(tables.tasks.get(id)!.claimEpoch).toBeGreaterThan(TIMELINE_EPOCHS);
  tables.tasks.set(id, first);
  loseSegments(tables, id);
  tables.timeline = '3';
  await clock.advance(5 * HEARTBEAT_MS);
  held.open();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  const { lastHash } = tables.tasks.get(id)!;
  const rows = rowsOf(id, await store.histories([{ task: id, generation: 1 }]), lastHash);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index));
  expect(rows.at(-1)?.hash).toBe(lastHash);
});

/** A process that died inside a step comes back, and another server takes over when it has compared. */
async function playAdoption(beforeIt: (tables: MemoryTables, id: RunId) => void = () => undefined) {
  const played = await play();
  const { clock, store, tables, pod, script, machine, enqueue, startPod } = played;
  const held = gate();
  script.holds.set('b.work', held.opened);
  const id = await enqueue();
  await clock.advance(4_000);
  const [wire, answered, dataDir] = [new Wire(), gate(), pod.crash()];
  beforeIt(tables, id);
  wire.holdsAnswers.set('heads', answered.opened);
  const options = { machines: [machine], around: script.around, dataDir, wire };
  const starting = startPod('alder', options);
  const isComparing = async () => {
    while (!wire.asked.includes('heads')) await new Promise(setImmediate);
  };
  await whileAdvancing(clock, isComparing());
  expect(tables.events.of(id).length).toBeGreaterThan(0);
  loseSegments(tables, id);
  tables.timeline = '2';
  await clock.advance(5 * HEARTBEAT_MS);
  wire.holdsAnswers.clear();
  // What it takes may come to its end before it has taken all.
  const retired = gate();
  wire.holdsAnswers.set('retire', retired.opened);
  answered.open();
  held.open();
  await clock.advance(5 * HEARTBEAT_MS);
  retired.open();
  await starting;
  await clock.advance(10 * HEARTBEAT_MS);
  const { lastHash } = tables.tasks.get(id)!;
  const rows = rowsOf(id, await store.histories([{ task: id, generation: 1 }]), lastHash);
  return { ...played, id, rows };
}

test('I16: whoever adopts while another server takes over compares what its disk has with that one', async () => {
  const { id, row, rows, script } = await playAdoption();
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  expect(rows.at(-1)?.state).toBe('completed');
  expect(script.count('a.work')).toBe(1);
});

test('I23: what its disk has of runs that others are to get is not forgotten before that one has it', async () => {
  const { id, row, rows } = await playAdoption((tables, task) => {
    const free = { claimedBy: undefined, claimToken: undefined, claimedAt: undefined };
    const runAt = tables.now() + 3_600_000;
    const swept = { ...free, status: 'pending' as const, claimEpoch: 2, runAt };
    Object.assign(tables.tasks.get(task)!, swept);
  });
  expect(await row(id)).toMatchObject({ status: 'pending', epoch: 2 });
  expect(rows.at(-1)?.state).toBe('b.work');
});

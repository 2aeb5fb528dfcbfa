/**
 * A run whose records tell its end is settled as it is found: nothing of it is on the disk of whoever does.
 * Then a server of the store takes over that has nothing of it either.
 */
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { TIMELINE_EPOCHS } from '../../src/store/index.ts';
import { loseSegments, untilAsked, useRewinds } from '../support/rewinds.ts';
import { HEARTBEAT_MS } from './support.ts';

const { play, hear } = useRewinds();

const MANY = 1_000;

/** One pod has come to the end of a run, and died before it was settled: a sweep has given it away. */
async function playFound() {
  const played = await play();
  const { clock, tables, store, pod: alder, machine, script, enqueue, startPod } = played;
  const id = (await enqueue()) as RunId;
  await clock.advance(1_000);
  alder.crash();
  const row = tables.tasks.get(id)!;
  expect(row).toMatchObject({ status: 'completed', claimEpoch: 1 });
  const [end, segments] = [row.lastHash!, [...tables.events].filter(([, one]) => one.task === id)];
  const swept = { ...row, status: 'pending' as const, claimEpoch: 2, lastSeq: -1 };
  const unsettled = { lastHash: undefined, outcome: undefined, result: undefined };
  const pending = { ...swept, ...unsettled, finishedAt: undefined };
  tables.tasks.delete(id);
  const birch = await startPod('birch', { machines: [machine], around: script.around });
  /** The server that has it; none of its pods may settle anything for now. */
  const find = async () => {
    birch.wire.isBusyFor.set('settle', MANY);
    tables.tasks.set(id, { ...pending });
    await untilAsked(birch, 'settle', clock);
    await untilAsked(birch, 'beat', clock);
    expect(tables.tasks.get(id)).toMatchObject({ status: 'claimed', claimedBy: birch.id });
  };
  const hashes = async () =>
    rowsOf(id, await store.histories([{ task: id, generation: 1 }]), end).map(({ hash }) => hash);
  return { ...played, birch, id, segments, end, pending, find, hashes };
}

test('I16: what a pod settles as it found it has its history on a new server first', async () => {
  const { clock, tables, script, birch, id, end, pending, find, hashes } = await playFound();
  await find();
  const { claimEpoch } = tables.tasks.get(id)!;
  tables.tasks.set(id, { ...pending });
  loseSegments(tables, id);
  tables.timeline = '2';
  birch.wire.isBusyFor.clear();
  await clock.advance(10 * HEARTBEAT_MS);
  expect(tables.tasks.get(id)).toMatchObject({ status: 'completed', claimEpoch, lastHash: end });
  expect((await hashes()).at(-1)).toBe(end);
  // As it was: under the epoch of whoever wrote it, and nothing is done again.
  expect(tables.events.of(id).map(({ epoch }) => epoch)).toEqual([1]);
  expect(script.count('b.work')).toBe(1);
});

test('I16: so it is where its claim is there, and the late flush that it was found by is not', async () => {
  const { clock, tables, script, birch, id, end, find, hashes } = await playFound();
  await find();
  loseSegments(tables, id);
  tables.timeline = '2';
  birch.wire.isBusyFor.clear();
  await clock.advance(10 * HEARTBEAT_MS);
  expect(tables.tasks.get(id)).toMatchObject({ status: 'completed', lastHash: end });
  expect((await hashes()).at(-1)).toBe(end);
  expect(script.count('b.work')).toBe(1);
});

test('I23: an outcome that was settled as it was found is written again, with all that came before', async () => {
  const rewound = hear('store.rewound');
  const { clock, tables, script, birch, id, end, pending, find, hashes } = await playFound();
  await find();
  birch.wire.isBusyFor.clear();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(tables.tasks.get(id)).toMatchObject({ status: 'completed' });
  await untilAsked(birch, 'beat', clock);
  tables.tasks.set(id, { ...pending, runAt: clock.now() + 60_000 });
  loseSegments(tables, id);
  tables.timeline = '2';
  await clock.advance(5 * HEARTBEAT_MS);
  expect(rewound).toMatchObject([{ outcomesWritten: 1, outcomesLost: 0, recordsWritten: 1 }]);
  expect(tables.tasks.get(id)).toMatchObject({ status: 'completed', lastHash: end });
  expect((await hashes()).at(-1)).toBe(end);
  expect(script.count('b.work')).toBe(1);
});

test('I16: what a pod could not read is begun anew on a server that has nothing of it', async () => {
  const { clock, tables, script, birch, id, segments, end, pending, find } = await playFound();
  const [[key, segment]] = segments as [(typeof segments)[0]];
  tables.events.set(key, { ...segment, events: '[' });
  const row = { ...pending };
  Object.assign(pending, { lastSeq: segment.lastSeq, lastHash: end });
  await find();
  tables.tasks.set(id, row);
  loseSegments(tables, id);
  tables.timeline = '2';
  birch.wire.isBusyFor.clear();
  await clock.advance(10 * HEARTBEAT_MS);
  expect(tables.tasks.get(id)).toMatchObject({ status: 'completed' });
  expect(tables.tasks.get(id)!.claimEpoch).toBeGreaterThan(2 * TIMELINE_EPOCHS);
  expect(script.count('b.work')).toBe(2);
});

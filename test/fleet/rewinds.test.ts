/** A server of the store takes over that lacks what the one before had said, and pods do not know it yet. */
import { expect, test } from 'vitest';
import { type PodId, TIMELINE_EPOCHS } from '../../src/store/index.ts';
import { gate } from '../support/fleets.ts';
import { loseSegments, untilAsked, useRewinds } from '../support/rewinds.ts';
import { HEARTBEAT_MS } from './support.ts';

const { play, hear } = useRewinds();

/** More than what was told is kept for. */
const FORGOTTEN_MS = 70_000;

/** A pod that has archived the first step of a run, and is inside the second. */
async function playInside() {
  const played = await play();
  const held = gate();
  played.script.holds.set('b.work', held.opened);
  const id = await played.enqueue();
  await played.clock.advance(4_000);
  expect(await played.history(id)).toContain('STARTED');
  return { ...played, held, id };
}

/** Nobody has had it, and nobody else gets it before the pod that has it. */
function neverClaimed(claimEpoch: number, runAt: number) {
  const gone = { lastSeq: -1, lastHash: undefined, outcome: undefined, finishedAt: undefined };
  const free = { claimedBy: undefined, claimToken: undefined, claimedAt: undefined };
  return { ...gone, ...free, result: undefined, status: 'pending' as const, claimEpoch, runAt };
}

test('I23: nothing is written behind records that a new server lacks, before it is known that it does', async () => {
  const { clock, tables, pod, held, id, row, history } = await playInside();
  await untilAsked(pod, 'beat', clock);
  loseSegments(tables, id);
  tables.timeline = '2';
  held.open();
  await clock.advance(HEARTBEAT_MS / 10);
  expect(pod.wire.asked).toContain('settle');
  // Neither its end nor its last records: without the first ones nobody could read them.
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  expect(await history(id)).toEqual([]);
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  const kinds = await history(id);
  expect([kinds[0], kinds.filter((kind) => kind === 'STARTED').length]).toEqual(['STARTED', 1]);
});

test('I23: a pod does not claim, from a new server, what it has in hand from the one before', async () => {
  const { clock, tables, pod, machine, held, id, row, script } = await playInside();
  await untilAsked(pod, 'beat', clock);
  const { claimEpoch } = tables.tasks.get(id)!;
  loseSegments(tables, id);
  Object.assign(tables.tasks.get(id)!, neverClaimed(claimEpoch - 1, clock.now()));
  tables.timeline = '2';
  // Whatever is enqueued makes it look for work at once.
  await pod.fleet.enqueue(machine, {});
  await clock.advance(HEARTBEAT_MS / 10);
  expect(await row(id)).toMatchObject({ status: 'pending' });
  held.open();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: claimEpoch });
  expect(script.calls.filter((call) => call === `a.work@${claimEpoch}`)).toHaveLength(1);
});

test('I23: an answer of the lost server that comes late is not believed', async () => {
  const { clock, tables, pod, held, id, row, history } = await playInside();
  const before = { ...tables.tasks.get(id)! };
  const answered = gate();
  pod.wire.holdsAnswers.set('settle', answered.opened);
  held.open();
  await clock.advance(100);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  Object.assign(tables.tasks.get(id)!, before);
  loseSegments(tables, id);
  tables.timeline = '2';
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  pod.wire.holdsAnswers.clear();
  answered.open();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
  expect((await history(id))[0]).toBe('STARTED');
});

test('I7: a claim of the lost server, of which its pod knows nothing any more, is begun under another epoch', async () => {
  const alarms = hear('journal.alarm');
  const { clock, tables, held, id, row, script } = await playInside();
  const before = { ...tables.tasks.get(id)! };
  held.open();
  await clock.advance(FORGOTTEN_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  for (const [key, part] of [...tables.events]) if (part.firstSeq > 0) tables.events.delete(key);
  Object.assign(tables.tasks.get(id)!, before);
  tables.timeline = '2';
  await clock.advance(10 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect((await row(id)).epoch).toBeGreaterThan(2 * TIMELINE_EPOCHS);
  expect(script.count('a.work')).toBe(1);
  // It may have been inside when it was lost, and whoever goes on asks first.
  expect(script.calls.slice(-2)).toEqual([
    expect.stringMatching(/^b\.probe@8/),
    expect.stringMatching(/^b\.work@8/),
  ]);
  expect(alarms).toEqual([]);
});

test('I23: a pod whose own row was lost writes again what it was told before, as another pod', async () => {
  const rewound = hear('store.rewound');
  const { clock, tables, pod, held, id, row, script, history } = await playInside();
  const [{ claimEpoch }, first] = [tables.tasks.get(id)!, pod.id as PodId];
  held.open();
  await clock.advance(500);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  loseSegments(tables, id);
  Object.assign(tables.tasks.get(id)!, neverClaimed(claimEpoch - 1, clock.now() + 60_000));
  tables.pods.delete(first);
  tables.timeline = '2';
  await clock.advance(8 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  expect(rewound).toMatchObject([{ pod: pod.id, outcomesWritten: 1, outcomesLost: 0 }]);
  // Of a number that nobody was ever given.
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: claimEpoch + 1 });
  expect((await history(id))[0]).toBe('STARTED');
  expect(script.count('b.work')).toBe(1);
});

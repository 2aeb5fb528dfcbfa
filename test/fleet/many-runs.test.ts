/** What is asked for page by page: a pod with more runs in hand than one page holds. */
import { expect, test } from 'vitest';
import type { Duration } from '../../src/ground/index.ts';
import { never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

/** More than the 500 of a page, and fewer than the share of the slots that a pod fills. */
const COUNT = 600;
const SLOTS = 1_000;

/** A pod inside the first work of each of them. */
async function newScene(archive: Duration) {
  const script = new Script();
  script.holds.set('a.work', never());
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around, archive, slots: SLOTS };
  const pod = await fleet.startPod('alder', options);
  const enqueue = () => pod.fleet.enqueue(machine, {});
  const ids = (await Promise.all(Array.from({ length: COUNT }, enqueue))).map(({ id }) => id);
  await fleet.clock.advance(1_000);
  expect(script.count('a.work')).toBe(COUNT);
  const rows = () => Promise.all(ids.map((id) => fleet.row(id)));
  return { ...fleet, script, options, pod, ids, enqueue, rows };
}

test('H4: what is on the second page is found too, and no run on it is taken for lost', async () => {
  const { clock, script, pod, enqueue, row, rows } = await newScene('1h');
  const lost = hear('claim.lost');
  pod.wire.losesAnswers.set('claim', 1);
  const { id } = await enqueue();
  await clock.advance(6 * HEARTBEAT_MS);
  expect(pod.wire.asked).toContain('held');
  expect(lost).toEqual([]);
  expect(script.count('a.work')).toBe(COUNT + 1);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  for (const { status, epoch } of await rows()) expect([status, epoch]).toEqual(['claimed', 1]);
});

test('a process that comes back with its disk adopts all pages of its runs alike', async () => {
  const { clock, script, pod, options, startPod, rows } = await newScene('1h');
  await startPod('alder', { ...options, dataDir: pod.crash() });
  await clock.advance(2_000);
  // What the disk has is not done again, and each was cut off inside its work.
  const again = ['a.check', 'a.probe', 'a.work'].map((place) => script.count(place));
  expect(again).toEqual([COUNT, COUNT, 2 * COUNT]);
  for (const { epoch, crashes } of await rows()) expect([epoch, crashes]).toEqual([2, 1]);
});

test('all pages of records reach the store, for whoever takes over without the disk', async () => {
  const { clock, store, ids } = await newScene('4s');
  // Once, and not page by page with every interval.
  await clock.advance(4_000);
  const heads = await store.heads(ids.map((task) => ({ task, generation: 1 })));
  expect(heads.map(({ task }) => task).sort()).toEqual(ids.sort());
});

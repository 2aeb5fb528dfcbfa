/** Runs that wait for the store: the heartbeat wakes them, and no timer of their own. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { gate } from '../support/fleets.ts';
import { Script } from './script.ts';
import { anyInput, HEARTBEAT_MS, SILENT_MS, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();
const COUNT = 30;

async function newScene() {
  const script = new Script();
  const { check, work } = script.phases;
  const machine = defineMachine({
    name: 'rover',
    version: 1,
    input: anyInput,
    steps: (line) => line.step('a', { check, work }).step('b', { check, work }),
  });
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
  const held = gate();
  script.holds.set('a.work', held.opened);
  const enqueue = () => pod.fleet.enqueue(machine, {});
  const ids = (await Promise.all(Array.from({ length: COUNT }, enqueue))).map(({ id }) => id);
  await fleet.clock.advance(1_000);
  expect(script.count('a.work')).toBe(COUNT);
  pod.wire.isCut = true;
  await fleet.clock.advance(2 * SILENT_MS);
  held.open();
  await fleet.clock.advance(1_000);
  return { ...fleet, script, pod, ids };
}

/** How many timers are set while this much time passes. */
async function timersIn(clock: Awaited<ReturnType<typeof newScene>>['clock'], ms: number) {
  const { after } = clock;
  let count = 0;
  clock.after = (...given) => {
    count += 1;
    return after.apply(clock, given);
  };
  await clock.advance(ms);
  clock.after = after;
  return count;
}

test('runs that wait for the store set no timers, and each is reported once', async () => {
  const alone = hear('pod.alone');
  const { clock, script, pod, ids, row } = await newScene();
  expect(alone).toHaveLength(COUNT);
  const timers = await timersIn(clock, 10 * HEARTBEAT_MS);
  // One run alone would set 200 of them in that time.
  expect(timers).toBeLessThan(200);
  expect(alone).toHaveLength(COUNT);
  expect(script.count('b.check')).toBe(0);
  pod.wire.isCut = false;
  await clock.advance(3 * HEARTBEAT_MS);
  for (const id of ids) expect(await row(id)).toMatchObject({ status: 'completed', claims: 1 });
});

test('I39: a pod that drains while its runs wait for the store gives them up at once', async () => {
  const { clock, pod } = await newScene();
  const begunMs = clock.monotonicMs();
  let elapsedMs = Number.POSITIVE_INFINITY;
  const drained = pod.fleet.drain({ budget: '60s' }).then((report) => {
    elapsedMs = clock.monotonicMs() - begunMs;
    return report;
  });
  await clock.advance(61_000);
  expect(await drained).toMatchObject({ interrupted: 0 });
  expect(elapsedMs).toBeLessThan(60_000);
});

test('runs that wait go on when another server has been looked through', async () => {
  const { clock, pod, ids, row, tables } = await newScene();
  tables.timeline = '2';
  pod.wire.isCut = false;
  await clock.advance(4 * HEARTBEAT_MS);
  for (const id of ids) expect(await row(id)).toMatchObject({ status: 'completed' });
});

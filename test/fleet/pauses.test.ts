/** A task that is paused stops before its next phase, wherever it is, and goes on when it is resumed. */
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/fleet/history.ts';
import { forkOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import type { Store } from '../../src/store/store.ts';
import { actOf, doTo } from '../store/acts.ts';
import { gate } from '../support/fleets.ts';
import { Script, sleeper, twoSteps } from './script.ts';
import {
  HEARTBEAT_MS,
  type PodOptions,
  STEADY_MS,
  useTestFleets,
  whileAdvancing,
} from './support.ts';

const { startFleet, hear } = useTestFleets();

async function started(place: string, more: Partial<PodOptions> = {}) {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around, ...more };
  const pod = await fleet.startPod('alder', options);
  const opened = gate();
  script.holds.set(place, opened.opened);
  const task = await pod.fleet.enqueue(machine, {});
  await fleet.clock.advance(100);
  return { ...fleet, script, machine, pod, task, open: opened.open };
}

test('a run that is paused finishes the phase in hand, and is nobody’s until it is resumed', async () => {
  const { clock, row, script, pod, task, open, history } = await started('a.work');
  const paused = hear('task.paused');
  expect(await task.pause()).toBe('requested');
  expect(await task.pause()).toBe('requested');
  await clock.advance(2 * HEARTBEAT_MS);
  // Its handler is left alone: it is between phases that it stops.
  expect(script.signals.some(({ aborted }) => aborted)).toBe(false);
  expect(await row(task.id)).toMatchObject({ status: 'claimed', control: 'pause' });
  open();
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true });
  expect([script.count('a.work'), script.count('a.validate')]).toEqual([1, 0]);
  expect(pod.fleet.status.pod?.held).toBe(0);
  expect(paused).toHaveLength(1);
  await clock.advance(60_000);
  expect(script.count('a.validate')).toBe(0);

  expect(await task.resume()).toBe('done');
  await whileAdvancing(clock, task.result());
  expect(await row(task.id)).toMatchObject({ status: 'completed', isPaused: false });
  expect([script.count('a.work'), script.count('b.work')]).toEqual([1, 1]);
  expect((await history(task.id)).filter((event) => event === 'INTERRUPTED')).toEqual([]);
});

test('a run that waits for its turn, or for a short while, is given back at once', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, row, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.throws.set('a.work', () => new Error('not yet'));
  const task = await pod.fleet.enqueue(machine, {});
  await clock.advance(50);
  await task.pause();
  await clock.advance(2 * HEARTBEAT_MS);
  const { status, isPaused } = await row(task.id);
  // It may have failed for good before its owner heard of it.
  expect(status === 'failed' || isPaused).toBe(true);
  const calls = script.calls.length;
  await clock.advance(60_000);
  expect(script.calls).toHaveLength(calls);
});

test('a pause that is taken back before its owner heard of it changes nothing', async () => {
  const { clock, row, script, task, open } = await started('a.work');
  expect(await task.pause()).toBe('requested');
  expect(await task.resume()).toBe('done');
  open();
  await whileAdvancing(clock, task.result());
  expect(await row(task.id)).toMatchObject({ status: 'completed', isPaused: false });
  expect(script.count('a.work')).toBe(1);
});

test('a pause that meets the end of the run is void', async () => {
  const { clock, row, task, open } = await started('b.persist');
  expect(await task.pause()).toBe('requested');
  await clock.advance(2 * HEARTBEAT_MS);
  open();
  await whileAdvancing(clock, task.result());
  expect(await row(task.id)).toMatchObject({ status: 'completed', isPaused: false });
  expect(await task.pause()).toBe('tooLate');
});

test('a pause is kept when its owner dies before it could give the run back', async () => {
  const { clock, row, script, machine, pod, task, startPod } = await started('a.work');
  await task.pause();
  await clock.advance(HEARTBEAT_MS);
  pod.crash();
  script.holds.clear();
  const birch = await startPod('birch', { machines: [machine], around: script.around });
  await clock.advance(4 * STEADY_MS);
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true });
  expect(script.count('a.validate')).toBe(0);
  expect(await birch.fleet.taskById(task.id).resume()).toBe('done');
  await clock.advance(10_000);
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
});

test('whoever adopts a run that was asked to pause begins no phase of it, and loses no record', async () => {
  const scene = await started('b.work', { archive: '1h' });
  const { clock, row, script, machine, pod, task, startPod, history } = scene;
  expect(await history(task.id)).toEqual([]);
  const paused = hear('task.paused');
  expect(await task.pause()).toBe('requested');
  const image = pod.crash();
  const calls = script.calls.length;
  script.holds.clear();
  const next = { machines: [machine], around: script.around, dataDir: image };
  const { fleet } = await startPod('alder', next);
  await clock.advance(4 * STEADY_MS);
  expect(script.calls).toHaveLength(calls);
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true });
  expect(paused).toEqual([]);
  expect((await history(task.id)).length).toBeGreaterThan(4);

  expect(await fleet.taskById(task.id).resume()).toBe('done');
  await clock.advance(10_000);
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
  expect([script.count('a.work'), script.count('a.persist')]).toEqual([1, 1]);
  // It was inside when its process died: that is counted once, and looked at before it acts.
  expect([script.count('b.probe'), script.count('b.work')]).toEqual([1, 2]);
  expect((await history(task.id)).filter((event) => event === 'INTERRUPTED')).toHaveLength(1);
});

test('a drain gives back as paused what was asked to pause, though its handler does not listen', async () => {
  const { clock, row, script, machine, pod, task, startPod } = await started('a.work');
  const other = await pod.fleet.enqueue(machine, {});
  await clock.advance(100);
  const paused = hear('task.paused');
  expect(await task.pause()).toBe('requested');
  await whileAdvancing(clock, pod.fleet.drain({ budget: '10s' }));
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true, crashes: 0 });
  expect(await row(other.id)).toMatchObject({ status: 'claimed' });
  expect(paused).toMatchObject([{ run: task.id, isAsked: true }]);
  const calls = script.calls.length;
  script.holds.clear();
  const { dataDir } = pod;
  await startPod('alder', { machines: [machine], around: script.around, dataDir });
  await clock.advance(10_000);
  expect(await row(other.id)).toMatchObject({ status: 'completed' });
  const since = script.calls.slice(calls).filter((call) => call.startsWith('a.work'));
  expect(since).toHaveLength(1);
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true });
});

test('a claim whose answer was lost, paused meanwhile, is given back before anything of it begins', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, row, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  pod.wire.losesAnswers.set('claim', 1);
  const task = await pod.fleet.enqueue(machine, {});
  while ((await row(task.id)).status !== 'claimed') await clock.advance(10);
  expect(await task.pause()).toBe('requested');
  await clock.advance(4 * STEADY_MS);
  expect(script.calls).toEqual([]);
  expect(await row(task.id)).toMatchObject({ status: 'pending', isPaused: true });
  expect(await task.resume()).toBe('done');
  await clock.advance(10_000);
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
});

test('a sleep is paused where it lies, and cancelled there', async () => {
  const script = new Script();
  const machine = sleeper(script, '1h');
  const { clock, row, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const [one, other] = [await pod.fleet.enqueue(machine, {}), await pod.fleet.enqueue(machine, {})];
  await clock.advance(1_000);
  for (const task of [one, other]) expect(await task.pause()).toBe('done');
  await clock.advance(3 * 3_600_000);
  expect(script.count('b.work')).toBe(0);
  expect(await one.cancel()).toBe('done');
  expect(await other.resume()).toBe('done');
  await clock.advance(10_000);
  expect([await row(one.id), await row(other.id)]).toMatchObject([
    { status: 'cancelled', isPaused: false },
    { status: 'completed' },
  ]);
});

test('a local run is not paused: it is in its host’s journal', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.holds.set('a.work', new Promise(() => undefined));
  const run = await pod.fleet.startLocal(machine, {});
  await clock.advance(10_000);
  expect(await pod.fleet.taskById(run.id).pause()).toBe('tooLate');
});

async function recordsOf(store: Store, task: RunId, generation = 1) {
  const [row] = await store.find([task]);
  const segments = await store.histories([{ task, generation }]);
  return decodeRows(task, rowsOf(task, segments, row!.lastHash), identityCodec);
}

test('a fork goes on from the phase it was made at, with its own input and its own keys', async () => {
  const { clock, row, script, task, pod, open, store } = await started('b.persist');
  await clock.advance(10_000);
  open();
  await whileAdvancing(clock, task.result());
  const records = await recordsOf(store, task.id);
  const source = { task: task.id, generation: 1, records };
  const as = (await pod.fleet.enqueue(twoSteps(script), {}, { runAt: '9h' }).catch(() => task)).id;
  const fresh = `${as.slice(0, -1)}${as.endsWith('0') ? '1' : '0'}` as RunId;
  const options = { as: fresh, from: 'b.work', input: { other: true }, codec: identityCodec };
  expect(await doTo(store, task.id, forkOf(source, options))).toBe('done');
  const before = { ...Object.fromEntries(script.keys) };
  const calls = script.calls.length;
  script.keys.clear();
  await clock.advance(10_000);
  expect(await row(fresh)).toMatchObject({ status: 'completed', payload: '{"other":true}' });
  const since = script.calls.slice(calls).map((call) => call.split('@')[0]);
  expect(since).toEqual(['b.work', 'b.validate', 'b.persist']);
  for (const [place, keys] of script.keys) {
    for (const key of keys) expect(before[place]!.has(key), place).toBe(false);
  }
  // Its history is whole, and says where it comes from.
  const [first, ...rest] = await recordsOf(store, fresh);
  expect(first!.event).toMatchObject({
    type: 'STARTED',
    input: { other: true },
    forkedFrom: { task: task.id, generation: 1 },
  });
  expect(rest.filter(({ event }) => event.type === 'STARTED')).toEqual([]);
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
});

test('a run cannot be forked where it has never been', async () => {
  const { clock, task, store } = await started('b.work');
  await clock.advance(10_000);
  const records = await recordsOf(store, task.id);
  const source = { task: task.id, generation: 1, records };
  for (const from of ['b.persist', 'c.work', 'completed', '']) {
    const options = { as: task.id, from, codec: identityCodec };
    expect(() => forkOf(source, options)).toThrow(/has never been at/);
  }
  expect(
    actOf(task.id, forkOf(source, { as: task.id, from: 'a.check', codec: identityCodec })).deed,
  ).toMatchObject({ what: 'fork', lastSeq: 0, state: 'a.check' });
});

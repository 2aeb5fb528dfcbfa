/** What is foretold of a task, and what a pod then makes of it. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { recordsOf } from '../../src/cli/fleet/history.ts';
import { type Forecast, forecastTask } from '../../src/fleet/index.ts';
import { type RunId, systemClock } from '../../src/ground/index.ts';
import type { Machine } from '../../src/index.ts';
import { Registry } from '../../src/machine/index.ts';
import { redriveTask } from '../store/acts.ts';
import { never } from '../support/fleets.ts';
import { newer, Script, twoSteps } from './script.ts';
import { STEADY_MS, type TestFleet, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();

function newScene() {
  const script = new Script();
  const old = twoSteps(script);
  const options = { machines: [old], around: script.around } as const;
  return { script, old, ...startFleet(), options };
}

async function foretell(
  { store, row }: TestFleet,
  id: string,
  machines: readonly Machine[],
  asks = true,
): Promise<Forecast> {
  const task = await row(id);
  const known = await store.known();
  const carried =
    task.carriesFrom === undefined
      ? undefined
      : await recordsOf(store, { id: task.id, generation: task.carriesFrom, lastHash: undefined });
  const ports = {
    registry: new Registry([...machines]),
    clock: systemClock,
    resultBytesMax: 10_000,
    payloadBytesMax: 10_000,
    tries: () => asks,
    shapes: new Map(known.map(({ route, shape }) => [route, shape])),
    stays: () => false,
  };
  return forecastTask(ports, task, await recordsOf(store, task), carried);
}

test('one that a pod is inside of repeats that phase; if it is done first it may come to something else', async () => {
  const scene = newScene();
  const { script, old, clock, startPod, options } = scene;
  const first = await startPod('alder', options);
  script.holds.set('a.persist', never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(3_000);
  const grown = [newer(script)];
  expect(await foretell(scene, id, grown)).toMatchObject({
    fate: 'advances',
    to: 2,
    at: 'a.persist',
    repeats: 'a.persist',
    ifDone: undefined,
  });
  const reason = expect.stringContaining('leads to b.check');
  expect(await foretell(scene, id, [newer(script, { steps: ['a', 'x'] })])).toMatchObject({
    fate: 'advances',
    ifDone: { fate: 'blocked', reason },
  });
  first.crash();
  await startPod('birch', { ...options, machines: grown });
  script.holds.clear();
  script.calls.length = 0;
  await clock.advance(STEADY_MS + 5_000);
  expect(script.calls.map((call) => call.split('@')[0]).slice(0, 2)).toEqual([
    'a.probe',
    'a.persist',
  ]);
  expect((await scene.row(id)).version).toBe(2);
});

test('one that is in hand has begun, though nothing of that is archived yet', async () => {
  const scene = newScene();
  const { script, old, clock, startPod, options, row } = scene;
  const first = await startPod('alder', { ...options, archive: '1h' });
  script.holds.set('a.work', never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(3_000);
  const begins = [newer(script, { steps: ['x', 'b'] })];
  const reason = expect.stringMatching(/starts at a.check, and two@2 starts at x.check/);
  expect(await foretell(scene, id, begins)).toMatchObject({
    fate: 'advances',
    at: '',
    ifDone: { fate: 'blocked', reason },
  });
  expect((await foretell(scene, id, [newer(script)])).ifDone).toBeUndefined();
  expect((await foretell(scene, id, [old])).ifDone).toBeUndefined();
  script.holds.clear();
  await whileAdvancing(clock, first.fleet.drain({ budget: '1s' }));
  await startPod('birch', { ...options, machines: begins });
  await clock.advance(STEADY_MS);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version' });
});

test('an upgrade is asked only where that is wanted, and what it refuses is blocked', async () => {
  const scene = newScene();
  const { script, old, clock, startPod, options } = scene;
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(3_000);
  let asked = 0;
  const upgrade = (answer: (run: { resumeAt: Function; input: unknown }) => unknown) => ({
    1: (run: never) => {
      asked += 1;
      return answer(run);
    },
  });
  const kind = newer(script, {
    steps: ['x', 'z'],
    upgrade: upgrade(({ resumeAt, input }) => resumeAt('z', { input, state: { x: 1 } })),
  });
  expect(await foretell(scene, id, [kind], false)).toMatchObject({
    fate: 'upgrades',
    isTried: false,
  });
  expect(asked).toBe(0);
  expect(await foretell(scene, id, [kind])).toMatchObject({
    fate: 'upgrades',
    isTried: true,
    resumesAt: 'z',
    ifDone: { fate: 'upgrades', isTried: false },
  });
  expect(asked).toBe(1);
  const odd = newer(script, { steps: ['x'], upgrade: upgrade(() => 'whatever') });
  const reason = expect.stringContaining('it must return what old.resumeAt');
  expect(await foretell(scene, id, [odd])).toMatchObject({ fate: 'blocked', reason });
});

test('a suspect, and one that goes on from an earlier generation, are foretold as pods treat them', async () => {
  const scene = newScene();
  const { script, old, clock, tables, startPod, row, options } = scene;
  const first = await startPod('alder', options);
  script.throws.set('b.work', () => Object.assign(new Error('no'), {}));
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'failed' });
  first.wire.isBusyFor.set('claim', 1_000);
  await redriveTask(scene.store, id as RunId, { generation: 1 }, { isFresh: false });
  const { id: suspect } = await first.fleet.enqueue(old, {});
  await whileAdvancing(clock, first.fleet.drain());
  tables.tasks.get(suspect as RunId)!.crashes = 2;
  const upgrade = { 1: (run: { restart: Function }) => run.restart({}) };
  const carrying = newer(script, { upgrade });
  const cannot = expect.stringContaining('it goes on from what version 1 had finished');
  for (const asks of [true, false]) {
    expect(await foretell(scene, id, [carrying], asks)).toMatchObject({
      fate: 'blocked',
      reason: cannot,
    });
  }
  expect(await foretell(scene, id, [newer(script)])).toMatchObject({ fate: 'advances', to: 2 });
  const outlived = expect.stringContaining('it has outlived 2 owners');
  expect(await foretell(scene, suspect, [newer(script)])).toMatchObject({
    fate: 'blocked',
    reason: outlived,
  });
  script.throws.clear();
  await startPod('birch', { ...options, machines: [newer(script)] });
  await clock.advance(20_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
  expect(await row(suspect)).toMatchObject({ status: 'pending', version: 1, claims: 0 });
});

test('rows that make no sense fail, and those of machines that nobody has, or never had, are blocked', async () => {
  const scene = newScene();
  const { script, clock, tables, startPod, row, options } = scene;
  await whileAdvancing(clock, (await startPod('alder', options)).fleet.drain());
  const insert = (machine: string, payload: string, version = 1) => {
    const task = tables.insert({ machine, payload });
    task.version = version;
    return task.taskId;
  };
  const [bad, gone, never2] = [insert('two', '{'), insert('none', '{}'), insert('two', '{}', 2)];
  const later = [newer(script, { version: 3 })];
  const notJson = expect.stringContaining('not JSON');
  expect(await foretell(scene, bad, later)).toMatchObject({ fate: 'fails', reason: notJson });
  const nobody = expect.stringContaining('no machine none@1');
  expect(await foretell(scene, gone, later)).toMatchObject({ fate: 'blocked', reason: nobody });
  const unheard = expect.stringContaining('no pod has ever had two@2');
  expect(await foretell(scene, never2, later)).toMatchObject({ fate: 'blocked', reason: unheard });
  const older = expect.stringContaining('two@1 is older');
  expect(await foretell(scene, never2, options.machines)).toMatchObject({ reason: older });
  const strict = [newer(script, { input: z.object({ name: z.string() }) })];
  const misfit = expect.stringContaining('does not fit its schema');
  expect(await foretell(scene, insert('two', '{}'), strict)).toMatchObject({
    fate: 'blocked',
    reason: misfit,
  });
  await startPod('birch', { ...options, machines: later });
  await clock.advance(10_000);
  expect((await row(bad)).status).toBe('failed');
  expect(await row(never2)).toMatchObject({ status: 'pending', claims: 0 });
});

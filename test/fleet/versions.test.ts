/** Tasks whose version a pod does not have: a newer one goes on with them, or they are left to others. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { RunId } from '../../src/ground/index.ts';
import { never } from '../support/fleets.ts';
import { newer, placesOf, Script, sleeper, twoSteps } from './script.ts';
import { useTestFleets, Wire } from './support.ts';

const { startFleet, hear } = useTestFleets();

function newScene() {
  const script = new Script();
  const old = twoSteps(script);
  const options = { machines: [old], around: script.around, archive: '1h' } as const;
  return { script, old, ...startFleet(), options };
}

/** A run of version 1 that was inside the work of its second step when its process was killed. */
async function killedIn(place: string, scene = newScene()) {
  const { script, old, clock, startPod, options } = scene;
  const first = await startPod('alder', options);
  script.holds.set(place, never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(1_000);
  expect(script.calls.at(-1)?.split('@')[0]).toBe(place);
  const dataDir = first.crash();
  script.holds.clear();
  script.calls.length = 0;
  return { ...scene, id, dataDir };
}

test('newer code on the same disk goes on with the phases on record, and counts the interruption', async () => {
  const { script, clock, startPod, row, history, options, id, dataDir } = await killedIn('b.work');
  const advanced = hear('run.advanced');
  await startPod('alder', { ...options, machines: [newer(script)], dataDir });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
  const [first, second, ...rest] = placesOf(script);
  expect([first, second]).toEqual(['b.probe', 'b.work']);
  expect(rest).toEqual(['b.validate', 'b.persist', 'c.check', 'c.work', 'c.validate', 'c.persist']);
  expect(advanced).toMatchObject([{ run: id, version: 2, from: 1, state: 'b.work' }]);
  const kinds = await history(id);
  expect(kinds.slice(6, 9)).toEqual(['TAKEN', 'ADVANCED', 'INTERRUPTED']);
});

test('an upgrade carries a task over, and its row says so', async () => {
  const { script, clock, startPod, row, history, options, id, dataDir } = await killedIn('b.work');
  const upgrade = {
    1: (old: { state: { a: unknown }; input: unknown; resumeAt: Function }) =>
      old.resumeAt('z', { input: old.input, state: { x: old.state.a } }),
  };
  const machine = newer(script, { steps: ['x', 'z'], upgrade });
  await startPod('alder', { ...options, machines: [machine], dataDir });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({
    status: 'completed',
    version: 2,
    result: '{"by":"z.persist"}',
  });
  expect(placesOf(script)).toEqual(['z.check', 'z.work', 'z.validate', 'z.persist']);
  expect(await history(id)).toContain('UPGRADED');
});

test('a task whose records no newer line begins with is given back as it was', async () => {
  const { script, clock, startPod, row, options, id, dataDir } = await killedIn('b.work');
  const blocked = hear('task.blocked');
  const machine = newer(script, { steps: ['b', 'a'] });
  await startPod('alder', { ...options, machines: [machine], dataDir });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 1 });
  const reason = expect.stringContaining('two@2 cannot go on');
  expect(blocked[0]).toMatchObject({ run: id, reason });
  expect(script.calls).toEqual([]);
  await startPod('birch', options);
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 1 });
  expect(placesOf(script).slice(0, 2)).toEqual(['b.probe', 'b.work']);
});

test('what has advanced never goes back to a pod of the older version', async () => {
  const { script, clock, tables, startPod, row, options, id, dataDir } = await killedIn('b.work');
  script.holds.set('c.work', never());
  const machines = [newer(script)];
  const second = await startPod('alder', { ...options, machines, dataDir, archive: '100ms' });
  tables.tasks.get(id as RunId)!.crashes = 0;
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', version: 2 });
  second.crash();
  script.holds.clear();
  script.calls.length = 0;
  await startPod('birch', options);
  await clock.advance(60_000);
  expect(await row(id)).toMatchObject({ status: 'pending', version: 2 });
  expect(script.calls).toEqual([]);
  await startPod('cedar', { ...options, machines });
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
  expect(placesOf(script).slice(0, 2)).toEqual(['c.probe', 'c.work']);
});

test('a pod of the older version that is given it nevertheless says whose it is', async () => {
  const { script, clock, tables, startPod, row, options, id, dataDir } = await killedIn('b.work');
  script.holds.set('c.work', never());
  const machines = [newer(script)];
  const second = await startPod('alder', { ...options, machines, dataDir, archive: '100ms' });
  await clock.advance(2_000);
  second.crash();
  script.calls.length = 0;
  // As after a flush that came when the claim was lost: the row does not know.
  Object.assign(tables.tasks.get(id as RunId)!, { version: 1, crashes: 0 });
  await startPod('birch', options);
  await clock.advance(60_000);
  expect(await row(id)).toMatchObject({ status: 'pending', version: 2 });
  expect(script.calls).toEqual([]);
});

test('what was advanced and not flushed when its pod died has its version when others get it', async () => {
  const { script, clock, startPod, row, options, id, dataDir } = await killedIn('b.work');
  script.holds.set('c.work', never());
  const machines = [newer(script)];
  const second = await startPod('alder', { ...options, machines, dataDir });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', version: 1 });
  // Code that has neither version: it can only send what the disk has.
  await startPod('alder', { ...options, machines: [], dataDir: second.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'pending', version: 2 });
});

test('a task that has ended by its records needs nobody who has its version', async () => {
  const scene = newScene();
  const { script, old, clock, startPod, row, options } = scene;
  const first = await startPod('alder', options);
  first.wire.isBusyFor.set('settle', 1_000);
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(1_000);
  expect(script.count('b.persist')).toBe(1);
  const machine = newer(script, { steps: ['b', 'a'] });
  await startPod('alder', { ...options, machines: [machine], dataDir: first.crash() });
  await clock.advance(2_000);
  const result = '{"by":"b.persist"}';
  expect(await row(id)).toMatchObject({ status: 'completed', version: 1, result });
});

test('a task that nobody has begun is begun by the newer version, where its schema takes the input', async () => {
  const { script, old, clock, startPod, row, options, history } = newScene();
  const first = await startPod('alder', options);
  first.wire.holdsAnswers.set('claim', never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(100);
  await startPod('alder', { ...options, machines: [newer(script)], dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
  expect(script.count('c.persist')).toBe(1);
  expect((await history(id))[0]).toBe('STARTED');
});

test('one whose input the newer schema refuses is given back; its upgrade may say what it is', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.holdsAnswers.set('claim', never());
  const { id } = await first.fleet.enqueue(old, { id: 'x' });
  await clock.advance(100);
  const input = z.object({ name: z.string() });
  const strict = newer(script, { input });
  const second = await startPod('alder', {
    ...options,
    machines: [strict],
    dataDir: first.crash(),
  });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 1 });
  second.wire.isCut = true;
  const wire = new Wire();
  wire.holdsAnswers.set('claim', never());
  const third = await startPod('birch', { ...options, wire });
  await clock.advance(1_000);
  const upgrade = {
    1: (run: { input: { id: string }; restart: Function }) => run.restart({ name: run.input.id }),
  };
  const kind = newer(script, { version: 3, input, upgrade });
  await startPod('birch', { ...options, machines: [kind], dataDir: third.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 3 });
});

test('a run of a host that has advanced is shown under its new version', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.startLocal(old, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', version: 1 });
  const dataDir = first.crash();
  script.holds.clear();
  await startPod('alder', { ...options, machines: [newer(script)], dataDir });
  await clock.advance(10_000);
  expect(script.count('c.persist')).toBe(1);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
});

test('so is one that slept when it was adopted, and has come under it since', async () => {
  const { script, clock, startPod, row, options } = newScene();
  const old = sleeper(script, '6s', 'two');
  const first = await startPod('alder', { ...options, machines: [old] });
  const { id } = await first.fleet.startLocal(old, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', version: 1 });
  const upgrade = { 1: (run: { restart: Function; input: unknown }) => run.restart(run.input) };
  const machines = [newer(script, { upgrade })];
  await startPod('alder', { ...options, machines, dataDir: first.crash() });
  await clock.advance(20_000);
  expect(script.count('c.persist')).toBe(1);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
});

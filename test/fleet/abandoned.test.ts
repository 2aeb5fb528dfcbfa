/** Versions that no pod has any more: newer ones take their tasks over, and those alone. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { RunId } from '../../src/ground/index.ts';
import { never } from '../support/fleets.ts';
import { newer, placesOf, Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, STEADY_MS, useTestFleets, Wire, whileAdvancing } from './support.ts';

const { startFleet, hear } = useTestFleets();

function newScene() {
  const script = new Script();
  const old = twoSteps(script);
  const options = { machines: [old], around: script.around } as const;
  return { script, old, ...startFleet(), options };
}

test('tasks of a version go to the newer one when the last pod that had it is gone', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  await startPod('birch', { ...options, machines: [newer(script)] });
  script.holds.set('b.work', never());
  const [inside, due] = [
    await first.fleet.enqueue(old, {}),
    await first.fleet.enqueue(old, {}, { runAt: '20s' }),
  ];
  await clock.advance(5_000);
  expect(await row(inside.id)).toMatchObject({ status: 'claimed', version: 1 });
  first.crash();
  script.holds.clear();
  script.calls.length = 0;
  await clock.advance(STEADY_MS + 20_000);
  expect(await row(inside.id)).toMatchObject({ status: 'completed', version: 2 });
  expect(placesOf(script).slice(0, 2)).toEqual(['b.probe', 'b.work']);
  expect(await row(due.id)).toMatchObject({ status: 'completed', version: 2 });
});

test('while a pod has the version, the newer one takes none of its tasks', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.isBusyFor.set('claim', 1_000);
  const second = await startPod('birch', { ...options, machines: [newer(script)] });
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'pending', claims: 0 });
  expect(second.wire.asked.filter((verb) => verb === 'abandoned').length).toBeLessThan(4);
  await whileAdvancing(clock, first.fleet.drain());
  await clock.advance(2 * HEARTBEAT_MS + 1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 2 });
});

test('a task that fits no newer line waits, in peace, for a pod that has its version', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(2_000);
  first.crash();
  script.holds.clear();
  script.calls.length = 0;
  const blocked = hear('task.blocked');
  await startPod('birch', { ...options, machines: [newer(script, { steps: ['b', 'a'] })] });
  await clock.advance(STEADY_MS + 60_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 1 });
  expect(blocked.length, 'it is not asked for again and again').toBeLessThan(4);
  expect(script.calls).toEqual([]);
  await startPod('cedar', options);
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 1 });
  expect(placesOf(script).slice(0, 2), 'what was cut off is asked about').toEqual([
    'b.probe',
    'b.work',
  ]);
});

test('one that waits for its version goes on under a still newer one that has an upgrade for it', async () => {
  const { script, old, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.isBusyFor.set('claim', 1_000);
  const { id } = await first.fleet.enqueue(old, { id: 'x' });
  await whileAdvancing(clock, first.fleet.drain());
  const input = z.object({ name: z.string() });
  await startPod('birch', { ...options, machines: [newer(script, { input })] });
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 1 });
  const upgrade = {
    1: (run: { input: { id: string }; restart: (input: unknown) => unknown }) =>
      run.restart({ name: run.input.id }),
  };
  await startPod('cedar', {
    ...options,
    machines: [newer(script, { version: 3, input, upgrade })],
  });
  // Both look for it when it is due again, and it is chance who gets it: the wrong one leaves it.
  for (let round = 0; round < 30 && (await row(id))?.status === 'waiting'; round++) {
    await clock.advance(65_000);
  }
  expect(await row(id)).toMatchObject({ status: 'completed', version: 3 });
});

test('a task that had ended when its pod died is settled by whoever has a newer version', async () => {
  const { script, old, clock, tables, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.isBusyFor.set('settle', 1_000);
  const { id } = await first.fleet.enqueue(old, {});
  await clock.advance(2_000);
  expect(script.count('b.persist')).toBe(1);
  // The next one on its disk sends what it has, and gets no further.
  const wire = new Wire();
  wire.isBusyFor.set('settle', 1_000);
  const next = { ...options, machines: [], dataDir: first.crash(), wire };
  (await startPod('alder', next)).crash();
  tables.tasks.get(id as RunId)!.crashes = 0;
  script.calls.length = 0;
  await startPod('birch', { ...options, machines: [newer(script, { steps: ['b', 'a'] })] });
  await clock.advance(STEADY_MS + 10_000);
  const result = '{"by":"b.persist"}';
  expect(await row(id)).toMatchObject({ status: 'completed', version: 1, result });
  expect(script.calls).toEqual([]);
});

test('a row that came by a plain INSERT of an older version is begun by the newer one', async () => {
  const { script, clock, tables, startPod, row, options } = newScene();
  await whileAdvancing(clock, (await startPod('alder', options)).fleet.drain());
  await startPod('birch', { ...options, machines: [newer(script)] });
  const { taskId } = tables.insert({ machine: 'two', payload: '{}' });
  await clock.advance(3_000);
  expect(await row(taskId as RunId)).toMatchObject({ status: 'completed', version: 2 });
});

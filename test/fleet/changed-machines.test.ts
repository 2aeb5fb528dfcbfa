/** A machine that was changed under an unchanged version, and the fleet that knows it as it was. */
import { expect, test } from 'vitest';
import { MachineChangedError } from '../../src/fleet/index.ts';
import { never } from '../support/fleets.ts';
import { newer, onlyWork, placesOf, Script, twoSteps } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

function newScene() {
  const script = new Script();
  const { startPod, ...rest } = startFleet();
  const options = { machines: [twoSteps(script)], around: script.around };
  const changed = newer(script, { version: 1 });
  return { script, startPod, ...rest, options, changed };
}

test('a pod with another definition under the same version does not join, and says what has changed', async () => {
  const { startPod, store, options, changed } = newScene();
  await startPod('alder', options);
  const joining = startPod('birch', { ...options, machines: [changed] });
  await expect(joining).rejects.toThrow(MachineChangedError);
  await expect(joining).rejects.toThrow(
    'two@1 is not what the fleet knows under this version: c is new',
  );
  expect((await store.pods()).map(({ name }) => name)).toEqual(['alder']);
});

test('a pod that is refused leaves nothing behind that others would be held to', async () => {
  const { script, startPod, store, options, changed } = newScene();
  await startPod('alder', options);
  const before = await store.known();
  const joining = startPod('birch', { ...options, machines: [changed, twoSteps(script, 'fresh')] });
  await expect(joining).rejects.toThrow(MachineChangedError);
  expect(await store.known()).toEqual(before);
  const { around } = options;
  await startPod('cedar', { around, machines: [...options.machines, onlyWork(script, 'fresh')] });
  expect(await store.pods()).toHaveLength(2);
});

test('the same definition in another process joins, and so does a new version', async () => {
  const { script, startPod, store, options } = newScene();
  await startPod('alder', options);
  await startPod('birch', { ...options, machines: [twoSteps(script), newer(script)] });
  expect(await store.pods()).toHaveLength(2);
});

test('who develops a machine is warned, and may go on', async () => {
  const { startPod, store, options, changed } = newScene();
  await startPod('alder', options);
  const heard = hear('machine.changed');
  await startPod('birch', { ...options, machines: [changed], changedMachines: 'warn' });
  expect(heard).toMatchObject([{ machine: 'two', version: 1 }]);
  expect(await store.pods()).toHaveLength(2);
});

test.each(['on another disk', 'on its own disk'])(
  'a task that a changed machine cannot go on with waits for the former one, %s',
  async (where) => {
    const { script, startPod, clock, row, options } = newScene();
    const former = await startPod('alder', { ...options, archive: '100ms' });
    script.holds.set('b.work', never());
    const { id } = await former.fleet.enqueue(options.machines[0]!, {});
    await clock.advance(2_000);
    const dataDir = former.crash();
    script.holds.clear();
    script.calls.length = 0;
    const blocked = hear('task.blocked');
    const machines = [newer(script, { version: 1, steps: ['b', 'a'] })];
    const changed = { ...options, machines, changedMachines: 'warn' } as const;
    const own = where === 'on its own disk' ? { dataDir } : {};
    const pod = await startPod('birch', { ...changed, ...own });
    await clock.advance(20_000);
    expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 1 });
    // Looked at, and then left alone for a while.
    expect(blocked).toHaveLength(1);
    expect(blocked[0]).toMatchObject({ run: id, reason: expect.stringMatching(/changed since/) });
    expect(script.calls).toEqual([]);
    pod.crash();
    await startPod('cedar', options);
    await clock.advance(2_000);
    expect(await row(id)).toMatchObject({ status: 'completed', version: 1 });
    expect(placesOf(script).slice(0, 2)).toEqual(['b.probe', 'b.work']);
  },
);

test('a machine by which fleets recover may change with FleetQ', async () => {
  const { tables, startPod, store, options } = newScene();
  await startPod('alder', options);
  for (const [route, known] of tables.registry) {
    if (route.startsWith('recovery/')) tables.registry.set(route, { ...known, fingerprint: 'x' });
  }
  await startPod('birch', options);
  expect(await store.pods()).toHaveLength(2);
});

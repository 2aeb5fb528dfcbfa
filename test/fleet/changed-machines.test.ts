/** A machine that was changed under an unchanged version, and the fleet that knows it as it was. */
import { expect, test } from 'vitest';
import { MachineChangedError } from '../../src/fleet/index.ts';
import { newer, Script, twoSteps } from './script.ts';
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

test('a machine by which fleets recover may change with FleetQ', async () => {
  const { tables, startPod, store, options } = newScene();
  await startPod('alder', options);
  for (const [route, known] of tables.registry) {
    if (route.startsWith('recovery/')) tables.registry.set(route, { ...known, fingerprint: 'x' });
  }
  await startPod('birch', options);
  expect(await store.pods()).toHaveLength(2);
});

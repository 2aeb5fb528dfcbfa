/** Row 33: a process with new code comes to the disk of one that had the old. Runs wait, none goes wrong. */
import { expect, test } from 'vitest';
import { never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

function newScene() {
  const script = new Script();
  const machine = twoSteps(script);
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  return { script, machine, ...startFleet(), options };
}

test('a task of which the disk has nothing yet is given back by code that has not its version', async () => {
  const { machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.holdsAnswers.set('claim', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(100);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  await startPod('alder', { ...options, machines: [], dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'pending', crashes: 0 });
  await startPod('birch', options);
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
});

test('I41: what was inside a phase is still known to be when code that cannot run it gives it back', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  await startPod('alder', { ...options, machines: [], dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'pending' });
  script.holds.clear();
  script.calls.length = 0;
  await startPod('birch', options);
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.calls.map((call) => call.split('@')[0]).slice(0, 2)).toEqual(['b.probe', 'b.work']);
  expect(script.count('a.work'), 'nothing that was on the disk is done again').toBe(0);
});

/** Row 33: a process with new code comes to the disk of one that had the old. Runs wait, none goes wrong. */
import { expect, test } from 'vitest';
import { never } from '../support/fleets.ts';
import { onlyWork, Script, sleeper, twoSteps } from './script.ts';
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

test('I31: what sleeps is not woken by code that cannot run it and gives it back', async () => {
  const { script, clock, startPod, row, options } = newScene();
  const [machine, other] = [sleeper(script, '4s'), onlyWork(script)];
  const first = await startPod('alder', { ...options, machines: [machine, other] });
  const begunAt = clock.now();
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(700);
  // Another one has its slot by then, so that nobody takes it for having been inside a phase.
  script.holds.set('main.work', never());
  await first.fleet.enqueue(other, {});
  await clock.advance(300);
  expect(script.calls.map((call) => call.split('@')[0]).slice(-2)).toEqual([
    'a.persist',
    'main.work',
  ]);
  await startPod('alder', { ...options, machines: [], dataDir: first.crash() });
  await clock.advance(500);
  expect(await row(id)).toMatchObject({ status: 'pending', crashes: 0 });
  await startPod('birch', { ...options, machines: [machine] });
  // Pods take their time to start, so it is looked at the clock.
  while (script.count('b.check') === 0) await clock.advance(100);
  expect(clock.now() - begunAt).toBeGreaterThanOrEqual(4_000);
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

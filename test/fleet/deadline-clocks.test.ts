/** Deadlines of runs whose hosts' clocks are set meanwhile: no run is ended before its time. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { settable } from '../support/settable-clock.ts';
import { Script } from './script.ts';
import { anyInput, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const HOUR_MS = 3_600_000;

function sleepsFor(script: Script, sleepMs: number | (() => number), limitMs: number) {
  return defineMachine({
    name: 'limited',
    version: 1,
    input: anyInput,
    timeout: { run: limitMs },
    steps: (line) =>
      line
        .step('a', { check: 'none', work: script.phases.work })
        .sleep('rest', sleepMs)
        .step('b', { check: 'none', work: script.phases.work }),
  });
}

test('a run that was parked goes on when its time has come, though a clock was set back', async () => {
  const script = new Script();
  const machine = sleepsFor(script, 20_000, 30_000);
  const { clock, startPod, row } = startFleet();
  const host = settable(clock);
  const options = { machines: [machine], around: script.around, clock: host.clock };
  const { fleet } = await startPod('alder', options);
  const { id } = await fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'sleep' });
  host.offMs = -HOUR_MS;
  await clock.advance(22_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('a sleep beyond the deadline ends the run there, though a clock was set meanwhile', async () => {
  const script = new Script();
  const machine = sleepsFor(script, 8_000, 4_000);
  const { clock, startPod, row } = startFleet();
  const host = settable(clock);
  const options = { machines: [machine], around: script.around, clock: host.clock };
  const { fleet } = await startPod('alder', options);
  let open = () => {};
  script.holds.set('a.work', new Promise<void>((resolve) => (open = resolve)));
  const { id } = await fleet.enqueue(machine, {});
  await clock.advance(1_000);
  // So little that nobody minds, and enough for the wait to end before the deadline does.
  host.offMs = 600;
  open();
  await clock.advance(1_000);
  host.offMs = HOUR_MS;
  await clock.advance(5_000);
  expect(script.count('b.work')).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});

test('a clock that is set forward while a run lies down to sleep does not end it at once', async () => {
  const script = new Script();
  const { clock, startPod, row } = startFleet();
  const host = settable(clock);
  const liesDown = () => {
    host.offMs = HOUR_MS;
    return 8_000;
  };
  const machine = sleepsFor(script, liesDown, 4_000);
  const options = { machines: [machine], around: script.around, clock: host.clock };
  const { fleet } = await startPod('alder', options);
  const { id } = await fleet.enqueue(machine, {});
  await clock.advance(2_000);
  // It takes its sleep for over, as any that is not parked; its time is not.
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('whoever gets a run that was parked until its deadline ends it, whatever its clock shows', async () => {
  const script = new Script();
  const machine = sleepsFor(script, 60_000, 12_000);
  const { clock, startPod, row } = startFleet();
  const host = settable(clock);
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', { ...options, clock: host.clock });
  let open = () => {};
  script.holds.set('a.work', new Promise<void>((resolve) => (open = resolve)));
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  host.offMs = 600;
  open();
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'sleep' });
  alder.crash();
  const ahead = settable(clock);
  ahead.offMs = HOUR_MS;
  await startPod('birch', { ...options, clock: ahead.clock });
  await clock.advance(12_000);
  expect(script.count('b.work')).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'failed', outcome: 'timedOut' });
});

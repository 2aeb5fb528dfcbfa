/** How long a wait still is, once a clock was set or others have had the run: as long as its record says. */
import { expect, test } from 'vitest';
import { type LiveRun, waitMsOf } from '../../src/engine/live-run.ts';
import type { StoredRecord } from '../../src/journal/index.ts';
import { settable } from '../support/settable-clock.ts';
import { Script, sleeper } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const HOUR_MS = 3_600_000;

test('a take-over that follows another one knows how long the wait was to be', () => {
  const waits = { at: 1_000, event: { type: 'FAILED', dueAt: 6_000 } };
  const taken = { at: 90_000, event: { type: 'TAKEN', pod: 'birch' } };
  const run = { state: { dueAt: 6_000 } } as LiveRun;
  const lengthOf = (records: readonly object[]) => waitMsOf(run, records as StoredRecord[]);
  expect(lengthOf([waits])).toBe(5_000);
  expect(lengthOf([waits, taken, taken])).toBe(5_000);
});

test('a run that is parked by a pod whose clock was set back is due when its record says', async () => {
  const script = new Script();
  const machine = sleeper(script, '5s');
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const host = settable(clock);
  const alder = await startPod('alder', { ...options, clock: host.clock });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  host.offMs = -HOUR_MS;
  const drained = alder.fleet.drain({ budget: '8s' });
  await clock.advance(1_000);
  await drained;
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'sleep' });
  await startPod('birch', options);
  await clock.advance(8_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

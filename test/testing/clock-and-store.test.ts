/** What fleetq/testing has besides crashTest: a clock that tests move, and a store without a database. */
import { createFleet, defineMachine } from 'fleetq';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { fakeClock, memoryStore } from '../../src/testing/index.ts';
import { LeapClock } from '../../src/testing/leap-clock.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();

const remind = defineMachine({
  name: 'remind',
  version: 1,
  input: z.object({}),
  steps: (line) => line.sleep('night', '8h').step('say', { check: 'none', work: () => 'morning' }),
});

test('a fake clock brings a run through its night', async () => {
  const clock = fakeClock();
  const fleet = await createFleet({ machines: [remind], clock, dataDir: newDir(), socket: false });
  const run = await fleet.startLocal(remind, {});
  await clock.advance('7h');
  expect(fleet.describe(run.id).status).toBe('waiting');
  await clock.advance('1h');
  expect(await run.result()).toBe('morning');
  await fleet.drain();
});

test('a fake clock refuses what is no duration', async () => {
  await expect(fakeClock().advance('soon' as '1s')).rejects.toThrow('wanted a duration');
});

test('handles on one memory store share their tables, and each is closed alone', async () => {
  const store = memoryStore();
  const other = store.another();
  const common = { machines: [remind], isClient: true, socket: false };
  const fleet = await createFleet({ ...common, store, dataDir: newDir() });
  const task = await fleet.enqueue(remind, {});
  await fleet.drain();
  await expect(store.list({ countMax: 10 })).rejects.toThrow();
  expect(await other.list({ countMax: 10 })).toMatchObject([{ id: task.id }]);
  expect(await memoryStore().list({ countMax: 10 })).toEqual([]);
});

test('a leaping clock cuts waits short, in their order, and goes on from where another was', async () => {
  const clock = new LeapClock(5_000);
  expect(clock.aheadMs).toBe(5_000);
  const fired: string[] = [];
  const late = new Promise<void>((resolve) => {
    clock.after(7_200_000, () => resolve(void fired.push('late')));
  });
  clock.after(3_600_000, () => fired.push('early'));
  const cancel = clock.after(60_000, () => fired.push('cancelled'));
  clock.after(36_000_000, () => fired.push('not yet'), { idle: true });
  cancel();
  const before = { now: clock.now(), monotonic: clock.monotonicMs() };
  clock.leapTo(before.now + 8_000_000);
  await late;
  expect(fired).toEqual(['early', 'late']);
  expect(clock.now() - before.now).toBeGreaterThanOrEqual(8_000_000);
  expect(clock.monotonicMs() - before.monotonic).toBeGreaterThanOrEqual(8_000_000);
  const ahead = clock.aheadMs;
  clock.leapTo(before.now);
  expect(clock.aheadMs).toBe(ahead);
});

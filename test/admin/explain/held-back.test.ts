/** Why tasks that call a busy API are not taken, though pods have room: they are not overlooked. */
import { expect, test } from 'vitest';
import { defineMachine, defineThrottle, type ThrottleOptions } from '../../../src/index.ts';
import { anyInput, type TestFleet, useTestFleets } from '../../fleet/support.ts';
import { expectReason, explained } from './support.ts';

const { startFleet } = useTestFleets();

async function crowd(fleet: TestFleet, options: ThrottleOptions, count: number, callMs: number) {
  const { startPod, clock } = fleet;
  const call = () => new Promise<void>((resolve) => clock.after(callMs, resolve));
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ use }) => use('slow', call),
  });
  const throttles = [defineThrottle('slow', options)];
  const pod = await startPod('alder', { machines: [machine], throttles, archive: '100ms' });
  await Promise.all(Array.from({ length: count }, () => pod.fleet.enqueue(machine, {})));
}

/** Of these, the one that has been due for longest. */
async function oldest({ store, clock }: TestFleet, status: 'pending' | 'waiting') {
  const rows = await store.list({ status, countMax: 1_000 });
  const due = rows.filter(({ runAt }) => runAt <= clock.now());
  const [first] = due.toSorted((one, other) => one.runAt - other.runAt);
  expect(first, `a ${status} task that is due`).toBeDefined();
  return first!;
}

test('a run that is parked, and due, is held back for the API that its records name', async () => {
  const fleet = startFleet();
  await crowd(fleet, { limits: { perSecond: 1 } }, 200, 10);
  await fleet.clock.advance(60_000);
  const { id, waitFor } = await oldest(fleet, 'waiting');
  expect(waitFor).toBe('throttle');
  expectReason(await explained(fleet.store, id), {
    code: 'held-back',
    says: /^It has been due for .*, and pods hold it back: the API slow has no room for more \(.*\)\.$/,
    command: /^fleetq throttles show slow$/,
  });
});

test('a task that waits in the queue is, as others of its machine', async () => {
  const fleet = startFleet();
  await crowd(fleet, { limits: { perSecond: 1 } }, 200, 10);
  await fleet.clock.advance(60_000);
  const { id } = await oldest(fleet, 'pending');
  expectReason(await explained(fleet.store, id), {
    code: 'held-back',
    says: /, and pods hold it back, as others of its machine: the API slow has no room for more/,
    command: /^fleetq throttles show slow$/,
  });
});

test('so it is where none is parked, and an API that its pods call has no room', async () => {
  const fleet = startFleet();
  await crowd(fleet, { limits: { inFlight: 2 }, parkAfter: '1h' }, 200, 1_000);
  await fleet.clock.advance(60_000);
  expect(await fleet.store.list({ status: 'waiting', countMax: 1 })).toEqual([]);
  const { id } = await oldest(fleet, 'pending');
  expectReason(await explained(fleet.store, id), {
    code: 'held-back',
    says: /1 pod that could take it has not: runs that call an API which is busy are held back, and the API slow has no room/,
  });
});

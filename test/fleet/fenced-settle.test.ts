/** A pod that is fenced while it settles, and takes its own tasks back before the sweep comes to them. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import type { PodId } from '../../src/store/index.ts';
import { anyInput, HEARTBEAT_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

test('what is on its disk is not done again, though its settlement was refused', async () => {
  let persisted = 0;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const machine = defineMachine({
    name: 'once',
    version: 1,
    input: anyInput,
    check: 'none',
    work: () => held,
    persist: () => ++persisted,
  });
  const { clock, store, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], archive: '1h' });
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(100);
  const first = pod.id;
  expect(await store.fence(first, 'another' as PodId, 'proved')).toBe(true);
  letGo();
  await clock.advance(50);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: first });
  await clock.advance(5 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  expect(await row(id)).toMatchObject({ status: 'completed', result: '1' });
  expect(persisted).toBe(1);
});

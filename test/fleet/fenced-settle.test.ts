/** A pod that is fenced while it settles, and takes its own tasks back before the sweep comes to them. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import type { PodId } from '../../src/store/index.ts';
import { gate } from '../support/fleets.ts';
import { anyInput, HEARTBEAT_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

/** A pod inside the work of a task, of which the store has nothing but the claim. */
async function newScene() {
  const work = gate();
  const seen = { persisted: 0 };
  const machine = defineMachine({
    name: 'once',
    version: 1,
    input: anyInput,
    check: 'none',
    work: () => work.opened,
    persist: () => ++seen.persisted,
  });
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], archive: '1h' });
  const { id } = await pod.fleet.enqueue(machine, {});
  await fleet.clock.advance(100);
  const fence = () => fleet.store.fence(pod.id, 'another' as PodId, 'proved');
  return { ...fleet, pod, id, work, seen, fence };
}

test('what is on its disk is not done again, though its settlement was refused', async () => {
  const { clock, pod, row, id, work, seen, fence } = await newScene();
  const first = pod.id;
  expect(await fence()).toBe(true);
  work.open();
  await clock.advance(50);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: first });
  await clock.advance(5 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  expect(await row(id)).toMatchObject({ status: 'completed', result: '1' });
  expect(seen.persisted).toBe(1);
});

test('nor where a beat from before that is answered after it: it says nothing of what came since', async () => {
  const { clock, pod, row, id, work, seen, fence } = await newScene();
  const first = pod.id;
  const answer = gate();
  pod.wire.holdsAnswers.set('beat', answer.opened);
  await clock.advance(HEARTBEAT_MS);
  expect(await fence()).toBe(true);
  work.open();
  await clock.advance(50);
  pod.wire.holdsAnswers.clear();
  answer.open();
  await clock.advance(5 * HEARTBEAT_MS);
  expect(pod.id).not.toBe(first);
  expect(await row(id)).toMatchObject({ status: 'completed', result: '1' });
  expect(seen.persisted).toBe(1);
});

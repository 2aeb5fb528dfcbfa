/** A process whose store is away: what belongs to its host goes on, and it joins when it can. */
import { expect, test } from 'vitest';
import { createFleet, defineMachine } from '../../src/index.ts';
import { gate } from '../support/fleets.ts';
import { anyInput, useTestFleets, Wire, whileAdvancing } from './support.ts';

const { newDir, startFleet } = useTestFleets();

const simple = defineMachine({
  name: 'simple',
  version: 1,
  input: anyInput,
  check: 'none',
  work: () => 'made',
});

test('a pod whose store is away runs what was started here, and joins when the store is back', async () => {
  const { clock, startPod, store } = startFleet();
  const wire = new Wire();
  wire.isCut = true;
  const pod = await startPod('alder', { machines: [simple], wire });
  expect(pod.fleet.status.pod?.isReady).toBe(false);
  const local = await pod.fleet.startLocal(simple, {});
  await clock.advance(100);
  expect(await local.result()).toBe('made');

  wire.isCut = false;
  await clock.advance(5_000);
  expect(pod.fleet.status.pod?.isReady).toBe(true);
  const task = await pod.fleet.enqueue(simple, {});
  await clock.advance(5_000);
  expect(await whileAdvancing(clock, task.result())).toBe('made');
  expect(await store.find([local.id])).toMatchObject([{ status: 'completed' }]);
});

test('a Postgres that is away keeps nobody from starting', async () => {
  const store = 'postgres://nobody@127.0.0.1:9/nowhere';
  const fleet = await createFleet({ machines: [simple], store, dataDir: newDir(), socket: false });
  try {
    expect(fleet.status.pod?.isReady).toBe(false);
    expect(await (await fleet.startLocal(simple, {})).result()).toBe('made');
  } finally {
    await fleet.drain({ budget: '2s' });
  }
});

test('I46: a drain while the pod registers anew leaves no pod behind that beats', async () => {
  const { clock, startPod, store } = startFleet();
  const pod = await startPod('alder', { machines: [simple] });
  await clock.advance(1_000);
  const answer = gate();
  pod.wire.holdsAnswers.set('register', answer.opened);
  await store.fence(pod.id, pod.id, 'proved');
  await clock.advance(3_000);
  const drained = pod.fleet.drain({ budget: '1s' });
  await clock.advance(100);
  answer.open();
  await whileAdvancing(clock, drained);
  const before = await store.pods();
  expect(before).toHaveLength(2);
  await clock.advance(20_000);
  const after = await store.pods();
  expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
  // Its store may be closed by then: the sweep finds a row that holds nothing.
  expect(after.map(({ claimCount }) => claimCount)).toEqual([0, 0]);
});

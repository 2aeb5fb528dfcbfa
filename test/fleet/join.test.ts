/** A process whose store is away: what belongs to its host goes on, and it joins when it can. */
import { expect, test } from 'vitest';
import { createFleet, defineMachine } from '../../src/index.ts';
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

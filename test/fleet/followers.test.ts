/** Tasks that follow a run, as programs enqueue them. */
import { expect, test } from 'vitest';
import { abort, defineMachine } from '../../src/index.ts';
import { anyInput, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

function scene(order: string[]) {
  return defineMachine({
    name: 'ordered',
    version: 1,
    input: anyInput,
    check: 'none',
    work: ({ input }) => {
      order.push(input.id ?? '');
      if (input.id === 'bad') throw abort('no');
    },
  });
}

test('a task follows a run on its success, or on any end', async () => {
  const order: string[] = [];
  const machine = scene(order);
  const { clock, startPod } = startFleet();
  const { fleet } = await startPod('alder', { machines: [machine] });
  const first = await fleet.enqueue(machine, { id: 'first' }, { runAt: '1m' });
  const second = await fleet.enqueue(machine, { id: 'second' }, { after: first });
  await fleet.enqueue(machine, { id: 'bad' }, { after: second.id, key: 'bad' });
  const bad = await fleet.enqueue(machine, { id: 'bad' }, { key: 'bad', after: second });
  await fleet.enqueue(machine, { id: 'never' }, { after: bad });
  await fleet.enqueue(machine, { id: 'last' }, { after: bad, on: 'end' });
  await clock.advance(30_000);
  expect(order).toEqual([]);
  await clock.advance(60_000);
  expect(order).toEqual(['first', 'second', 'bad', 'last']);
});

test('what cannot be followed is refused in words', async () => {
  const machine = scene([]);
  const { startPod } = startFleet();
  const { fleet } = await startPod('alder', { machines: [machine] });
  const unknown = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const enqueue = (options: object) => fleet.enqueue(machine, { id: 'x' }, options);
  await expect(enqueue({ after: unknown })).rejects.toMatchObject({
    code: 'FLEETQ_TASK_NOT_FOUND',
  });
  const { id } = await enqueue({});
  await expect(enqueue({ after: id, runAt: '1m' })).rejects.toThrow(
    'after and runAt cannot be given together',
  );
  await expect(enqueue({ after: id, serialKey: 'a' })).rejects.toThrow('after and serialKey');
  await expect(enqueue({ after: id, on: 'failure' })).rejects.toThrow(
    "on must be 'success' or 'end', got \"failure\"",
  );
  await expect(enqueue({ on: 'end' })).rejects.toThrow("give 'after' too");
  await expect(enqueue({ after: 7 })).rejects.toThrow('after must be text');
});

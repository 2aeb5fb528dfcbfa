/** A process for suspects may be the oldest pod there is: what the others leave is swept all the same. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { anyInput, HEARTBEAT_MS, SILENT_MS, STEADY_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

test('the oldest pod takes suspects only, and gives back what a dead one held', async () => {
  let count = 0;
  const machine = defineMachine({
    name: 'once',
    version: 1,
    input: anyInput,
    check: 'none',
    work: () => (++count === 1 ? never() : count),
  });
  const { clock, startPod, row, podStatus } = startFleet();
  const machines = [machine];
  await startPod('oldest', { machines, isSuspectsOnly: true });
  await clock.advance(HEARTBEAT_MS);
  const second = await startPod('second', { machines });
  await clock.advance(STEADY_MS);
  const { id } = await second.fleet.enqueue(machine, {});
  await clock.advance(HEARTBEAT_MS);
  const dead = second.id;
  second.crash();
  const third = await startPod('third', { machines });
  await clock.advance(SILENT_MS + 4 * HEARTBEAT_MS);
  expect(await podStatus(dead)).toBe('down');
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 2 });
  expect(third.fleet.status.pod?.held).toBe(0);
});

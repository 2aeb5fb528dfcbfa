/** A process that comes back with records of a generation that somebody has redriven since. */
import { expect, test } from 'vitest';
import { abort } from '../../src/index.ts';
import { redriveTask } from '../store/acts.ts';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, twoSteps } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

test('records of an earlier generation are not the beginning of the next', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const first = await startPod('alder', options);
  // It never hears that its end was taken, and so keeps the records of it.
  first.wire.holdsAnswers.set('settle', never());
  script.throws.set('main.work', () => abort('not this time', { kind: 'user' }));
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'failed', generation: 1 });
  script.throws.clear();
  first.wire.holdsAnswers.set('claim', never());
  await redriveTask(store, id, { generation: 1 }, { isFresh: false });
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', generation: 2, claimedBy: first.id });
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('main.work')).toBe(2);
});

test('an answer that comes when the task is here again takes nothing from the new generation', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const first = await startPod('alder', options);
  const answer = gate();
  first.wire.holdsAnswers.set('settle', answer.opened);
  script.throws.set('a.work', () => abort('not this time', { kind: 'user' }));
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'failed', generation: 1 });
  script.throws.clear();
  await redriveTask(store, id, { generation: 1 }, { isFresh: true });
  await clock.advance(1_000);
  expect(script.calls.at(-1)).toBe('b.persist@3');
  // It has ended here, and waits to be settled; now the answer to the first settlement comes.
  first.wire.isBusyFor.set('settle', 1_000);
  answer.open();
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', generation: 2 });
  script.calls.length = 0;
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.calls, 'nothing that was on the disk is done again').toEqual([]);
});

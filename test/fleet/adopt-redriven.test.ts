/** A process that comes back with records of a generation that somebody has redriven since. */
import { expect, test } from 'vitest';
import { abort } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { onlyWork, Script } from './script.ts';
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
  await store.redrive(id, { generation: 1 }, { isFresh: false });
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', generation: 2, claimedBy: first.id });
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('main.work')).toBe(2);
});

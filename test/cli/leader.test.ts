/** `fleetq leader` where no pod leads: it says why. */
import { expect, test } from 'vitest';
import { birthOf } from '../store/factories.ts';
import { usePlaces } from './in-process.ts';

const { makePlace } = usePlaces();

test('where no pod is up, no pod leads', async () => {
  const place = await makePlace();
  const { code, stderr } = await place.run('leader');
  expect(code).toBe(3);
  expect(stderr).toContain('no pod leads: no pod is up that was heard of lately');
});

test('a pod that is up and cannot write its journal is named, with the reason', async () => {
  const place = await makePlace();
  await place.store(async (store) => {
    const report = { capacity: 3, stalled: 'the disk is full' };
    await store.register({ ...birthOf('alder'), report, silenceMs: 3_600_000 });
    const { code, stderr } = await place.run('leader');
    expect(code).toBe(3);
    expect(stderr).toContain(
      'no pod leads: the pod up cannot write the journal: alder (the disk is full)',
    );
  });
});

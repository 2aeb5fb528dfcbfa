/** `fleetq sweep` where no pod is up, on SQLite: what needs no judgement is given back, and nothing else. */
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { birthOf, claimRequest, newTask, podOf } from '../store/factories.ts';
import { usePlaces } from './in-process.ts';
import { MACHINE, newId, type Report, SOON_SILENT, sweepAlone } from './sweep-alone.ts';

const { makePlace } = usePlaces();

test('alone it gives back what the dead and the forgotten held, and judges nobody', async () => {
  const place = await makePlace(SOON_SILENT);
  await place.store((store) =>
    sweepAlone(place, store, async (pod) => {
      const file = new Database(place.env['FLEETQ_STORE_URL']!.slice('sqlite:'.length));
      file.prepare('delete from pod_health where pod_id = ?').run(pod);
      file.close();
    }),
  );
});

test('I28: where more than half of the fleet is missing, it gives back and counts no crash', async () => {
  const place = await makePlace();
  await place.store(async (store) => {
    const route = `${MACHINE}@1`;
    for (const name of ['ash', 'beech', 'cedar']) {
      await store.register({ ...birthOf(name), routes: [route], silenceMs: 3_600_000 });
    }
    const { id } = newTask({ id: newId(), machine: MACHINE, payload: '{"n":2}' });
    await store.enqueue([newTask({ id, machine: MACHINE, payload: '{"n":2}' })]);
    await store.claim(claimRequest(podOf('ash'), { routes: [route], countMax: 1 }));
    for (const name of ['ash', 'beech']) await store.fence(podOf(name), podOf('leader'), 'proved');
    expect(await place.json<Report>('sweep')).toMatchObject({ by: 'command', isOutage: true });
    expect((await store.find([id]))[0]).toMatchObject({ status: 'pending', crashes: 0 });
  });
});

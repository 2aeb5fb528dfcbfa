/** `fleetq sweep` where no pod is up: what needs no judgement is given back, and nothing else. */
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, type PodId, type Store } from '../../src/store/index.ts';
import { newTask } from '../store/factories.ts';
import { birthOf, claimRequest, podOf } from '../store/harness.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { end, makePlace, type Place } from './fleet-support.ts';

const MACHINE = 'test/quick';
const newId = runIdMint(systemClock, systemRandom);

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

interface Swept {
  readonly pod: string;
  readonly why: string;
}
interface Report {
  readonly by: string;
  readonly swept: readonly Swept[];
  readonly left: readonly { readonly pod: string }[];
}

/** Pods that died in every way there is, each with a task in its hands. */
async function leaveBehind(store: Store, forget: (pod: PodId) => Promise<void>) {
  const claim = async (name: string) => {
    const pod = podOf(name);
    const route = `${MACHINE}@1`;
    await store.register({ ...birthOf(name), routes: [route] });
    await store.enqueue([newTask({ id: newId(), machine: MACHINE, payload: '{"n":2}' })]);
    const [claimed] = await store.claim(claimRequest(pod, { routes: [route], countMax: 1 }));
    return claimed!.task;
  };
  const tasks = {
    willing: await claim('willing'),
    crashed: await claim('crashed'),
    forgotten: await claim('forgotten'),
    silent: await claim('silent'),
  };
  const local = { id: newId(), machine: MACHINE, version: 1, payload: '{"n":2}' };
  const journal = 'journal-crashed';
  await store.mirror(podOf('crashed'), [
    { ...local, journal, deadlineMs: undefined, startedAgoMs: 0 },
  ]);
  // Others that are there, and may be silent for longer than this test takes.
  for (const name of ['ash', 'beech']) {
    await store.register({ ...birthOf(name), routes: [], silenceMs: 3_600_000 });
  }
  await store.fence(podOf('willing'), podOf('willing'), 'proved');
  await store.fence(podOf('crashed'), podOf('leader'), 'proved');
  await forget(podOf('forgotten'));
  return { ...tasks, local: local.id };
}

async function sweepAlone(place: Place, store: Store, forget: (pod: PodId) => Promise<void>) {
  const tasks = await leaveBehind(store, forget);
  const row = async (id: string) => (await store.find([id as never]))[0]!;
  // Longer than the silence, so that the last of them is silent too.
  await expect
    .poll(() => place.run('sweep', '--dry-run').then(({ stdout }) => stdout), { timeout: 90_000 })
    .toMatch(/\tsilent\t/);
  expect(await row(tasks.crashed)).toMatchObject({ status: 'claimed' });

  const report = await place.json<Report>('sweep');
  expect(report.by).toBe('command');
  const nothing = { requeued: 0, failed: 0, cancelled: 0, waitingForHost: 0 };
  const byPod = [...report.swept].sort((one, other) => (one.pod < other.pod ? -1 : 1));
  expect(byPod).toEqual([
    { pod: podOf('crashed'), why: 'dead', ...nothing, requeued: 1, waitingForHost: 1 },
    { pod: podOf('forgotten'), why: 'gone', ...nothing, requeued: 1 },
    { pod: podOf('willing'), why: 'dead', ...nothing, requeued: 1 },
  ]);
  expect(report.left).toMatchObject([{ pod: podOf('silent') }]);

  // A deploy costs nothing, a death counts; and whoever is only silent keeps what it has.
  expect(await row(tasks.willing)).toMatchObject({
    status: 'pending',
    crashes: 0,
    epoch: above(1),
  });
  expect(await row(tasks.crashed)).toMatchObject({ status: 'pending', crashes: 1 });
  expect(await row(tasks.forgotten)).toMatchObject({ status: 'pending', crashes: 1 });
  expect(await row(tasks.local)).toMatchObject({ status: 'waiting', waitFor: 'host' });
  expect(await row(tasks.silent)).toMatchObject({ status: 'claimed', claimedBy: podOf('silent') });
  const statuses = new Map((await store.pods()).map(({ pod, status }) => [pod, status]));
  expect(statuses.get(podOf('willing'))).toBe('down');
  expect(statuses.get(podOf('crashed'))).toBe('down');
  expect(statuses.get(podOf('silent'))).toBe('up');
  expect(await store.violations()).toEqual([]);

  const again = await place.json<Report>('sweep');
  expect([again.swept, again.left.length]).toEqual([[], 1]);

  // What was given back is executed by the next pod that comes.
  const worker = await place.worker();
  for (const task of [tasks.willing, tasks.crashed, tasks.forgotten]) {
    const done = await place.run('wait', task, '--timeout', '25s');
    expect(done.code, done.stderr).toBe(0);
    expect(await row(task)).toMatchObject({ status: 'completed' });
  }
  await end(worker);
}

function above(least: number): unknown {
  return expect.toSatisfy((epoch: number) => epoch > least);
}

test('on SQLite, alone, it gives back what the dead and the forgotten held, and judges nobody', async () => {
  const place = await makePlace();
  const address = place.env['FLEETQ_STORE_URL']!;
  const store = await openStore(address);
  try {
    await sweepAlone(place, store, async (pod) => {
      const file = new Database(address.slice('sqlite:'.length));
      file.prepare('delete from pod_health where pod_id = ?').run(pod);
      file.close();
    });
  } finally {
    await store.close();
  }
});

test('on Postgres, alone, it gives back what the dead and the forgotten held, and judges nobody', async () => {
  const address = await postgres.createDatabase();
  const place = await makePlace(address);
  const store = await openStore(address);
  try {
    await sweepAlone(place, store, async (pod) => {
      await runOn(address, `delete from pod_health where pod_id = '${pod}'`);
    });
  } finally {
    await store.close();
  }
});

test('I28: where more than half of the fleet is missing, it gives back and counts no crash', async () => {
  const place = await makePlace();
  const store = await openStore(place.env['FLEETQ_STORE_URL']!);
  try {
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
  } finally {
    await store.close();
  }
});

/** What a fleet is left with when all of its pods have died in every way there is, and what a sweep makes of it. */
import { expect } from 'vitest';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import type { PodId, Store } from '../../src/store/index.ts';
import { birthOf, claimRequest, newTask, podOf } from '../store/factories.ts';
import type { Place } from './in-process.ts';

export const MACHINE = 'test/quick';
/** For the command, which asks how long a pod has said nothing. */
export const SOON_SILENT = { FLEETQ_SILENCE: '1s' };
export const newId = runIdMint(systemClock, systemRandom);

interface Swept {
  readonly pod: string;
  readonly why: string;
}
export interface Report {
  readonly by: string;
  readonly swept: readonly Swept[];
  readonly left: readonly { readonly pod: string }[];
}

/** Pods that died in every way there is, each with a task of its own. */
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

/** `fleetq sweep` where no pod is up: what needs no judgement is given back, and nothing else. */
export async function sweepAlone(
  place: Place,
  store: Store,
  forget: (pod: PodId) => Promise<void>,
): Promise<void> {
  const tasks = await leaveBehind(store, forget);
  const row = async (id: string) => (await store.find([id as never]))[0]!;
  // Longer than the silence, so that the last of them is silent too.
  await expect
    .poll(() => place.run('sweep', '--dry-run').then(({ stdout }) => stdout))
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
  await place.pod();
  for (const task of [tasks.willing, tasks.crashed, tasks.forgotten]) {
    const done = await place.run('wait', task, '--timeout', '25s');
    expect(done.code, done.stderr).toBe(0);
    expect(await row(task)).toMatchObject({ status: 'completed' });
  }
}

function above(least: number): unknown {
  return expect.toSatisfy((epoch: number) => epoch > least);
}

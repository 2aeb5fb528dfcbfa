/**
 * I24, I26: pods in processes of their own, each convinced that it leads, sweep the same dead pods of a
 * real Postgres at the same moment, and come to what a single leader comes to.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Ground, type PodProcess, useCrashRig } from '../../proof/crash-points/rig.ts';
import type { PodId, Store } from '../../src/store/index.ts';
import { mapAtOnce } from '../../src/testing/map-at-once.ts';
import { cancelTask } from '../store/acts.ts';
import { newTasks } from '../store/factories.ts';
import { birthOf, claimRequest, podOf } from '../store/harness.ts';

const { newGround } = useCrashRig();

/** Long, since thirteen processes share the cores: a leader must not fall silent itself. */
const TIMES = { heartbeatMs: 600, silentMs: 5_000 };
const PEER_COUNT = 10;
const READY_MS_MAX = 60_000;
/** More than one batch of a sweep. */
const FRESH_COUNT = 700;
const WORN_COUNT = 10;

/** What the record of a sweep says. */
interface Swept {
  readonly pods: readonly { readonly tasks: readonly string[] }[];
}

const timers: NodeJS.Timeout[] = [];
afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer);
});

/** A pod that is up and does nothing, so that all fleets are of one size, however many lead. */
async function bystander(store: Store, name: string): Promise<void> {
  const birth = birthOf(name);
  const { pod, report, lsn } = birth;
  await store.register(birth);
  let seq = 0;
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    const answer = await store.beat({ pod, seq, nonce: `${name} ${seq}`, lsn, report });
    if (answer.kind === 'taken') seq = answer.seq;
    isBeating = false;
  };
  timers.push(setInterval(() => void beat().catch(() => undefined), TIMES.heartbeatMs));
}

const routeOf = (kind: string) => `${kind}@1`;

async function giveTo(store: Store, pod: PodId, kind: string, head: 'ready' | 'suspect' = 'ready') {
  const request = claimRequest(pod, { routes: [routeOf(kind)], countMax: 1_000, head });
  return store.claim(request);
}

/** Whatever is there of this kind has cost one more pod its life. */
async function kills(store: Store, kind: string, name: string): Promise<void> {
  const pod = podOf(name);
  await store.register(birthOf(name));
  await giveTo(store, pod, kind);
  await store.fence(pod, podOf('elder'), 'proved');
  const taking = { from: pod, by: podOf('elder'), to: 'pool', countMax: 1_000 } as const;
  await store.take({ ...taking, crashed: 'all', spreadMs: 0 });
  await store.retire(pod);
}

/**
 * Two pods that are never heard of again, one whose sweeper died when it had fenced it, one that left
 * on purpose, and what they held.
 */
async function wreck(store: Store): Promise<void> {
  const counts = { fresh: FRESH_COUNT, hurt: 10, worn: WORN_COUNT, unwanted: 5, left: 10 };
  for (const [machine, count] of Object.entries(counts)) {
    const tasks = newTasks(count, { machine });
    const named = tasks.map((task, n) => ({ ...task, payload: JSON.stringify(`${machine} ${n}`) }));
    await store.enqueue(named);
  }
  await kills(store, 'hurt', 'first-of-hurt');
  await kills(store, 'worn', 'first-of-worn');
  await kills(store, 'worn', 'second-of-worn');
  for (const name of ['alder', 'birch', 'cedar', 'dogwood']) await store.register(birthOf(name));
  const given = [
    await giveTo(store, podOf('alder'), 'fresh'),
    await giveTo(store, podOf('birch'), 'hurt'),
    await giveTo(store, podOf('birch'), 'worn', 'suspect'),
    await giveTo(store, podOf('cedar'), 'unwanted'),
    await giveTo(store, podOf('dogwood'), 'left'),
  ];
  expect(given.map(({ length }) => length)).toEqual([FRESH_COUNT, 10, WORN_COUNT, 5, 10]);
  for (const { task } of given[3]!) await cancelTask(store, task, 'not wanted any more');
  await store.fence(podOf('alder'), podOf('elder'), 'proved');
  await store.fence(podOf('dogwood'), podOf('dogwood'), 'proved');
}

/** Which tasks the leaders say they have rescued, each as often as it is said. */
async function rescuedIn({ store }: Ground): Promise<string[]> {
  const sweeps = await store.list({ machine: 'recovery/sweep', countMax: 1_000 });
  return sweeps.flatMap(({ result }) => {
    const swept = JSON.parse(result ?? '{}') as Partial<Swept>;
    return (swept.pods ?? []).flatMap(({ tasks }) => tasks);
  });
}

/** Everything about tasks and dead pods that does not depend on names and times of this very run. */
async function pictureOf({ store }: Ground) {
  const all = await store.list({ countMax: 1_000 });
  const rows = all.filter(({ machine }) => !machine.startsWith('recovery/'));
  const letters = await store.list({ isDeadLetter: true, countMax: 1_000 });
  const tasks = rows.map((row) => {
    const { payload, status, outcome, epoch, crashes, claims, generation } = row;
    const { waitFor, control, error, retryCount, claimedBy, result } = row;
    const ownState = { waitFor, control, error, retryCount, claimedBy, result };
    return { payload, status, outcome, epoch, crashes, claims, generation, ...ownState };
  });
  const pods = (await store.pods()).filter(({ name }) => !/^(leader|peer)-/.test(name));
  return {
    tasks: tasks.sort((one, other) => (one.payload! < other.payload! ? -1 : 1)),
    deadLetters: letters.map(({ payload }) => payload).sort(),
    pods: pods.map(({ name, status }) => `${name} ${status}`).sort(),
    violations: await store.violations(),
  };
}

async function startLeaders(ground: Ground, count: number): Promise<PodProcess[]> {
  const meets = { place: join(ground.newDisk(), 'meeting'), count };
  const names = Array.from({ length: count }, (_, n) => `leader-${n}`);
  const leaders = await mapAtOnce(names, 2, async (name) => {
    const leader = ground.start({ name, isForced: true, meets, ...TIMES });
    await leader.says(/ready/, READY_MS_MAX);
    return leader;
  });
  for (let n = count; n < PEER_COUNT; n++) await bystander(ground.store, `peer-${n}`);
  return leaders;
}

async function sweptBy(ground: Ground, leaders: readonly PodProcess[]) {
  await wreck(ground.store);
  const before = await pictureOf(ground);
  // Void unless each of them was about to take, and to fence, before the first one did.
  await Promise.all(leaders.map((leader) => leader.says(/met at take/)));
  await Promise.all(leaders.map((leader) => leader.says(/met at fence/)));
  const isOver = async () =>
    (await ground.store.pods()).every(({ name, status }) =>
      /^(leader|peer)-/.test(name) ? status === 'up' : status === 'down',
    );
  await ground.until('every dead pod is down, and nobody else', isOver);
  const after = await pictureOf(ground);
  const isSaid = async () => (await rescuedIn(ground)).length >= after.tasks.length;
  await ground.until('the leaders have said whom they rescued', isSaid);
  await sleep(3 * TIMES.heartbeatMs);
  expect(await pictureOf(ground), 'the same a while later').toEqual(after);
  expect(await isOver()).toBe(true);
  const rescued = await rescuedIn(ground);
  expect(rescued.length, 'nobody was rescued twice').toBe(new Set(rescued).size);
  return { before, after };
}

test('two and ten leaders that sweep at the same moment come to what one comes to', async () => {
  const counts = [1, 2, 10];
  const grounds = await Promise.all(counts.map(() => newGround()));
  const fleets: { readonly ground: Ground; readonly leaders: PodProcess[] }[] = [];
  for (const [index, ground] of grounds.entries()) {
    fleets.push({ ground, leaders: await startLeaders(ground, counts[index]!) });
  }
  const swept = await Promise.all(fleets.map(({ ground, leaders }) => sweptBy(ground, leaders)));
  const [one, two, ten] = swept;
  expect(two!.before).toEqual(one!.before);
  expect(ten!.before).toEqual(one!.before);
  expect(two!.after).toEqual(one!.after);
  expect(ten!.after).toEqual(one!.after);

  const { before, after } = one!;
  expect(after.violations).toEqual([]);
  expect(after.tasks.map(({ epoch }) => epoch)).toEqual(before.tasks.map(({ epoch }) => epoch + 1));
  expect(after.deadLetters).toHaveLength(WORN_COUNT);
  const became = (kind: string) =>
    new Set(
      after.tasks
        .filter(({ payload }) => payload!.startsWith(`"${kind} `))
        .map(({ status, outcome, crashes }) => `${status} ${outcome ?? '-'} ${crashes}`),
    );
  expect(became('fresh')).toEqual(new Set(['pending - 1']));
  expect(became('hurt')).toEqual(new Set(['pending - 2']));
  expect(became('worn')).toEqual(new Set(['failed crashLoop 3']));
  expect(became('unwanted')).toEqual(new Set(['cancelled cancelled 1']));
  expect(became('left')).toEqual(new Set(['pending - 0']));
}, 180_000);

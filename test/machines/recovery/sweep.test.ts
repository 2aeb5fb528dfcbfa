/** The sweep: any number of them, killed anywhere, comes to the same as one. */
import { afterEach, expect, test } from 'vitest';
import type { Recovery } from '../../../src/fleet/index.ts';
import type { Fleet } from '../../../src/index.ts';
import { MemoryStore, MemoryTables } from '../../../src/store/index.ts';
import { newTask } from '../../store/factories.ts';
import { birthOf, claimRequest, podOf } from '../../store/harness.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { crashImage, useTempDirs } from '../../support/temp-dir.ts';
import { type ForcedLeader, forceLeader, SILENT_MS } from './forced-leaders.ts';

const newDir = useTempDirs();
const fleets: Fleet[] = [];
afterEach(() => {
  for (const fleet of fleets.splice(0)) fleet.stopNow();
});

const DEAD = ['alder', 'birch', 'cedar'];

/** One of them holds more than one batch takes. */
function taskCount(pod: string): number {
  return pod === 'pod-birch' ? 520 : 21;
}

/** Three pods that fell silent with tasks of every kind in hand, one that left on purpose, six that live. */
async function newScene() {
  const clock = new FakeClock();
  // The store's time stands still, so that those who live do not have to beat.
  const storeClock = new FakeClock();
  const tables = new MemoryTables({ clock: storeClock, random: seededRandom(3) });
  const store = new MemoryStore(tables);
  for (const name of [...DEAD, 'willing']) {
    await store.register(birthOf(name));
    const countMax = taskCount(`pod-${name}`);
    await store.enqueue(Array.from({ length: countMax }, () => newTask()));
    await store.claim(claimRequest(podOf(name), { countMax }));
  }
  const tasks = [...tables.tasks.values()];
  tasks.forEach((task, index) => {
    if (index % 7 === 0) task.crashes = 2;
    if (index % 7 === 1) task.crashes = 1;
    if (index % 7 === 2) task.control = 'cancel';
  });
  await store.fence(podOf('willing'), podOf('willing'), 'proved');
  storeClock.pass(SILENT_MS + 1);
  for (let live = 0; live < 6; live++) await store.register(birthOf(`live-${live}`));
  return { clock, tables, store };
}

/** What has become of everything, but for what is spread by chance. */
function picture(tables: MemoryTables): object {
  const tasks = [...tables.tasks.values()].map((task) => ({
    ...task,
    taskId: 0,
    runAt: 0,
    lastUpdate: 0,
    finishedAt: task.finishedAt !== undefined,
    createdAt: 0,
  }));
  const pods = [...tables.pods.values()].map(({ podId, status }) => ({ podId, status }));
  return { tasks, pods };
}

async function sweptBy(count: number): Promise<object> {
  const { clock, tables, store } = await newScene();
  const leaders: ForcedLeader[] = [];
  for (let seed = 1; seed <= count; seed++) {
    leaders.push(await forceLeader(tables, clock, newDir(), seed));
    fleets.push(leaders.at(-1)!.fleet);
  }
  await Promise.all(leaders.map((leader) => leader.sweep()));
  expect(await store.violations()).toEqual([]);
  return picture(tables);
}

test('I24, I26: two and ten forced leaders come to the same as one', async () => {
  const one = await sweptBy(1);
  expect(one).toMatchObject({
    pods: expect.arrayContaining([{ podId: 'pod-alder', status: 'down' }]),
  });
  expect(await sweptBy(2)).toEqual(one);
  expect(await sweptBy(10)).toEqual(one);
});

test('I24: a second sweep of the same changes nothing', async () => {
  const { clock, tables } = await newScene();
  const leader = await forceLeader(tables, clock, newDir(), 1);
  fleets.push(leader.fleet);
  await leader.sweep();
  const once = picture(tables);
  await leader.sweep();
  expect(picture(tables)).toEqual(once);
});

test('the sweep gives each task what it has earned: requeued, failed at the third crash, cancelled', async () => {
  const { clock, tables } = await newScene();
  const leader = await forceLeader(tables, clock, newDir(), 1);
  fleets.push(leader.fleet);
  const swept = (await leader.sweep()) as {
    readonly pods: readonly { pod: string; requeued: number; failed: number; cancelled: number }[];
  };
  expect(swept.pods.map(({ pod }) => pod).sort()).toEqual(
    [...DEAD, 'willing'].map((name) => `pod-${name}`).sort(),
  );
  for (const { pod, requeued, failed, cancelled } of swept.pods) {
    expect(requeued + failed + cancelled).toBe(taskCount(pod));
    // Whoever left on purpose has crashed nothing.
    if (pod === 'pod-willing') expect(failed).toBe(0);
    else expect(failed).toBeGreaterThan(1);
  }
});

test('a pod that cannot be swept does not keep the sweep from the others', async () => {
  const { clock, tables, store } = await newScene();
  const leader = await forceLeader(tables, clock, newDir(), 1, (recovery) => ({
    ...recovery,
    take: async (pod, countsCrash) => {
      if (pod === 'pod-alder') throw new Error('interval out of range');
      return recovery.take(pod, countsCrash);
    },
  }));
  fleets.push(leader.fleet);
  const swept = (await leader.sweep()) as { pods: readonly { pod: string; error?: string }[] };
  const errors = swept.pods.flatMap(({ pod, error }) =>
    error === undefined ? [] : [[pod, error]],
  );
  expect(errors).toEqual([['pod-alder', 'interval out of range']]);
  for (const name of ['birch', 'cedar']) {
    expect(await store.held(podOf(name), '', 1)).toEqual([]);
    expect(tables.pods.get(podOf(name))?.status).toBe('down');
  }
  // Fenced, and left to the next sweep with all that it held.
  expect(tables.pods.get(podOf('alder'))?.status).toBe('dead');
  expect(await store.held(podOf('alder'), '', 99)).toHaveLength(taskCount('pod-alder'));
});

test('a sweep that can sweep nobody fails, and says why', async () => {
  const { clock, tables } = await newScene();
  const leader = await forceLeader(tables, clock, newDir(), 1, (recovery) => ({
    ...recovery,
    take: async () => {
      throw new Error('the store is away');
    },
  }));
  fleets.push(leader.fleet);
  const sweeping = expect(leader.sweep()).rejects.toThrow('the store is away');
  await clock.advance(600_000);
  await sweeping;
});

/** Everything a sweep asks of the fleet, in order: each may be where its process dies. */
const CALLS = ['worklist', 'fence', 'take', 'holdsAny', 'retire'] as const;

test.each(
  CALLS.flatMap((call) => (['before', 'after'] as const).map((when) => [when, call] as const)),
)(
  'a sweep that dies %s %s leaves nothing that the next one does not put right',
  async (when, call) => {
    const smooth = await sweptBy(1);
    const { clock, tables } = await newScene();
    for (let nth = 1; nth <= 3; nth++) {
      const dataDir = newDir();
      let count = 0;
      let image: string | undefined;
      const dying = (recovery: Recovery): Recovery => ({
        ...recovery,
        [call]: async (...given: never[]) => {
          const isHere = ++count === nth;
          const die = () => {
            image = crashImage(dataDir, newDir());
            return new Promise<never>(() => undefined);
          };
          if (isHere && when === 'before') return die();
          const answer = await (recovery[call] as (...given: never[]) => unknown)(...given);
          return isHere ? die() : answer;
        },
      });
      const leader = await forceLeader(tables, clock, dataDir, nth, dying);
      fleets.push(leader.fleet);
      const swept = leader.sweep().catch(() => undefined);
      for (let turn = 0; turn < 2_000 && image === undefined; turn++) await clock.settle();
      leader.fleet.stopNow();
      await swept;
      if (image === undefined) break;
      // The same disk comes back: its sweep goes on by itself.
      const again = await forceLeader(tables, clock, image, nth + 100);
      fleets.push(again.fleet);
      for (const { id } of again.fleet.runs({ status: 'unfinished', countMax: 9 })) {
        const done = again.fleet.runById(id).result();
        done.catch(() => undefined);
        for (let turn = 0; turn < 20; turn++) await clock.advance(500);
        await done;
      }
    }
    const last = await forceLeader(tables, clock, newDir(), 999);
    fleets.push(last.fleet);
    await last.sweep();
    expect(picture(tables)).toEqual(smooth);
  },
);

type Told = readonly { readonly pod: string; readonly tasks: string[]; readonly error?: string }[];

test('what was rescued is told, though none of the dead could be swept to the end', async () => {
  const { clock, tables, store } = await newScene();
  const asked = new Set<string>();
  const leader = await forceLeader(tables, clock, newDir(), 1, (recovery) => ({
    ...recovery,
    take: async (pod, countsCrash) => {
      if (asked.has(pod)) throw new Error('the store is away');
      asked.add(pod);
      return recovery.take(pod, countsCrash);
    },
  }));
  fleets.push(leader.fleet);
  const { pods } = (await leader.sweep()) as { pods: Told };
  expect(new Set(pods.map(({ error }) => error))).toEqual(new Set(['the store is away']));
  const left = (await store.held(podOf('birch'), '', 999)).length;
  expect(left).toBeGreaterThan(0);
  expect(pods.flatMap(({ tasks }) => tasks)).toHaveLength(520 + 3 * 21 - left);
});

test('a pod whose tasks another sweep has under its hands is left to that one, and is no failure', async () => {
  const { clock, tables } = await newScene();
  const leader = await forceLeader(tables, clock, newDir(), 1, (recovery) => ({
    ...recovery,
    take: async (pod, countsCrash) => (pod === 'pod-alder' ? [] : recovery.take(pod, countsCrash)),
  }));
  fleets.push(leader.fleet);
  const { pods } = (await leader.sweep()) as { pods: Told };
  const told = pods.map(({ pod, tasks, error }) => [pod, tasks.length, error]);
  expect(told).toContainEqual(['pod-alder', 0, 'others are at its tasks']);
  expect(told).toContainEqual(['pod-birch', 520, undefined]);
  expect(tables.pods.get(podOf('alder'))?.status).toBe('dead');
});

/** Feeding the engine: how much is asked for, how often, and what stops it. */
import { expect, test } from 'vitest';
import { Claimer } from '../../src/fleet/claimer.ts';
import type { ClaimedTask, ClaimRequest } from '../../src/store/index.ts';
import { podOf } from '../store/harness.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';

function newScene(options: { capacity?: number; idlePollMs?: number } = {}) {
  const { capacity = 100, idlePollMs = 1_000 } = options;
  const clock = new FakeClock();
  const asked: { readonly countMax: number; readonly atMs: number }[] = [];
  const accepted: string[] = [];
  const scene = {
    clock,
    asked,
    accepted,
    /** How many are ready. */
    ready: 0,
    room: capacity,
    /** How often it looked whether there is room. */
    looks: 0,
    answer: undefined as Promise<void> | undefined,
    error: undefined as Error | undefined,
    claimer: undefined as unknown as Claimer,
  };
  scene.claimer = new Claimer({
    store: {
      claim: async ({ countMax }: ClaimRequest) => {
        asked.push({ countMax, atMs: clock.monotonicMs() });
        await scene.answer;
        if (scene.error) throw scene.error;
        const count = Math.min(countMax, scene.ready);
        scene.ready -= count;
        return Array.from(
          { length: count },
          (_, n) => ({ task: `t${n}` }) as unknown as ClaimedTask,
        );
      },
    },
    clock,
    random: seededRandom(1),
    idlePollMs,
    request: () => ({ pod: podOf('alder'), routes: ['x@1'], journal: 'j', head: 'ready' }),
    room: () => {
      scene.looks++;
      return scene.room;
    },
    capacity: () => capacity,
    accept: async (tasks) => {
      accepted.push(...tasks.map(({ task }) => task));
      scene.room -= tasks.length;
    },
  });
  return scene;
}

test('it asks for what its capacity leaves, and again at once where it got all of it', async () => {
  const scene = newScene();
  scene.ready = 30;
  scene.room = 20;
  scene.claimer.start();
  await scene.clock.advance(0);
  expect(scene.asked.map(({ countMax }) => countMax)).toEqual([20]);
  expect(scene.accepted).toHaveLength(20);
  scene.room = 40;
  scene.claimer.roomed();
  await scene.clock.advance(10);
  expect(scene.accepted).toHaveLength(30);
});

test('one statement never asks for more than 500', async () => {
  const scene = newScene({ capacity: 5_000 });
  scene.claimer.start();
  await scene.clock.advance(0);
  expect(scene.asked[0]!.countMax).toBe(500);
});

test('without room it asks for nothing', async () => {
  const scene = newScene();
  scene.room = 0;
  scene.ready = 5;
  scene.claimer.start();
  await scene.clock.advance(1_000);
  expect(scene.asked).toEqual([]);
});

test('without room it waits to be told of some, and does not look meanwhile', async () => {
  const scene = newScene();
  scene.room = 0;
  scene.ready = 5;
  scene.claimer.start();
  await scene.clock.advance(0);
  const looks = scene.looks;
  await scene.clock.advance(999);
  expect(scene.looks).toBe(looks);
  scene.claimer.roomed();
  await scene.clock.advance(10);
  expect(scene.asked).toEqual([]);
  scene.room = 2;
  scene.claimer.roomed();
  scene.room = 3;
  scene.claimer.roomed();
  await scene.clock.advance(5);
  expect(scene.asked.map(({ countMax }) => countMax)).toEqual([3]);
});

test('room that nobody told of is found within a second', async () => {
  const scene = newScene();
  scene.room = 0;
  scene.ready = 5;
  scene.claimer.start();
  await scene.clock.advance(10);
  scene.room = 1;
  await scene.clock.advance(1_000);
  expect(scene.accepted).toHaveLength(1);
});

test('an idle one goes down the ladder to about once a second', async () => {
  const scene = newScene();
  scene.claimer.start();
  await scene.clock.advance(10_000);
  const gaps = scene.asked.slice(1).map(({ atMs }, index) => atMs - scene.asked[index]!.atMs);
  expect(gaps[0]).toBe(50);
  expect(gaps[1]).toBeGreaterThanOrEqual(100);
  expect(gaps.slice(4).every((ms) => ms >= 850 && ms <= 1_001)).toBe(true);
  expect(scene.asked.length).toBeLessThan(16);
});

test('a store that fails is asked at the pace of the ladder, not in a spin', async () => {
  const scene = newScene();
  scene.error = new Error('away');
  scene.claimer.start();
  await scene.clock.advance(10_000);
  expect(scene.asked.length).toBeLessThan(16);
  scene.error = undefined;
  scene.ready = 1;
  await scene.clock.advance(1_100);
  expect(scene.accepted).toHaveLength(1);
});

test('a hint makes it look at once, and one that comes during a look is not lost', async () => {
  const scene = newScene();
  scene.claimer.start();
  await scene.clock.advance(10_000);
  const before = scene.asked.length;
  scene.claimer.hint();
  await scene.clock.advance(0);
  expect(scene.asked.length).toBe(before + 1);
  const answer = gate();
  scene.answer = answer.opened;
  scene.claimer.hint();
  await scene.clock.advance(0);
  scene.claimer.hint();
  scene.answer = undefined;
  answer.open();
  await scene.clock.advance(10);
  expect(scene.asked.length).toBe(before + 3);
});

test('a few free places right after a claim are not worth a statement of their own', async () => {
  const scene = newScene();
  scene.ready = 1_000;
  scene.claimer.start();
  await scene.clock.advance(0);
  scene.room = 3;
  scene.claimer.roomed();
  await scene.clock.advance(30);
  expect(scene.asked).toHaveLength(1);
  await scene.clock.advance(30);
  expect(scene.asked[1]!.countMax).toBe(3);
});

test('stop waits for the claim that is on its way, whose tasks are taken in', async () => {
  const scene = newScene();
  scene.ready = 2;
  const answer = gate();
  scene.answer = answer.opened;
  scene.claimer.start();
  await scene.clock.advance(0);
  let isStopped = false;
  const stopped = scene.claimer.stop().then(() => {
    isStopped = true;
  });
  await scene.clock.settle();
  expect(isStopped).toBe(false);
  answer.open();
  await stopped;
  expect(scene.accepted).toHaveLength(2);
  scene.ready = 5;
  await scene.clock.advance(5_000);
  expect(scene.asked).toHaveLength(1);
});

test('nothing is claimed while something is done exclusively, and everything goes on after it', async () => {
  const scene = newScene();
  const answer = gate();
  scene.answer = answer.opened;
  scene.claimer.start();
  await scene.clock.advance(0);
  const order: string[] = [];
  const inside = gate();
  const done = scene.claimer.exclusively(async () => {
    order.push(`begun after ${scene.asked.length}`);
    await inside.opened;
    order.push(`ended after ${scene.asked.length}`);
  });
  await scene.clock.settle();
  expect(order).toEqual([]);
  scene.answer = undefined;
  answer.open();
  await scene.clock.advance(5_000);
  expect(order).toEqual(['begun after 1']);
  inside.open();
  await done;
  await scene.clock.advance(0);
  expect(order).toEqual(['begun after 1', 'ended after 1']);
  expect(scene.asked.length).toBeGreaterThan(1);
});

test('room that comes while something is done exclusively is claimed for after it', async () => {
  const scene = newScene();
  scene.room = 0;
  scene.ready = 5;
  scene.claimer.start();
  await scene.clock.advance(10);
  const act = gate();
  const acting = scene.claimer.exclusively(() => act.opened);
  await scene.clock.settle();
  scene.room = 5;
  scene.claimer.roomed();
  await scene.clock.advance(100);
  expect(scene.asked).toEqual([]);
  act.open();
  await acting;
  await scene.clock.advance(10);
  expect(scene.accepted).toHaveLength(5);
});

/** As an idle pod is: at the top of its ladder, and just after a look. */
async function idleScene() {
  const scene = newScene();
  scene.claimer.start();
  await scene.clock.advance(10_000);
  const looks = scene.asked.length;
  await scene.clock.advance(1_000);
  while (scene.asked.length === looks) await scene.clock.advance(1);
  return scene;
}

test('a notification that calls this pod later makes it look then, and one that does not, never', async () => {
  const scene = await idleScene();
  const before = scene.asked.length;
  scene.claimer.notified(undefined);
  await scene.clock.advance(200);
  expect(scene.asked.length).toBe(before);
  scene.claimer.notified(30);
  await scene.clock.advance(29);
  expect(scene.asked.length).toBe(before);
  await scene.clock.advance(1);
  expect(scene.asked.length).toBe(before + 1);
});

test('a look of this pod is enough for what it was to look for later', async () => {
  const scene = await idleScene();
  const before = scene.asked.length;
  scene.claimer.notified(30);
  scene.claimer.notified(0);
  await scene.clock.advance(100);
  expect(scene.asked.length).toBe(before + 1);
});

test('a notification during a look is followed by another look at once, and not by the ladder', async () => {
  const scene = await idleScene();
  const answer = gate();
  scene.answer = answer.opened;
  scene.claimer.notified(0);
  await scene.clock.advance(6);
  const before = scene.asked.length;
  scene.claimer.notified(0);
  scene.answer = undefined;
  answer.open();
  await scene.clock.advance(0);
  expect(scene.asked.length).toBe(before + 1);
});

test('of what is notified in one turn of the loop one look is made, before any timer', async () => {
  const scene = await idleScene();
  const before = scene.asked.length;
  for (let n = 0; n < 5; n++) scene.claimer.notified(0);
  await scene.clock.settle();
  expect(scene.asked.length).toBe(before + 1);
});

test('what a notification brought sends no pod down its ladder again, what came without one does', async () => {
  const scene = await idleScene();
  scene.ready = 1;
  scene.claimer.notified(0);
  await scene.clock.advance(0);
  const before = scene.asked.length;
  await scene.clock.advance(800);
  expect(scene.asked.length).toBe(before);
  scene.ready = 1;
  while (scene.accepted.length < 2) await scene.clock.advance(1);
  const found = scene.asked.length;
  await scene.clock.advance(60);
  expect(scene.asked.length).toBe(found + 1);
});

test('a notification that calls every pod sends it to the foot of its ladder', async () => {
  const scene = await idleScene();
  scene.claimer.hint();
  await scene.clock.advance(0);
  const before = scene.asked.length;
  await scene.clock.advance(50);
  expect(scene.asked.length).toBe(before + 1);
});

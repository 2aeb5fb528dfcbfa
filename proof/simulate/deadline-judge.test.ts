/** What the judge of deadlines says of fleets that are late for a reason, and of one that is just late. */
import { expect, test } from 'vitest';
import { MemoryStore } from '../../src/store/index.ts';
import type { ClaimRequest } from '../../src/store/tasks.ts';
import { birthOf, claimRequest, newTask, podOf } from '../../test/store/factories.ts';
import { DeadlineJudge } from './deadline-judge.ts';
import { limitedPlan } from './limited-shapes.ts';
import { BEGIN_MS, Process } from './process.ts';
import { World } from './world.ts';

const HOUR_MS = 3_600_000;
const limitMs = limitedPlan('restless')!.runTimeoutMs!;
/** In this one the clock of the store is left alone. */
const SEED = 1;

async function newScene() {
  const world = new World({ seed: SEED });
  const judge = new DeadlineJudge(world);
  const given = newTask({ machine: 'restless', deadlineMs: limitMs });
  const store = new MemoryStore(world.tables);
  await store.enqueue([given]);
  await store.register(birthOf('alder'));
  judge.given(given.id, 'enqueued');
  const task = world.tables.tasks.get(given.id)!;
  return { world, judge, task };
}

const asked = claimRequest(podOf('alder'), { countMax: 3, routes: ['restless@1'] });
const newer: ClaimRequest = { ...asked, routes: ['restless@2'] };
const nobody: ClaimRequest = { ...asked, pod: podOf('birch') };

test.each([
  ['is late where somebody had room for it', asked, 2, /ended 40000 ms after it/],
  ['has waited for its turn where nobody had room', asked, 3, undefined],
  ['has waited for its turn where only newer code had room', newer, 2, undefined],
  ['has waited for its turn where only the dead had room', nobody, 2, undefined],
])('what ends long after its deadline %s', async (_, request, got, fault) => {
  const { world, judge, task } = await newScene();
  await world.schedule.run(limitMs + 10_000);
  judge.answered(request, got);
  task.status = 'failed';
  task.finishedAt = BEGIN_MS + limitMs + 50_000;
  judge.ended(task, 0);
  if (fault) expect(world.violations).toEqual([expect.stringMatching(fault)]);
  else expect(world.violations).toEqual([]);
});

test('whoever holds a task has the time it was told of, where the clock of the store was set back since', async () => {
  const { world, judge, task } = await newScene();
  Object.assign(task, { status: 'claimed', claimEpoch: 1 });
  judge.claimed(task);
  expect(judge.isFarOff(task)).toBe(false);
  world.setStoreClock(-HOUR_MS);
  Object.assign(task, { claimEpoch: 3 });
  judge.claimed(task);
  expect(judge.isFarOff(task)).toBe(true);
  // Who gives it back, or loses it, is told anew.
  expect(judge.isFarOff({ ...task, status: 'pending' })).toBe(false);
  expect(judge.isFarOff({ ...task, claimEpoch: 5 })).toBe(false);
});

test('what was let go of by a clock that was set may have been woken before its time', async () => {
  const { world, judge, task } = await newScene();
  const process = new Process(world.schedule, 'alder', SEED);
  const given = [{ task: task.taskId }];
  judge.left(process, given);
  expect(judge.isSettled(task.taskId)).toBe(true);
  process.skewMs = HOUR_MS;
  judge.left(process, given);
  expect(judge.isSettled(task.taskId)).toBe(false);
});

/** Retention goes on until nothing is left that is old enough, and says when it is late. */
import { expect, test } from 'vitest';
import { Leader } from '../../src/fleet/leader.ts';
import type { Life } from '../../src/fleet/life.ts';
import type { RunId } from '../../src/ground/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { onlyWork, Script } from './script.ts';
import { STEADY_MS, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('more than a batch of ended tasks goes in one turn, and a report tells when it is late', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, store, tables, startPod, row } = startFleet();
  const { fleet } = await startPod('alder', {
    machines: [machine],
    around: script.around,
    retention: '1h',
  });
  await clock.advance(STEADY_MS);
  const { id } = await fleet.enqueue(machine, {});
  await clock.advance(MINUTE);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  // As many as a fleet leaves that was without a leader for a while.
  const like = tables.tasks.get(id)!;
  for (let n = 0; n < 2_500; n++) {
    const taskId = `${String(n).padStart(4, '0')}${like.taskId.slice(4)}` as RunId;
    tables.tasks.set(taskId, { ...like, taskId, finishedAt: like.finishedAt! - 3 * HOUR });
  }
  const report = async () => (await store.pods()).map(({ report: told }) => told);
  await clock.advance(MINUTE);
  expect(await report()).toMatchObject([{ retentionLateMs: expect.any(Number) }]);
  await clock.advance(10 * MINUTE);
  expect(tables.tasks.size).toBeLessThan(100);
  expect((await report())[0]).not.toHaveProperty('retentionLateMs');
});

test('the leader starts a chore again at once where its run has left something to do', async () => {
  const clock = new FakeClock();
  let runs = 0;
  const leader = new Leader({
    clock,
    begin: async () => undefined,
    hasWork: async (chore) => chore === 'recovery/retention',
    run: async () => ++runs < 3,
    reconcileMs: 30_000,
    retentionMs: 600_000,
  });
  const watch = {
    leader: 'alder',
    fleet: [],
    isSteady: () => true,
    silent: () => [],
    nextSilenceMs: () => undefined,
  };
  const life = { id: 'alder', watch, isDraining: false, isDead: false, isCurrent: () => true };
  leader.look(life as unknown as Life);
  await clock.advance(1);
  expect(runs).toBe(3);
  leader.stop();
});

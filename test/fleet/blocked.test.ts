/** Tasks that no pod which is up can go on with: computed from who is there, counted by the leader. */
import { expect, test } from 'vitest';
import { blockedCount, isBlocked, LiveRoutes, whyBlocked } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { openMetrics } from '../../src/telemetry/metrics/index.ts';
import { newer, Script, twoSteps } from './script.ts';
import { useTestFleets, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();
const EVERY_MS = 16_000;

test('the leader counts what is blocked, and it ends when a pod with that route appears', async () => {
  const script = new Script();
  const old = twoSteps(script);
  const { clock, store, startPod, row } = startFleet();
  const options = { machines: [old], around: script.around } as const;
  const first = await startPod('alder', options);
  first.wire.isBusyFor.set('claim', 1_000);
  const { id } = await first.fleet.enqueue(old, {});
  const later = await first.fleet.enqueue(old, {}, { runAt: '1h' });
  await whileAdvancing(clock, first.fleet.drain());

  const refuses = { 1: () => null };
  const machines = [newer(script, { steps: ['x'], upgrade: refuses })];
  const second = await startPod('birch', { ...options, machines });
  await clock.advance(5_000);
  const live = async () => new LiveRoutes(await store.pods());
  const isBlockedNow = async (task: string) => isBlocked(await live(), await row(task));
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version' });
  expect([await isBlockedNow(id), await isBlockedNow(later.id)]).toEqual([true, false]);
  await clock.advance(EVERY_MS);
  expect(second.fleet.status.pod).toMatchObject({ pod: second.id, leader: second.id, blocked: 1 });
  const metrics = openMetrics({ fleet: () => second.fleet, clock });
  expect((await metrics.text()).text).toMatch(/^fleetq_tasks_blocked 1$/m);
  metrics.stop();
  const other = await startPod('cedar', { ...options, machines });
  await clock.advance(EVERY_MS);
  expect(other.fleet.status.pod?.blocked, 'only the leader tells').toBeUndefined();

  await startPod('dogwood', options);
  expect(await isBlockedNow(id)).toBe(false);
  await clock.advance(EVERY_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', version: 1 });
  expect(second.fleet.status.pod).toMatchObject({ blocked: 0 });
});

test('a machine that no pod has any more, in no version, is blocked; one that is being taken over is not', async () => {
  const up = (...routes: string[]) => new LiveRoutes([{ status: 'up', routes }]);
  const none = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };
  const tally = {
    ...none,
    route: 'a@2',
    machine: 'a',
    version: 2,
    pending: 5,
    waiting: 3,
    pinned: 2,
  };
  expect(blockedCount(up('b@1'), tally)).toBe(6);
  expect(blockedCount(up('a@1'), tally), 'no run goes back').toBe(6);
  expect(blockedCount(up('a@3'), tally), 'somebody will look at them').toBe(0);
  expect(blockedCount(up('a@3'), { ...tally, shelved: 2, suspect: 1 })).toBe(3);
  expect(blockedCount(up('a@2', 'a@3'), { ...tally, shelved: 2, suspect: 1 })).toBe(0);
  expect(blockedCount(new LiveRoutes([]), tally), 'nobody is there at all').toBe(0);
  const draining = new LiveRoutes([
    { status: 'draining', routes: ['a@2'] },
    { status: 'up', routes: ['b@1'] },
  ]);
  expect(blockedCount(draining, tally), 'whoever drains claims nothing').toBe(6);
  expect(whyBlocked(up('a@1'), tally)).toContain('a@1 is older');
  expect(whyBlocked(up('b@1'), tally)).toContain('or another version of a');
  expect(whyBlocked(up('a@3'), tally)).toContain('give a@3 an upgrade from version 2');
});

test('a run of a host that nobody here can go on with is counted by its process', async () => {
  const script = new Script();
  const old = twoSteps(script);
  const { clock, startPod } = startFleet();
  const first = await startPod('alder', { machines: [old], around: script.around });
  script.holds.set('a.work', new Promise(() => undefined));
  const { id } = await first.fleet.startLocal(old, {});
  await clock.advance(1_000);
  const second = await startPod('alder', { machines: [], dataDir: first.crash() });
  expect(second.fleet.describe(id as RunId)).toMatchObject({ status: 'blocked' });
  expect(second.fleet.status.blocked).toBe(1);
});

/** I26, I44: a leader that cannot act stops no recovery, and recovery never waits behind user work. */
import { afterEach, expect, test, vi } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { never } from '../support/fleets.ts';
import { onlyWork, Script } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
afterEach(() => vi.restoreAllMocks());

const NAMES = ['alder', 'birch', 'cedar', 'dogwood', 'elm', 'fir', 'gorse', 'hazel', 'ivy'];

/** Of which the youngest dies. */
async function somePods(count = 3, slots = 40) {
  const script = new Script();
  const machine = onlyWork(script);
  const fleet = startFleet();
  const pods: TestPod[] = [];
  for (const name of NAMES.slice(0, count)) {
    const options = { machines: [machine], around: script.around, slots };
    pods.push(await fleet.startPod(name, options));
    await fleet.clock.advance(10);
  }
  await fleet.clock.advance(STEADY_MS);
  return { script, machine, ...fleet, pods };
}

/** The youngest dies with a task; answers how long it takes until that is done elsewhere. */
async function msUntilRescued(
  { script, machine, pods, clock, row }: Awaited<ReturnType<typeof somePods>>,
  alsoDying: readonly TestPod[] = [],
): Promise<number> {
  const victim = pods.at(-1)!;
  const held = script.holds.get('main.work');
  script.holds.set('main.work', never());
  const ids: string[] = [];
  while (!(await Promise.all(ids.map(row))).some(({ claimedBy }) => claimedBy === victim.id)) {
    ids.push((await victim.fleet.enqueue(machine, {})).id);
    await clock.advance(100);
  }
  const rows = await Promise.all(ids.map(row));
  const { id } = rows.find(({ claimedBy }) => claimedBy === victim.id)!;
  for (const pod of [...alsoDying, victim]) pod.crash();
  if (held) script.holds.set('main.work', held);
  else script.holds.clear();
  const begunMs = clock.monotonicMs();
  while ((await row(id)).claimedBy === victim.id && clock.monotonicMs() - begunMs < 300_000) {
    await clock.advance(100);
  }
  return clock.monotonicMs() - begunMs;
}

/** All journals take records, but this one. */
function stall(pod: TestPod): void {
  const full = Object.assign(new Error('no space'), { code: 'SQLITE_FULL' });
  const { journal } = pod.fleet.status;
  vi.spyOn(SqliteJournal.prototype, 'stalledBy', 'get').mockImplementation(function (
    this: SqliteJournal,
  ) {
    return this.id === journal ? full : undefined;
  });
}

/** They beat and lead, and none of their sweeps can begin. */
function leaveUnswept(pods: readonly TestPod[]): void {
  const startRun = Engine.prototype.startRun;
  vi.spyOn(Engine.prototype, 'startRun').mockImplementation(function (this: Engine, ...given) {
    const { pod } = (given[1] ?? {}) as { pod?: string };
    const isOne = pods.some(({ id }) => id === pod);
    return isOne ? Promise.reject(new Error('it cannot')) : startRun.apply(this, given);
  });
}

test('a leader whose disk is full does not lead: the next pod sweeps', async () => {
  const scene = await somePods();
  const [alder, birch] = scene.pods;
  stall(alder!);
  await scene.clock.advance(2 * HEARTBEAT_MS);
  expect(birch!.fleet.status.pod?.leader).toBe(birch!.id);
  expect(await msUntilRescued(scene)).toBeLessThan(SILENT_MS + 3 * HEARTBEAT_MS);
});

test('a leader that looks well and does not act is stood in for, one turn later', async () => {
  const scene = await somePods();
  leaveUnswept(scene.pods.slice(0, 1));
  const ms = await msUntilRescued(scene);
  expect(ms).toBeGreaterThan(SILENT_MS + 3 * HEARTBEAT_MS);
  expect(ms).toBeLessThan(2 * SILENT_MS + 5 * HEARTBEAT_MS);
});

test('a sweep waits for no slot, however long the phases of users take', async () => {
  const scene = await somePods(3, 1);
  const { script, machine, pods } = scene;
  const [alder, birch] = pods;
  script.holds.set('main.work', never());
  for (const pod of [alder!, birch!]) await pod.fleet.startLocal(machine, {});
  await scene.clock.advance(100);
  expect(alder!.fleet.status).toMatchObject({ busy: 1, slots: 1 });
  expect(await msUntilRescued(scene)).toBeLessThan(SILENT_MS + 3 * HEARTBEAT_MS);
});

test('only the first three see the whole fleet', async () => {
  const { pods } = await somePods(6);
  const seen = pods.map(({ fleet }) => fleet.status.pod?.fleet.map(({ name }) => name));
  const names = NAMES.slice(0, 6);
  for (const all of seen.slice(0, 3)) expect(all).toEqual(names);
  expect(seen.slice(3)).toEqual(names.slice(3).map((name) => ['alder', name]));
  expect(pods.map(({ fleet }) => fleet.status.pod?.leader)).toEqual(pods.map(() => pods[0]!.id));
});

test('where the first three look well and do not act, the fourth does three turns later', async () => {
  const scene = await somePods(6);
  leaveUnswept(scene.pods.slice(0, 3));
  const ms = await msUntilRescued(scene);
  const turnMs = SILENT_MS + HEARTBEAT_MS;
  expect(ms).toBeGreaterThan(SILENT_MS + 2 * turnMs);
  expect(ms).toBeLessThan(SILENT_MS + 3 * turnMs + 3 * HEARTBEAT_MS);
});

test('where the first three die at the same moment, the fourth sweeps a silence later', async () => {
  const scene = await somePods(9);
  const ms = await msUntilRescued(scene, scene.pods.slice(0, 3));
  expect(ms).toBeGreaterThan(SILENT_MS);
  expect(ms).toBeLessThan(2 * SILENT_MS + 3 * HEARTBEAT_MS);
  expect(scene.pods[7]!.fleet.status.pod?.leader).toBe(scene.pods[3]!.id);
});

test('I28: with most of the fleet gone and the first three among them, no crash is counted', async () => {
  const { script, machine, pods, clock, tables } = await somePods(9, 4);
  script.holds.set('main.work', never());
  for (let n = 0; n < 40; n++) await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(2 * HEARTBEAT_MS);
  const dying = pods.slice(0, 6);
  const held = (pod: TestPod) => tables.tasksWhere(({ claimedBy }) => claimedBy === pod.id);
  expect(dying.every((pod) => held(pod).length > 0)).toBe(true);
  for (const pod of dying) {
    pod.crash();
    await clock.advance(HEARTBEAT_MS / 10);
  }
  script.holds.clear();
  await clock.advance(3 * SILENT_MS);
  expect(dying.flatMap(held)).toEqual([]);
  expect(new Set(tables.tasksWhere(() => true).map(({ crashes }) => crashes))).toEqual(
    new Set([0]),
  );
});

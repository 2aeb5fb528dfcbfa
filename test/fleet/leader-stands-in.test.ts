/** I26, I44: a leader that cannot act stops no recovery, and recovery never waits behind user work. */
import { afterEach, expect, test, vi } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { never } from '../support/fleets.ts';
import { onlyWork, Script } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, type TestPod, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();
afterEach(() => vi.restoreAllMocks());

async function threePods(slots = 40) {
  const script = new Script();
  const machine = onlyWork(script);
  const fleet = startFleet();
  const pods: TestPod[] = [];
  for (const name of ['alder', 'birch', 'cedar']) {
    const options = { machines: [machine], around: script.around, slots };
    pods.push(await fleet.startPod(name, options));
    await fleet.clock.advance(10);
  }
  await fleet.clock.advance(STEADY_MS);
  return { script, machine, ...fleet, pods };
}

/** `cedar` dies with a task; answers how long it takes until that is done elsewhere. */
async function msUntilRescued({
  script,
  machine,
  pods,
  clock,
  row,
}: Awaited<ReturnType<typeof threePods>>): Promise<number> {
  const [, , cedar] = pods;
  const held = script.holds.get('main.work');
  script.holds.set('main.work', never());
  const ids: string[] = [];
  while (!(await Promise.all(ids.map(row))).some(({ claimedBy }) => claimedBy === cedar!.id)) {
    ids.push((await cedar!.fleet.enqueue(machine, {})).id);
    await clock.advance(100);
  }
  const rows = await Promise.all(ids.map(row));
  const { id } = rows.find(({ claimedBy }) => claimedBy === cedar!.id)!;
  cedar!.crash();
  if (held) script.holds.set('main.work', held);
  else script.holds.clear();
  const begunMs = clock.monotonicMs();
  while ((await row(id)).claimedBy === cedar!.id && clock.monotonicMs() - begunMs < 300_000) {
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

test('a leader whose disk is full does not lead: the next pod sweeps', async () => {
  const scene = await threePods();
  const [alder, birch] = scene.pods;
  stall(alder!);
  await scene.clock.advance(2 * HEARTBEAT_MS);
  expect(birch!.fleet.status.pod?.leader).toBe(birch!.id);
  expect(await msUntilRescued(scene)).toBeLessThan(SILENT_MS + 3 * HEARTBEAT_MS);
});

test('a leader that looks well and does not act is stood in for, one turn later', async () => {
  const scene = await threePods();
  const [alder] = scene.pods;
  const startRun = Engine.prototype.startRun;
  vi.spyOn(Engine.prototype, 'startRun').mockImplementation(function (this: Engine, ...given) {
    const isAlder = (given[1] as { pod?: string } | undefined)?.pod === alder!.id;
    return isAlder ? Promise.reject(new Error('it cannot')) : startRun.apply(this, given);
  });
  const ms = await msUntilRescued(scene);
  expect(ms).toBeGreaterThan(SILENT_MS + 3 * HEARTBEAT_MS);
  expect(ms).toBeLessThan(2 * SILENT_MS + 5 * HEARTBEAT_MS);
});

test('a sweep waits for no slot, however long the phases of users take', async () => {
  const scene = await threePods(1);
  const { script, machine, pods } = scene;
  const [alder, birch] = pods;
  script.holds.set('main.work', never());
  for (const pod of [alder!, birch!]) await pod.fleet.startLocal(machine, {});
  await scene.clock.advance(100);
  expect(alder!.fleet.status).toMatchObject({ busy: 1, slots: 1 });
  expect(await msUntilRescued(scene)).toBeLessThan(SILENT_MS + 3 * HEARTBEAT_MS);
});

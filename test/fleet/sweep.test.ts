/** Pods that die, seen from the others: who rescues, when, and who is left alone. */
import { expect, test } from 'vitest';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, type TestPod, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

const names = ['alder', 'birch', 'cedar'] as const;

async function threePods() {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  const pods: TestPod[] = [];
  for (const name of names) {
    pods.push(await fleet.startPod(name, options));
    await fleet.clock.advance(10);
  }
  await fleet.clock.advance(STEADY_MS);
  return { script, machine, ...fleet, options, pods };
}

const owner = (pods: readonly TestPod[]) => pods.find((pod) => pod.fleet.status.pod?.held === 1)!;

test('I26: the oldest pod leads, and the next one when it is gone', async () => {
  const { pods, clock } = await threePods();
  const leaders = () => pods.map((pod) => pod.fleet.status.pod?.leader);
  expect(new Set(leaders())).toEqual(new Set([pods[0]!.id]));
  pods[0]!.crash();
  await clock.advance(SILENT_MS + 2 * HEARTBEAT_MS);
  expect(leaders().slice(1)).toEqual([pods[1]!.id, pods[1]!.id]);
});

test('I37: a dead pod is swept the moment its silence is full, and its run goes on at the first phase without a record', async () => {
  const { script, machine, pods, clock, row, podStatus } = await threePods();
  script.holds.set('b.work', never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dead = owner(pods);
  const deadId = dead.id;
  dead.crash();
  script.holds.clear();
  await clock.advance(SILENT_MS + HEARTBEAT_MS);
  expect(await podStatus(deadId)).toBe('down');
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 2 });
  expect(script.count('a.work')).toBe(1);
  expect(script.count('b.check')).toBe(1);
  expect(script.count('b.probe')).toBe(1);
  expect(script.count('b.work')).toBe(2);
  for (const [place, keys] of script.keys) expect(keys.size, place).toBe(1);
});

test('I25: a phase that runs ten times the silence on a live pod is never swept', async () => {
  const { script, machine, pods, clock, row } = await threePods();
  script.holds.set('a.work', never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(10 * SILENT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1, claims: 1 });
  expect(script.count('a.work')).toBe(1);
});

test('I28, H7: the first pod back after an outage sweeps nobody, and neither do the others', async () => {
  const { script, machine, pods, clock, row, store } = await threePods();
  script.holds.set('a.work', never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const before = (await store.pods()).map(({ pod, status }) => ({ pod, status }));
  for (const pod of pods) pod.wire.isCut = true;
  await clock.advance(60_000);
  const first = pods.find((pod) => pod !== owner(pods))!;
  first.wire.isCut = false;
  await clock.advance(2 * SILENT_MS - HEARTBEAT_MS);
  for (const pod of pods) pod.wire.isCut = false;
  await clock.advance(3 * SILENT_MS);
  expect((await store.pods()).map(({ pod, status }) => ({ pod, status }))).toEqual(before);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1, crashes: 0 });
});

test('I28: after an outage a pod that stays away is swept all the same, a little later', async () => {
  const { script, machine, pods, clock, row, podStatus } = await threePods();
  script.holds.set('a.work', never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const lost = owner(pods);
  const lostId = lost.id;
  for (const pod of pods) pod.wire.isCut = true;
  await clock.advance(60_000);
  script.holds.clear();
  for (const pod of pods) if (pod !== lost) pod.wire.isCut = false;
  await clock.advance(2 * SILENT_MS + 3 * HEARTBEAT_MS);
  expect(await podStatus(lostId)).toBe('down');
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('I28: where more than half have fallen silent, their tasks come back and nobody is blamed', async () => {
  const { script, machine, pods, clock, row, tables } = await threePods();
  script.holds.set('a.work', never());
  for (let count = 0; count < 24; count++) await pods[2]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const orphans = [...tables.tasks.values()].filter(
    ({ claimedBy }) => claimedBy === pods[0]!.id || claimedBy === pods[1]!.id,
  );
  pods[0]!.crash();
  pods[1]!.crash();
  expect(orphans.length).toBeGreaterThan(0);
  const alarms = hear('fleet.outage');
  // Nobody picks them up again before it was looked at.
  const { store } = pods[2]!;
  store.claim = async () => [];
  await clock.advance(SILENT_MS + 4 * HEARTBEAT_MS + STEADY_MS);
  for (const { taskId } of orphans) {
    expect(await row(taskId)).toMatchObject({ status: 'pending', crashes: 0 });
    expect(tables.tasks.get(taskId)).toMatchObject({ interrupted: 'cut' });
  }
  expect(alarms, 'said aloud, and once').toEqual([{ missing: 2, pods: 3 }]);
});

test('I29: a run that kills its pods is failed after the third, and takes no fourth with it', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around } as const;
  const watcher = await startPod('watcher', { machines: [] });
  await startPod('witness', { machines: [] });
  await clock.advance(STEADY_MS);
  script.holds.set('main.work', never());
  const client = await startPod('client', { ...options, isClient: true });
  const { id } = await client.fleet.enqueue(machine, {});
  for (const crashes of [1, 2, 3]) {
    const victim = await startPod('victim', { ...options, isSuspectsOnly: crashes === 3 });
    await clock.advance(3_000);
    expect(await row(id)).toMatchObject({ status: 'claimed' });
    victim.crash();
    await clock.advance(SILENT_MS + 3 * HEARTBEAT_MS);
    expect(await row(id)).toMatchObject({ crashes });
  }
  expect(await row(id)).toMatchObject({ status: 'failed', outcome: 'crashLoop' });
  expect(script.calls).toHaveLength(3);
  expect(watcher.fleet.status.pod?.isReady).toBe(true);
});

test('I38, H1: a claim whose pod nobody knows is given back, whenever it is found', async () => {
  const { machine, pods, clock, row, tables } = await threePods();
  const { id } = await pods[0]!.fleet.enqueue(machine, {}, { runAt: '1h' });
  Object.assign(tables.tasks.get(id)!, {
    status: 'claimed',
    waitFor: undefined,
    claimedBy: 'nobody',
    claimEpoch: 1,
    runAt: clock.now(),
  });
  await clock.advance(60_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('the sweep is a run like any other: its record names the pods and the tasks', async () => {
  const { script, machine, pods, clock } = await threePods();
  script.holds.set('a.work', never());
  const { id } = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const dead = owner(pods);
  const deadId = dead.id;
  dead.crash();
  await clock.advance(SILENT_MS + 2 * HEARTBEAT_MS);
  const leader = pods.find((pod) => pod !== dead && pod.fleet.status.pod?.leader === pod.id)!;
  const sweeps = leader.fleet
    .runs({ countMax: 100 })
    .filter(({ machine: name }) => name === 'recovery/sweep')
    .map((run) => run.output as { pods: readonly { pod: string; tasks: readonly string[] }[] });
  const rescued = sweeps.flatMap((sweep) => sweep?.pods ?? []);
  expect(rescued).toMatchObject([{ pod: deadId, tasks: [id], requeued: 1 }]);
});

test('a pod that leads and is cut off sweeps nobody', async () => {
  const { pods, clock, store } = await threePods();
  const failed = hear('recovery.failed');
  pods[0]!.wire.isCut = true;
  await clock.advance(10 * SILENT_MS);
  const swept = (await store.pods()).filter(({ deadBy }) => deadBy === pods[0]!.id);
  expect(swept).toEqual([]);
  expect(failed).toEqual([]);
});

test('pods that are set to different silences do not take each other for dead', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around } as const;
  const quick = { ...options, heartbeat: '500ms', silence: '1500ms' } as const;
  const slow = { ...options, heartbeat: '3s', silence: '15s' } as const;
  const alder = await fleet.startPod('alder', quick);
  const birch = await fleet.startPod('birch', slow);
  await fleet.clock.advance(60_000);
  const rows = await fleet.store.pods();
  expect(rows.map(({ name, status }) => [name, status])).toEqual([
    ['alder', 'up'],
    ['birch', 'up'],
  ]);
  alder.crash();
  await fleet.clock.advance(10_000);
  expect(await fleet.podStatus(rows[0]!.pod), 'by its own short silence').toBe('down');
  expect(birch.fleet.status.pod?.leader).toBe(birch.id);
});

test('an idle fleet starts no recovery, and writes nothing about one into the store', async () => {
  const { machine, pods, clock, store } = await threePods();
  const started = hear('run.started');
  const task = await pods[0]!.fleet.enqueue(machine, {});
  await clock.advance(1_300_000);
  const rows = await store.list({ countMax: 100 });
  expect(rows.map(({ id }) => id)).toEqual([task.id]);
  expect(started.map(({ machine: name }) => name)).toEqual([machine.name]);
});

test('a recovery that finds nothing to do stays on its host; one that does is seen', async () => {
  const { machine, pods, clock, store, tables } = await threePods();
  const [leader] = pods;
  for (const chore of ['recovery/sweep', 'recovery/reconcile', 'recovery/retention']) {
    const run = await leader!.fleet.startByName(chore, { pod: leader!.id });
    await clock.advance(2_000);
    expect(leader!.fleet.describe(run.id), chore).toMatchObject({ outcome: 'handedOff' });
  }
  expect(await store.list({ countMax: 100 })).toEqual([]);
  tables.insert({ machine: 'tpyo', payload: '{}' });
  await clock.advance(120_000);
  const rows = await store.list({ countMax: 100 });
  const recoveries = rows.filter(({ machine: name }) => name !== machine.name && name !== 'tpyo');
  expect(recoveries).toMatchObject([{ machine: 'recovery/reconcile', outcome: 'completed' }]);
});

test('I28: whom the store alone calls silent is not swept', async () => {
  const { pods, clock, tables, store } = await threePods();
  const [leader, birch] = pods as [TestPod, TestPod, TestPod];
  // The clock of the store was set: every heartbeat looks old, and nobody has missed one.
  tables.pods.get(birch.id)!.lastHeartbeat -= 60_000;
  expect((await store.worklist(SILENT_MS)).silent).toMatchObject([{ pod: birch.id }]);
  const run = await leader.fleet.startByName('recovery/sweep', { pod: leader.id });
  await clock.advance(200);
  const { outcome, reason } = leader.fleet.describe(run.id);
  expect([outcome, reason]).toEqual(['handedOff', 'nobody is missing']);
  expect(await store.pods()).toMatchObject(Array(3).fill({ status: 'up' }));
});

test('I28: a sweep that the store held up judges nobody by what was seen before that', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, podStatus } = startFleet();
  const options = { machines: [machine], around: script.around };
  const leader = await startPod('leader', options);
  await startPod('witness', options);
  const owner = await startPod('owner', options);
  await clock.advance(STEADY_MS);
  const dead = owner.id;
  owner.crash();
  // Asked in time, and answered when the leader itself has not been heard for a while.
  const answer = gate();
  leader.wire.holdsAnswers.set('worklist', answer.opened);
  await clock.advance(SILENT_MS);
  expect(leader.wire.asked).toContain('worklist');
  leader.wire.losesAnswers.set('beat', 1_000);
  await clock.advance(3 * HEARTBEAT_MS);
  leader.wire.holdsAnswers.clear();
  answer.open();
  await clock.advance(10);
  expect(await podStatus(dead)).toBe('up');
  expect(leader.wire.asked).not.toContain('fence');
});

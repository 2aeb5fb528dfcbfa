/** Leaving on purpose: nothing is claimed, what stands at a boundary is given back, nobody is blamed. */
import { expect, test, vi } from 'vitest';
import { SqliteJournal } from '../../src/journal/index.ts';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, sleeper, twoSteps } from './script.ts';
import { HEARTBEAT_MS, STEADY_MS, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet, hear } = useTestFleets();

test('H8: a phase in hand finishes, then the run is given back with its state and costs nothing', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, podStatus } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  const work = gate();
  script.holds.set('a.work', work.opened);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const old = alder.id;
  const drained = alder.fleet.drain({ budget: '20s' });
  await clock.advance(2_000);
  expect(await podStatus(old)).toBe('draining');
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  work.open();
  await whileAdvancing(clock, drained);
  expect(await podStatus(old)).toBe('down');
  expect(await row(id)).toMatchObject({ status: 'pending', crashes: 0, retryCount: 0 });
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.calls.slice(0, 4)).toEqual([
    'a.check@1',
    'a.work@1',
    'a.validate@3',
    'a.persist@3',
  ]);
});

test('I39: no claim commits after the drain has begun', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const alder = await startPod('alder', { machines: [machine], around: script.around });
  const client = await startPod('client', { machines: [machine], isClient: true });
  script.holds.set('main.work', never());
  await client.fleet.enqueue(machine, {});
  await clock.advance(100);
  const drained = alder.fleet.drain({ budget: '20s' });
  await clock.advance(10);
  const { id } = await client.fleet.enqueue(machine, {});
  await whileAdvancing(clock, drained);
  expect(await row(id)).toMatchObject({ status: 'pending', claims: 0 });
});

test('I39: a claim that is on its way when the drain begins is waited for, and not left behind', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row, podStatus } = startFleet();
  const alder = await startPod('alder', { machines: [machine], around: script.around });
  const client = await startPod('client', { machines: [machine], isClient: true });
  const answer = gate();
  alder.wire.holdsAnswers.set('claim', answer.opened);
  const { id } = await client.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  const old = alder.id;
  const drained = alder.fleet.drain({ budget: '20s' });
  await clock.advance(2_000);
  expect(await podStatus(old), 'it may not leave with a task nobody has').toBe('draining');
  answer.open();
  await whileAdvancing(clock, drained);
  expect(['pending', 'completed']).toContain((await row(id)).status);
  expect(await podStatus(old)).toBe('down');
});

test('H8: a handler that does not listen is not released beside itself, but swept without blame and probed', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, podStatus } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const alder = await startPod('alder', options);
  const birch = await startPod('birch', { ...options, isClient: true });
  script.holds.set('a.work', never());
  const { id } = await birch.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const old = alder.id;
  await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: old });
  expect(await podStatus(old)).toBe('dead');
  script.holds.clear();
  await startPod('cedar', options);
  await clock.advance(STEADY_MS + 5_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
  expect(script.calls.map((call) => call.split('@')[0]).slice(0, 4)).toEqual([
    'a.check',
    'a.work',
    'a.probe',
    'a.work',
  ]);
});

test('a handler that answers while it is being left behind spoils nothing', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const work = gate();
  script.holds.set('a.work', work.opened);
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const alder = await startPod('alder', options);
  const birch = await startPod('birch', { ...options, isClient: true });
  const { id } = await birch.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const { append } = SqliteJournal.prototype;
  const spy = vi.spyOn(SqliteJournal.prototype, 'append').mockImplementation(function (
    this: SqliteJournal,
    entry,
  ) {
    if (entry.event.type === 'INTERRUPTED') work.open();
    return append.call(this, entry);
  });
  await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
  spy.mockRestore();
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  script.holds.clear();
  await startPod('cedar', options);
  await clock.advance(STEADY_MS + 5_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
});

test('a run that waits in place is parked for the rest of its wait', async () => {
  const script = new Script();
  const machine = sleeper(script, '5s');
  const { clock, startPod, row } = startFleet();
  const alder = await startPod('alder', { machines: [machine], around: script.around });
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  await whileAdvancing(clock, alder.fleet.drain({ budget: '5s' }));
  const { status, waitFor, runAt } = await row(id);
  expect({ status, waitFor }).toEqual({ status: 'waiting', waitFor: 'sleep' });
  expect(runAt - clock.now()).toBeLessThanOrEqual(5_000);
  await startPod('birch', { machines: [machine], around: script.around });
  await clock.advance(6_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
});

test('the heart beats until the end of the drain', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, store } = startFleet();
  const alder = await startPod('alder', { machines: [machine], around: script.around });
  script.holds.set('main.work', never());
  await alder.fleet.enqueue(machine, {});
  await clock.advance(100);
  const drained = alder.fleet.drain({ budget: '30s' });
  await clock.advance(20_000);
  const [row] = await store.pods();
  expect(row!.silentMs).toBeLessThan(2 * HEARTBEAT_MS);
  await whileAdvancing(clock, drained);
});

test('with the store away a drain ends within its budget, and does not spin', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  const work = gate();
  script.holds.set('a.work', work.opened);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  alder.wire.isCut = true;
  // Beyond its deadline the run waits for the fleet, in its slot.
  await clock.advance(10_000);
  work.open();
  await clock.advance(1_000);
  const alone = hear('pod.alone');
  const begunMs = clock.monotonicMs();
  await whileAdvancing(clock, alder.fleet.drain({ budget: '10s' }));
  expect(clock.monotonicMs() - begunMs).toBeLessThanOrEqual(10_500);
  expect(alone.length).toBeLessThan(500);
  await startPod('alder', { ...options, dataDir: alder.dataDir });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(1);
});

test('a pod that is asked through the store to drain does so', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, store, podStatus } = startFleet();
  let wanted = 0;
  const alder = await startPod('alder', {
    machines: [machine],
    onDrainWanted: () => {
      wanted++;
    },
  });
  await store.requestDrain(alder.id);
  await clock.advance(2 * HEARTBEAT_MS);
  expect(wanted).toBeGreaterThan(0);
  const birch = await startPod('birch', { machines: [machine] });
  const { id } = birch;
  await store.requestDrain(id);
  await clock.advance(10_000);
  expect(await podStatus(id)).toBe('down');
});

test('nobody who waits for a result in a process that leaves waits for ever', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  const alder = await startPod('alder', { machines: [machine], around: script.around });
  script.holds.set('main.work', never());
  const task = await alder.fleet.enqueue(machine, {});
  const result = task.result();
  result.catch(() => undefined);
  await clock.advance(100);
  await whileAdvancing(clock, alder.fleet.drain({ budget: '5s' }));
  await expect(result).rejects.toThrow('draining');
});

test('a run between two phases goes on elsewhere while a phase in hand takes its time', async () => {
  const script = new Script();
  const [slow, quick] = [onlyWork(script), twoSteps(script)];
  const { clock, startPod, row, podStatus } = startFleet();
  const options = { machines: [slow, quick], around: script.around };
  const alder = await startPod('alder', options);
  const [slowWork, quickWork] = [gate(), gate()];
  script.holds.set('main.work', slowWork.opened);
  script.holds.set('a.work', quickWork.opened);
  const { id: slowId } = await alder.fleet.enqueue(slow, {});
  const { id } = await alder.fleet.enqueue(quick, {});
  await clock.advance(1_000);
  await startPod('birch', options);
  const old = alder.id;
  const drained = alder.fleet.drain({ budget: '20s' });
  await clock.advance(1_000);
  quickWork.open();
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 2, crashes: 0 });
  expect([await podStatus(old), (await row(slowId)).claimedBy]).toEqual(['draining', old]);
  slowWork.open();
  await whileAdvancing(clock, drained);
  expect(await podStatus(old)).toBe('down');
  expect(script.count('a.work')).toBe(1);
});

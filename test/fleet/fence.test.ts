/** A pod that the fleet may have given up on begins nothing; one it has given up on is never revived. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import type { PodId } from '../../src/store/index.ts';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

test('I10: no phase begins after the deadline, and the run goes on when beats are back', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const work = gate();
  script.holds.set('a.work', work.opened);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(HEARTBEAT_MS);
  const alone = hear('pod.alone');
  pod.wire.isCut = true;
  await clock.advance(SILENT_MS - HEARTBEAT_MS);
  work.open();
  await clock.advance(60_000);
  expect(script.calls).toEqual(['a.check@1', 'a.work@1']);
  expect(alone.length).toBeGreaterThan(0);
  pod.wire.isCut = false;
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 1 });
  expect(script.count('a.work')).toBe(1);
});

test('I10: before the deadline phases go on though no beat gets through', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const work = gate();
  script.holds.set('a.work', work.opened);
  await pod.fleet.enqueue(machine, {});
  await clock.advance(500);
  pod.wire.isCut = true;
  await clock.advance(SILENT_MS - 3 * HEARTBEAT_MS);
  work.open();
  await clock.advance(100);
  expect(script.count('b.persist')).toBe(1);
});

test('nothing is claimed while the pod cannot be sure that it counts', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  await clock.advance(HEARTBEAT_MS);
  // Claims would get through, beats do not.
  pod.wire.losesAnswers.set('beat', 1_000_000);
  await clock.advance(2 * SILENT_MS);
  await pod.fleet.enqueue(machine, {});
  const before = pod.wire.asked.filter((verb) => verb === 'claim').length;
  await clock.advance(SILENT_MS);
  expect(pod.wire.asked.filter((verb) => verb === 'claim')).toHaveLength(before);
  expect(script.calls).toEqual([]);
});

test('row 17: a pod that was taken for dead stops its runs, registers anew, and is never revived', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, podStatus } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  const alder = await startPod('alder', options);
  const birch = await startPod('birch', options);
  await clock.advance(STEADY_MS);
  script.holds.set('a.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const owner = [alder, birch].find((pod) => pod.fleet.status.pod?.held === 1)!;
  const other = owner === alder ? birch : alder;
  const dead = owner.id;
  const died = hear('pod.died');
  owner.wire.isCut = true;
  script.holds.clear();
  await clock.advance(2 * SILENT_MS);
  expect(await podStatus(dead)).toBe('down');
  expect(await row(id)).toMatchObject({ status: 'completed' });
  owner.wire.isCut = false;
  await clock.advance(2 * HEARTBEAT_MS);
  expect(died).toMatchObject([{ pod: dead }]);
  expect(owner.id).not.toBe(dead);
  expect(await podStatus(dead)).toBe('down');
  expect(await podStatus(owner.id)).toBe('up');
  expect(script.signals[1]!.aborted, 'its handler was told').toBe(true);
  expect(script.count('b.persist')).toBe(1);
  // And it works again.
  other.crash();
  const again = await owner.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(again.id)).toMatchObject({ status: 'completed' });
});

test('a phase that ends when its pod was taken for dead changes nothing of what another pod has', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around } as const;
  const late = await startPod('alder', options);
  await startPod('leader', { ...options, machines: [] });
  await clock.advance(STEADY_MS);
  const work = gate();
  script.holds.set('a.work', work.opened);
  const { id } = await late.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  late.wire.isCut = true;
  await clock.advance(2 * SILENT_MS);
  script.holds.set('a.work', never());
  const next = await startPod('birch', options);
  await clock.advance(2_000);
  const before = await row(id);
  expect(before).toMatchObject({ status: 'claimed', claimedBy: next.id });
  work.open();
  late.wire.isCut = false;
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: before.epoch });
  expect(script.count('a.validate')).toBe(0);
});

test('a pod that comes back after its death goes on with what nobody has taken yet', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, store } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const work = gate();
  script.holds.set('a.work', work.opened);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  // Somebody declares it dead, and dies before it has taken anything.
  await store.fence(pod.id, 'sweeper' as never, 'proved');
  script.holds.clear();
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(script.calls.slice(0, 5)).toEqual([
    'a.check@1',
    'a.work@1',
    'a.probe@2',
    'a.work@2',
    'a.validate@2',
  ]);
  work.open();
});

test('a restart into the fleet that fails is tried again until it works', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, store } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.holds.set('a.work', never());
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  await store.fence(pod.id, 'sweeper' as never, 'proved');
  pod.wire.losesAnswers.set('take', 1);
  pod.wire.losesAnswers.set('register', 2);
  await clock.advance(20_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
  expect(script.count('a.check')).toBe(1);
  expect(script.count('b.persist')).toBe(1);
});

test('H18: a clone of the process is found out: one of the two registers anew', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, tables, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  await clock.advance(HEARTBEAT_MS);
  const before = pod.id;
  const died = hear('pod.died');
  // Another process beats in its name.
  Object.assign(tables.pods.get(before)!, { beatSeq: 99, beatNonce: 'of the clone' });
  await clock.advance(3 * HEARTBEAT_MS);
  expect(died).toMatchObject([{ pod: before, why: 'another process beats in its name' }]);
  expect(pod.id).not.toBe(before);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('a change of the primary makes the pod look at what it holds', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const beat = pod.store.beat;
  let timeline = '1';
  const moved = hear('store.failedOver');
  pod.store.beat = async (given) => {
    const answer = await beat(given);
    return answer.kind === 'taken' ? { ...answer, timeline } : answer;
  };
  await clock.advance(2 * HEARTBEAT_MS);
  expect(pod.wire.asked).not.toContain('held');
  timeline = '2';
  await clock.advance(4 * HEARTBEAT_MS);
  expect(moved).toMatchObject([{ from: '1', to: '2' }]);
  expect(pod.wire.asked).toContain('held');
});

test('I9: a run whose records come after its pod was taken for dead is not begun beside the next life of it', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around };
  const first = await startPod('birch', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  first.crash();
  const ownerOf = async () => (await row(id))!.claimedBy as PodId;
  const [birch, elder] = [await ownerOf(), 'elder' as PodId];
  await store.fence(birch, elder, 'proved');
  const pod = await startPod('alder', options);
  const { wire } = pod;
  const records = gate();
  wire.holdsAnswers.set('histories', records.opened);
  const taking = { from: birch, by: elder, to: 'pool', countMax: 9, spreadMs: 0 } as const;
  await store.take({ ...taking, crashed: 'none' });
  await clock.advance(2 * HEARTBEAT_MS);
  expect([await ownerOf(), wire.asked.includes('histories')]).toEqual([pod.id, true]);
  wire.holdsAnswers.clear();
  await store.fence(pod.id, elder, 'proved');
  await clock.advance(5 * HEARTBEAT_MS);
  expect(script.calls.at(-1)).toBe('b.work@4');
  records.open();
  await clock.advance(3_000);
  // What is on this disk is still the later life's: a third one knows who was inside, and goes on.
  await startPod('alder', { ...options, dataDir: pod.crash() });
  await clock.advance(1_000);
  expect(script.calls.slice(-2)).toEqual(['b.probe@5', 'b.work@5']);
  expect(await row(id)).toMatchObject({ status: 'claimed', crashes: 1 });
});

test('I9: nor is one whose input is found good only then', async () => {
  const script = new Script();
  const looks: Promise<unknown>[] = [];
  const validate = async (value: unknown) => {
    await looks.shift();
    return { value };
  };
  const machine = defineMachine({
    name: 'slowly-checked',
    version: 1,
    input: { '~standard': { version: 1, vendor: 'test', validate } },
    ...script.phases,
  });
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around };
  const pod = await startPod('alder', options);
  const { id } = await pod.fleet.enqueue(machine, {});
  const look = gate();
  looks.push(look.opened);
  script.holds.set('main.work', never());
  await clock.advance(HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  expect([looks, script.calls]).toEqual([[], []]);
  await store.fence(pod.id, 'elder' as PodId, 'proved');
  await clock.advance(5 * HEARTBEAT_MS);
  expect(script.calls.at(-1)).toBe('main.work@2');
  look.open();
  await clock.advance(HEARTBEAT_MS);
  await startPod('alder', { ...options, dataDir: pod.crash() });
  await clock.advance(1_000);
  expect(script.calls.slice(-2)).toEqual(['main.probe@3', 'main.work@3']);
  expect(await row(id)).toMatchObject({ status: 'claimed', crashes: 1 });
});

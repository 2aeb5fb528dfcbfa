/** What people do to tasks: cancel, redrive. */
import { expect, test } from 'vitest';
import { abort, RunCancelledError } from '../../src/index.ts';
import { cancelTask, redriveTask } from '../store/acts.ts';
import { gate, never } from '../support/fleets.ts';
import { onlyWork, Script, sleeper, twoSteps } from './script.ts';
import { HEARTBEAT_MS, SILENT_MS, STEADY_MS, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet, hear } = useTestFleets();

test('H12: what nobody holds is cancelled at once', async () => {
  const script = new Script();
  const machine = sleeper(script, '1h');
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const later = await pod.fleet.enqueue(machine, {}, { runAt: '1h' });
  const asleep = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await later.cancel('not wanted')).toBe('done');
  expect(await asleep.cancel()).toBe('done');
  expect(await later.cancel('again')).toBe('done');
  expect(await row(later.id)).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
  await clock.advance(2 * 3_600_000);
  expect(script.count('b.check')).toBe(0);
});

test('H12: what a pod holds is asked of it, and ends between two phases; the handler gets a signal', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, history } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  script.holds.set('a.work', never());
  const task = await pod.fleet.enqueue(machine, {});
  const result = task.result();
  result.catch(() => undefined);
  await clock.advance(100);
  expect(await task.cancel('enough')).toBe('requested');
  expect(await task.cancel('me too')).toBe('requested');
  await clock.advance(3 * HEARTBEAT_MS);
  expect(await row(task.id)).toMatchObject({ status: 'cancelled' });
  expect((await row(task.id)).error).toContain('enough');
  expect(script.signals[1]!.aborted).toBe(true);
  expect((await history(task.id)).at(-1)).toBe('CANCELLED');
  await expect(whileAdvancing(clock, result)).rejects.toThrow(RunCancelledError);
  expect(pod.fleet.status.pod?.held).toBe(0);
});

test('H12: a task that has ended keeps its outcome', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  const task = await pod.fleet.enqueue(machine, {});
  await clock.advance(500);
  expect(await task.cancel()).toBe('tooLate');
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
});

test('H12: a request that comes when the run has ended, and before the store has heard, is too late', async () => {
  const script = new Script();
  const machine = onlyWork(script);
  const { clock, startPod, row } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  pod.wire.isBusyFor.set('settle', 1_000);
  const task = await pod.fleet.enqueue(machine, {});
  await clock.advance(500);
  expect(await task.cancel('too late')).toBe('requested');
  await clock.advance(3 * HEARTBEAT_MS);
  pod.wire.isBusyFor.clear();
  await clock.advance(STEADY_MS);
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
  expect(pod.fleet.status).toMatchObject({ inMemory: 0, pod: { held: 0 } });
});

test('H12: a request that comes while a park is on its way does not bring the run back to life here', async () => {
  const script = new Script();
  const machine = sleeper(script, '1h');
  const { clock, startPod, row, history } = startFleet();
  const pod = await startPod('alder', { machines: [machine], around: script.around });
  pod.wire.isBusyFor.set('settle', 1_000);
  const task = await pod.fleet.enqueue(machine, {});
  await clock.advance(500);
  expect(await task.cancel('enough')).toBe('requested');
  const finished = hear('run.finished');
  await clock.advance(3 * HEARTBEAT_MS);
  pod.wire.isBusyFor.clear();
  await clock.advance(STEADY_MS);
  // The store ends it when it hears of the park; no record of the pod says so too.
  expect(await row(task.id)).toMatchObject({ status: 'cancelled' });
  expect(await history(task.id)).not.toContain('CANCELLED');
  expect(finished.filter(({ run }) => run === task.id)).toEqual([]);
  expect(pod.fleet.status).toMatchObject({ inMemory: 0, pod: { held: 0 } });
});

test('H12: a request to a pod that dies is honoured by the sweep', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(100);
  const birch = await startPod('birch', options);
  alder.crash();
  expect(await birch.fleet.taskById(id).cancel('no more')).toBe('requested');
  await clock.advance(STEADY_MS + SILENT_MS);
  expect(await row(id)).toMatchObject({ status: 'cancelled' });
  expect(script.calls).toEqual(['a.check@1', 'a.work@1']);
});

test('H12: a request that comes with the claim is honoured before anything runs on', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const task = await alder.fleet.enqueue(machine, {});
  await clock.advance(100);
  const image = alder.crash();
  const client = await startPod('client', { ...options, isClient: true });
  expect(await client.fleet.taskById(task.id).cancel('while it was away')).toBe('requested');
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(5_000);
  expect(await row(task.id)).toMatchObject({ status: 'cancelled' });
  expect(script.count('a.persist')).toBe(0);
});

async function failed() {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
  script.throws.set('b.work', () => abort('broken', { kind: 'user' }));
  const task = await pod.fleet.enqueue(machine, {});
  await fleet.clock.advance(1_000);
  expect(await fleet.row(task.id)).toMatchObject({ status: 'failed', outcome: 'aborted' });
  script.throws.clear();
  const redrive = async (generation: number, isFresh = false) => {
    const input = { tasks: [{ task: task.id, generation }], isFresh };
    const run = await pod.fleet.startByName('recovery/redrive', input);
    return whileAdvancing(fleet.clock, run.result());
  };
  return { script, ...fleet, pod, id: task.id, redrive };
}

test('H11, I30: a redrive keeps what was finished, begins at the step that failed, under the same keys', async () => {
  const { script, clock, row, id, redrive, store } = await failed();
  expect(await redrive(1)).toEqual({ redriven: [{ task: id, generation: 2 }], left: [] });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2, retryCount: 0 });
  expect(script.count('a.work')).toBe(1);
  expect(script.count('b.work')).toBe(2);
  for (const [place, keys] of script.keys) expect(keys.size, place).toBe(1);
  const kept = await store.histories([{ task: id, generation: 1 }]);
  expect(kept.map(({ state }) => state)).toContain('outcome');
});

test('I30: a task that was cancelled before anybody had begun it is redriven from its first step', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, row, store, startPod } = startFleet();
  const { fleet } = await startPod('alder', { machines: [machine], around: script.around });
  const { id } = await fleet.enqueue(machine, {}, { runAt: '1h' });
  expect(await fleet.taskById(id).cancel('not now')).toBe('done');
  await redriveTask(store, id, { generation: 1 }, { isFresh: false });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('a.work')).toBe(1);
});

test('I19, I30: a redrive that was cancelled before anybody had begun it loses nothing that was finished', async () => {
  const { script, clock, row, id, store } = await failed();
  await redriveTask(store, id, { generation: 1 }, { isFresh: false });
  expect(await cancelTask(store, id, 'not now')).toBe('done');
  await redriveTask(store, id, { generation: 2 }, { isFresh: false });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 3 });
  expect([script.count('a.work'), script.count('b.work')]).toEqual([1, 2]);
});

test('H11: a fresh redrive does everything anew, under new keys', async () => {
  const { script, clock, row, id, redrive } = await failed();
  await redrive(1, true);
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('a.work')).toBe(2);
  expect(script.keys.get('a.work')!.size).toBe(2);
});

test('I30: however often it is pressed, a redrive makes one generation', async () => {
  const { clock, row, id, redrive } = await failed();
  const answers = await Promise.all([redrive(1), redrive(1), redrive(1)]);
  const done = { redriven: [{ task: id, generation: 2 }], left: [] };
  const left = { redriven: [], left: [id] };
  expect(answers).toHaveLength(3);
  expect(answers).toEqual(expect.arrayContaining([done, left, left]));
  expect(answers.filter((answer) => (answer as typeof done).redriven.length > 0)).toEqual([done]);
  await clock.advance(1_000);
  expect(await redrive(1)).toEqual(left);
  expect(await row(id)).toMatchObject({ generation: 2, status: 'completed' });
});

test('a redriven task that dies half way keeps both what it carried and what it did since', async () => {
  const { script, clock, row, id, redrive, pod, startPod } = await failed();
  script.holds.set('b.persist', never());
  await redrive(1);
  await clock.advance(3_000);
  const image = pod.crash();
  script.holds.clear();
  const machine = twoSteps(script);
  await startPod('alder', { machines: [machine], around: script.around, dataDir: image });
  await clock.advance(3_000);
  expect(await row(id)).toMatchObject({ status: 'completed', generation: 2 });
  expect(script.count('a.work')).toBe(1);
  expect(script.count('b.work')).toBe(2);
});

test('the dead letters of a host show what failed with its evidence, and are built again at any time', async () => {
  const { script, clock, pod, id, redrive } = await failed();
  const { SqliteDeadLetters } = await import('../../src/fleet/index.ts');
  const path = `${pod.dataDir}/copy.db`;
  const letters = new SqliteDeadLetters(path, pod.store);
  expect(await letters.refresh()).toBe(1);
  const [letter] = letters.list(10);
  expect(letter).toMatchObject({ task: id, generation: 1, outcome: 'aborted' });
  expect(letter!.evidence).toContain('ABORTED');
  letters.close();
  const { rmSync, writeFileSync } = await import('node:fs');
  rmSync(path);
  writeFileSync(path, 'this is no database, and long enough to be looked at as one'.repeat(20));
  const again = new SqliteDeadLetters(path, pod.store);
  expect(await again.refresh()).toBe(1);
  expect(again.find(id)).toEqual(letter);
  const work = gate();
  script.holds.set('b.work', work.opened);
  await redrive(1);
  await clock.advance(500);
  expect(await again.refresh()).toBe(0);
  expect(again.find(id)).toBeUndefined();
  again.close();
  work.open();
});

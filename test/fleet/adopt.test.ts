/** A process that dies and comes back with its disk: nothing that its disk has is done again. */
import { expect, test } from 'vitest';
import { listen } from '../../src/index.ts';
import { cancelTask } from '../store/acts.ts';
import { never } from '../support/fleets.ts';
import { crashImage } from '../support/temp-dir.ts';
import { Script, twoSteps } from './script.ts';
import { type PodOptions, useTestFleets, Wire } from './support.ts';

const { startFleet, hear, newDir } = useTestFleets();

function newScene(more: Partial<PodOptions> = {}) {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h', ...more } as const;
  return { script, machine, ...fleet, options };
}

const DONE_ONCE = [
  ...['check', 'work', 'validate', 'persist'].map((phase) => `a.${phase}`),
  ...['check', 'work', 'validate', 'persist'].map((phase) => `b.${phase}`),
];
const places = (script: Script) => script.calls.map((call) => call.split('@')[0]);

test('row 5: a claim whose answer never came is begun by the next process, under a new epoch', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.holdsAnswers.set('claim', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(100);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  const second = await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
  expect(script.calls).toEqual(DONE_ONCE.map((place) => `${place}@2`));
  expect(second.fleet.status.pod?.held).toBe(0);
});

test('row 6: a run whose start is on the disk begins at check, and no crash is counted', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  let image = '';
  const stop = listen('run.started', () => {
    image = crashImage(first.dataDir, newDir());
    first.wire.isCut = true;
  });
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(100);
  stop();
  first.crash();
  script.calls.length = 0;
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(1_000);
  expect(script.calls).toEqual(DONE_ONCE.map((place) => `${place}@2`));
  expect(await row(id)).toMatchObject({ status: 'completed', claims: 1, crashes: 0 });
});

test('rows 9 to 12: what is recorded here and not archived is not done again; the open phase is probed', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2, crashes: 0 });
  expect(places(script)).toEqual([...DONE_ONCE.slice(0, 6), 'b.probe', ...DONE_ONCE.slice(5)]);
});

test('I41: a probe that finds the work done hands off, and the work is not repeated', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.isThere.add('b.probe');
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('b.work')).toBe(1);
});

test('row 14: an end that the store has not heard of is settled by the next process', async () => {
  const { script, machine, clock, startPod, row, history, options } = newScene();
  const first = await startPod('alder', options);
  const stop = listen('run.finished', () => {
    first.wire.isCut = true;
  });
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  stop();
  expect(await row(id)).toMatchObject({ status: 'claimed' });
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', outcome: 'completed' });
  expect(places(script)).toEqual(DONE_ONCE);
  expect(await history(id)).toEqual(['STARTED', ...Array<string>(8).fill('DONE')]);
});

test('I4: an end that is on the disk of a pod that comes back is not undone by a cancel', async () => {
  const { machine, clock, startPod, row, history, options } = newScene();
  const first = await startPod('alder', options);
  const stop = listen('run.finished', () => {
    first.wire.isCut = true;
  });
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  stop();
  const second = await startPod('birch', { ...options, machines: [] });
  await cancelTask(second.fleet.store, id, 'no longer wanted');
  await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'completed', outcome: 'completed' });
  expect(await history(id)).toEqual(['STARTED', ...Array<string>(8).fill('DONE')]);
});

test('row 15: an end whose answer was lost stands once, and the next process forgets the run', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  first.wire.losesAnswers.set('settle', 1_000);
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const before = await row(id);
  expect(before).toMatchObject({ status: 'completed', epoch: 1 });
  const second = await startPod('alder', { ...options, dataDir: first.crash() });
  await clock.advance(5_000);
  expect(await row(id)).toEqual(before);
  expect(places(script)).toEqual(DONE_ONCE);
  expect(second.fleet.status.inMemory).toBe(0);
});

test('row 16: an end that was acknowledged and not yet noted here changes nothing', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  let image = '';
  const stop = listen('task.settled', () => {
    image = crashImage(first.dataDir, newDir());
  });
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  stop();
  first.crash();
  const before = await row(id);
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(5_000);
  expect(await row(id)).toEqual(before);
  expect(places(script)).toEqual(DONE_ONCE);
});

test('row 30: an adoption whose answer was lost is adopted again, and counts as one crash', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  const wire = new Wire();
  wire.losesAnswers.set('take', 3);
  await startPod('alder', { ...options, dataDir: first.crash(), wire });
  await clock.advance(10_000);
  expect(wire.losesAnswers.get('take')).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 5, claims: 1 });
  expect(places(script).filter((place) => place?.startsWith('a.'))).toEqual(DONE_ONCE.slice(0, 4));
});

test('H5: what a predecessor held is fenced first, so that a late word of it changes nothing', async () => {
  const { script, machine, clock, startPod, row, store, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const [claim] = await store.held(first.id, '', 1);
  const dead = first.id;
  const second = await startPod('alder', { ...options, dataDir: first.crash() });
  const { task, generation } = claim!;
  const late = {
    task,
    generation,
    epoch: claim!.epoch,
    tail: undefined,
    lastSeq: -1,
    lastHash: '',
  };
  const answers = await store.settle(dead, [
    { ...late, retriesAdd: 0, hasCompletedStep: false, to: 'pending' },
  ]);
  expect(answers).toEqual([{ task, kind: 'lost' }]);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: second.id });
});

test('I22, H17: a journal that was put back is said aloud, and the run goes on from the store', async () => {
  const { script, machine, clock, startPod, row, options } = newScene({ archive: '100ms' });
  const alarms = hear('journal.alarm');
  const first = await startPod('alder', options);
  script.holds.set('a.work', new Promise((resolve) => setTimeout(resolve, 0)));
  let image = '';
  const stop = listen('phase.started', ({ step, phase }) => {
    if (step === 'a' && phase === 'work') image = crashImage(first.dataDir, newDir());
  });
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  stop();
  first.crash();
  script.holds.clear();
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(3_000);
  expect(alarms.map(({ kind }) => kind)).toContain('behindStore');
  expect(await row(id)).toMatchObject({ status: 'completed' });
  // The store has them, so they are not done again.
  for (const place of DONE_ONCE.slice(0, 4)) expect(script.count(place)).toBe(1);
});

test('a run that others went on with meanwhile is no alarm', async () => {
  const { script, machine, clock, startPod, row, options } = newScene({ archive: '100ms' });
  const alarms = hear('journal.alarm');
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const image = first.crash();
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(30_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  const before = script.calls.length;
  await startPod('alder', { ...options, dataDir: image });
  await clock.advance(5_000);
  expect(alarms).toEqual([]);
  expect(script.calls).toHaveLength(before);
});

test('a run that killed its process twice is left to a process of its own', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  script.holds.set('a.work', never());
  let pod = await startPod('alder', options);
  const { id } = await pod.fleet.enqueue(machine, {});
  for (const crashes of [1, 2]) {
    await clock.advance(1_000);
    pod = await startPod('alder', { ...options, dataDir: pod.crash() });
    await clock.advance(1_000);
    expect(await row(id)).toMatchObject({ crashes });
  }
  await clock.advance(30_000);
  expect(await row(id)).toMatchObject({ status: 'pending', crashes: 2 });
  script.holds.clear();
  const suspects = await startPod('suspects', { ...options, isSuspectsOnly: true });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
  expect(suspects.fleet.status.pod?.held).toBe(0);
});

test('I20: whoever dies when it has taken a run over, and before it could record the interruption, forgets nothing', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  const from = first.crash();
  let image: string | undefined;
  const wire = new Wire();
  const stop = listen('run.resumed', () => {
    // The record that it was taken is on the disk, and nothing after it.
    image ??= crashImage(from, newDir());
    wire.isCut = true;
  });
  const second = await startPod('alder', { ...options, dataDir: from, wire });
  await clock.advance(1_000);
  stop();
  second.crash();
  script.calls.length = 0;
  await startPod('alder', { ...options, dataDir: image! });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 3 });
  expect(places(script).slice(0, 2)).toEqual(['b.probe', 'b.work']);
});

test('a predecessor whose row is still locked is asked for again, and not forgotten', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  const wire = new Wire();
  wire.isBusyFor.set('fence', 3);
  await startPod('alder', { ...options, dataDir: first.crash(), wire });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(script.count('a.work')).toBe(1);
});

test('a predecessor whose row stays locked does not keep its successor from working', async () => {
  const { script, machine, clock, startPod, row, options } = newScene();
  const first = await startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  script.holds.clear();
  const wire = new Wire();
  wire.isBusyFor.set('fence', 100);
  const starting = startPod('alder', { ...options, dataDir: first.crash(), wire });
  await clock.advance(20_000);
  const second = await starting;
  const other = await second.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(await row(other.id)).toMatchObject({ status: 'completed' });
  // Nobody holds the row any more, and the sweep finds what was left behind, with all its records.
  wire.isBusyFor.clear();
  await clock.advance(60_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(2);
});

test('what a former owner sends late does not make the records on this disk worthless', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, store } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const birch = await startPod('birch', options);
  script.holds.set('b.work', never());
  const { id } = await birch.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const [birchId, birchDisk] = [birch.id, birch.crash()];
  await store.fence(birchId, birchId, 'proved');
  const taking = { from: birchId, by: birchId, to: 'pool', countMax: 1, spreadMs: 0 } as const;
  expect(await store.take({ ...taking, crashed: 'none' })).toHaveLength(1);
  // Nothing was archived: it begins from the beginning, and comes as far as the other did.
  const alder = await startPod('alder', options);
  await clock.advance(1_000);
  expect(script.calls.slice(-2)).toEqual(['b.check@3', 'b.work@3']);
  const disk = alder.crash();
  // The host of the former owner is back, and sends what it has.
  await startPod('birch', { ...options, machines: [], dataDir: birchDisk });
  await clock.advance(100);
  expect(await store.heads([{ task: id, generation: 1 }])).toMatchObject([{ epoch: 1 }]);
  const alarms = hear('journal.alarm');
  script.holds.clear();
  script.calls.length = 0;
  await startPod('alder', { ...options, dataDir: disk });
  await clock.advance(1_000);
  expect(alarms).toEqual([]);
  expect(script.calls).toEqual(['b.probe@4', 'b.work@4', 'b.validate@4', 'b.persist@4']);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 4 });
});

/**
 * What a pod leaves behind whose drain ran out of time: its handler may still be inside a phase, so
 * whoever gets the run asks `check` first. It was a deploy: no crash and no attempt is counted.
 */
import { expect, test, vi } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import type { PodId } from '../../src/store/index.ts';
import { never } from '../support/fleets.ts';
import { Script } from './script.ts';
import { anyInput, SILENT_MS, STEADY_MS, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();

/** One step; `attemptMax` attempts at it, so that one too many would be seen. */
function newScene(attemptMax: number) {
  const script = new Script();
  const retry = { attemptMax, backoff: () => 100 };
  const shape = { name: 'one', version: 1, input: anyInput, retry, ...script.phases };
  const machine = defineMachine(shape);
  const options = { machines: [machine], around: script.around } as const;
  return { script, machine, options, ...startFleet() };
}

const places = ({ calls }: Script) => calls.map((call) => call.split('@')[0]?.split('.')[1]);

/** The record that a drain makes of a run it cannot wait for does not reach the disk. */
function forgetLastWords(): () => void {
  const { append } = SqliteJournal.prototype;
  const spy = vi.spyOn(SqliteJournal.prototype, 'append').mockImplementation(function (
    this: SqliteJournal,
    entry,
  ) {
    if (entry.event.type === 'INTERRUPTED') return Promise.reject(new Error('no space left'));
    return append.call(this, entry);
  });
  return () => spy.mockRestore();
}

test('I41: a run that a drained pod was inside of is probed though its last words were lost', async () => {
  const { script, machine, clock, startPod, row, podStatus, options } = newScene(1);
  const alder = await startPod('alder', options);
  const client = await startPod('client', { ...options, isClient: true });
  script.holds.set('main.work', never());
  const { id } = await client.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  alder.wire.isBusyFor.set('archive', 1_000);
  const old = alder.id;
  await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
  expect(await podStatus(old)).toBe('dead');
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: old });
  script.holds.set('main.probe', never());
  const birch = await startPod('birch', options);
  await clock.advance(STEADY_MS + 5_000);
  expect(places(script)).toEqual(['check', 'work', 'probe']);
  expect(await row(id)).toMatchObject({ status: 'claimed', crashes: 0, retryCount: 0 });
  // Whoever comes after the next one knows too, and that one has crashed.
  script.holds.clear();
  birch.crash();
  await startPod('cedar', options);
  await clock.advance(SILENT_MS + STEADY_MS + 5_000);
  expect(places(script).slice(0, 4)).toEqual(['check', 'work', 'probe', 'probe']);
  expect(await row(id)).toMatchObject({ crashes: 1, outcome: 'exhausted' });
});

test('H8: what a drained pod was inside of is done again after the probe, by its only attempt', async () => {
  const { script, machine, clock, startPod, row, history, options } = newScene(1);
  const alder = await startPod('alder', options);
  const client = await startPod('client', { ...options, isClient: true });
  script.holds.set('main.persist', never());
  const { id } = await client.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  alder.wire.isBusyFor.set('archive', 1_000);
  await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(STEADY_MS + 5_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0, retryCount: 0 });
  expect(places(script)).toEqual(['check', 'work', 'validate', 'persist', 'probe', 'persist']);
  const done = ['STARTED', 'DONE', 'DONE', 'DONE'];
  expect(await history(id)).toEqual([...done, 'TAKEN', 'PROBED', 'DONE']);
});

test.each([
  ['is on the disk', () => () => undefined],
  ['was lost', forgetLastWords],
])(
  'the successor of a drained pod counts no crash and no attempt: its last word %s',
  async (_, lose) => {
    const { script, machine, clock, startPod, row, options } = newScene(1);
    const alder = await startPod('alder', { ...options, archive: '1h' });
    script.holds.set('main.work', never());
    const { id } = await alder.fleet.enqueue(machine, {});
    await clock.advance(1_000);
    const find = lose();
    alder.wire.isBusyFor.set('archive', 1_000);
    await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
    find();
    expect(await row(id)).toMatchObject({ status: 'claimed' });
    script.holds.set('main.probe', never());
    const next = { ...options, dataDir: alder.dataDir };
    const second = await startPod('alder', next);
    await clock.advance(1_000);
    expect(places(script)).toEqual(['check', 'work', 'probe']);
    expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: second.id, crashes: 0 });
    // A drain that finds it in the probe costs nothing either.
    await whileAdvancing(clock, second.fleet.drain({ budget: '8s' }));
    script.holds.clear();
    await startPod('alder', next);
    await clock.advance(1_000);
    expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0, retryCount: 0 });
  },
);

test.each(['elsewhere', 'on the same disk'])(
  'a drain costs nothing after a crash that its pod has counted, going on %s',
  async (where) => {
    const { script, machine, clock, startPod, row, options } = newScene(2);
    const alder = await startPod('alder', options);
    script.holds.set('main.work', never());
    const { id } = await alder.fleet.enqueue(machine, {});
    await clock.advance(3_000);
    script.holds.clear();
    script.holds.set('main.persist', never());
    const birch = await startPod('birch', { ...options, dataDir: alder.crash() });
    await clock.advance(3_000);
    expect(await row(id)).toMatchObject({ status: 'claimed', crashes: 1 });
    const lose = forgetLastWords();
    await whileAdvancing(clock, birch.fleet.drain({ budget: '8s' }));
    lose();
    script.holds.clear();
    const isElsewhere = where === 'elsewhere';
    await startPod('cedar', isElsewhere ? options : { ...options, dataDir: birch.dataDir });
    await clock.advance(isElsewhere ? STEADY_MS + 5_000 : 3_000);
    expect(await row(id)).toMatchObject({ status: 'completed', retryCount: 0 });
    expect(places(script).slice(-3)).toEqual(['persist', 'probe', 'persist']);
  },
);

test('I41: what a pod was inside of when it was taken for dead is probed after its next life has drained', async () => {
  const { script, machine, clock, store, startPod, row, options } = newScene(3);
  const alder = await startPod('alder', options);
  script.holds.set('main.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  const old = alder.id;
  // It takes nothing back before it has to go.
  alder.wire.isBusyFor.set('take', 1_000);
  await store.fence(old, 'somebody' as PodId, 'proved');
  await clock.advance(3_000);
  expect(alder.id).not.toBe(old);
  await whileAdvancing(clock, alder.fleet.drain({ budget: '8s' }));
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: old });
  script.holds.clear();
  script.calls.length = 0;
  await startPod('alder', { ...options, dataDir: alder.dataDir });
  await clock.advance(2_000);
  expect(places(script).slice(0, 2)).toEqual(['probe', 'work']);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

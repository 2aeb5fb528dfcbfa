/** A take-over by the next process on a disk that it does not see through: it takes and forgets nothing. */
import { expect, test } from 'vitest';
import type { PodId } from '../../src/store/index.ts';
import { claimRequest } from '../store/factories.ts';
import { never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { HEARTBEAT_MS, useTestFleets, Wire, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();

function newGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A pod that was killed inside `b.work`, with everything on its disk and nothing in the store. */
async function newScene() {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const first = await fleet.startPod('alder', options);
  script.holds.set('b.work', never());
  const { id } = await first.fleet.enqueue(machine, {});
  await fleet.clock.advance(1_000);
  expect(script.calls.at(-1)).toBe('b.work@1');
  script.holds.clear();
  script.calls.length = 0;
  const firstId = first.id;
  const dataDir = first.crash();
  /** The next process, as far as the answer to this call. */
  const startUntil = async (verb: 'register' | 'heads' | 'archive') => {
    const answer = newGate();
    const wire = new Wire();
    wire.holdsAnswers.set(verb, answer.opened);
    const starting = fleet.startPod('alder', { ...options, dataDir, wire });
    while (!wire.asked.includes(verb)) await fleet.clock.advance(1);
    const goOn = () => {
      wire.holdsAnswers.clear();
      answer.open();
      return starting;
    };
    return { wire, id: await livingPod(), goOn };
  };
  const livingPod = async (): Promise<PodId> =>
    (await fleet.store.pods()).findLast(({ pod }) => pod !== firstId)!.pod;
  /** The records in the store tell that somebody was inside; that it crashed there, this disk alone. */
  const expectCounted = async () => {
    expect(await fleet.row(id)).toMatchObject({ status: 'claimed', epoch: 2, crashes: 1 });
    expect(script.calls).toEqual(['b.probe@2']);
    probe.open();
    await fleet.clock.advance(1);
  };
  const probe = newGate();
  const holdProbe = () => void script.holds.set('b.probe', probe.opened);
  return {
    ...fleet,
    script,
    options,
    id,
    first: firstId,
    dataDir,
    startUntil,
    holdProbe,
    letProbe: probe.open,
    expectCounted,
  };
}

const PROBED = ['b.probe', 'b.work', 'b.validate', 'b.persist'];
const places = (script: Script) => script.calls.map((call) => call.split('@')[0]);

test('I21: a pod in whose name another process beats takes nothing over under that name', async () => {
  const { script, store, clock, row, id, startUntil } = await newScene();
  const { wire, id: cloned, goOn } = await startUntil('register');
  const beat = { pod: cloned, seq: 0, nonce: 'of the other', lsn: 0, report: {} };
  expect(await store.beat(beat)).toMatchObject({ kind: 'taken' });
  const second = await goOn();
  await clock.advance(HEARTBEAT_MS);
  const again = wire.asked.lastIndexOf('register');
  expect(again).toBeGreaterThan(wire.asked.indexOf('register'));
  expect(wire.asked.slice(0, again)).not.toContain('fence');
  expect(wire.asked.slice(0, again)).not.toContain('take');
  expect(second.id).not.toBe(cloned);
  // As itself it goes on with what is on its disk, under the one epoch it was given for that.
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(places(script)).toEqual(PROBED);
});

test('I21: a pod that learns of its clone while it takes over takes nothing more under that name', async () => {
  const { script, store, clock, row, id, startUntil } = await newScene();
  const { wire, id: cloned, goOn } = await startUntil('archive');
  const beat = { pod: cloned, seq: 1, nonce: 'of the other', lsn: 0, report: {} };
  expect(await store.beat(beat)).toMatchObject({ kind: 'taken' });
  await clock.advance(HEARTBEAT_MS);
  await goOn();
  await clock.advance(HEARTBEAT_MS);
  const again = wire.asked.lastIndexOf('register');
  expect(again).toBeGreaterThan(wire.asked.indexOf('archive'));
  expect(wire.asked.slice(0, again)).not.toContain('take');
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(places(script)).toEqual(PROBED);
});

test('I41: a pod that is taken for dead while it takes over forgets nothing that it could not take', async () => {
  const { script, store, clock, row, id, startUntil, holdProbe, expectCounted } = await newScene();
  holdProbe();
  const { id: dead, goOn } = await startUntil('archive');
  expect(await store.fence(dead, dead, 'proved')).toBe(true);
  await goOn();
  await clock.advance(2 * HEARTBEAT_MS);
  await expectCounted();
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(places(script)).toEqual(PROBED);
});

test('I41: a process that is told to end while it takes over leaves all of it to the next', async () => {
  const scene = await newScene();
  const { script, store, clock, row, id, startUntil, startPod, options, dataDir } = scene;
  scene.holdProbe();
  const { id: draining, goOn } = await startUntil('archive');
  expect(await store.markDraining(draining)).toBe(true);
  const second = await goOn();
  await whileAdvancing(clock, second.fleet.drain({ budget: '5s' }));
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 1 });
  await startPod('alder', { ...options, dataDir });
  await clock.advance(2 * HEARTBEAT_MS);
  await scene.expectCounted();
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(places(script)).toEqual(PROBED);
});

test('I8: a predecessor can change nothing any more once its successor looks at what the store has', async () => {
  const { store, clock, row, script, id, first, startUntil } = await newScene();
  const { goOn } = await startUntil('heads');
  // It lives on elsewhere, as on a clone of the volume, and gives the run away.
  const [claim] = await store.held(first, '', 1);
  const { task, generation, epoch } = claim!;
  const leaving = { task, generation, epoch, tail: undefined, lastSeq: -1, lastHash: '' };
  const given = { ...leaving, retriesAdd: 0, hasCompletedStep: false, to: 'pending' } as const;
  expect(await store.settle(first, [given])).toEqual([{ task, kind: 'lost' }]);
  await goOn();
  await clock.advance(2 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 2 });
  expect(places(script)).toEqual(PROBED);
});

test('I29: what a predecessor had claimed anew, and not begun on this disk, has crashed nobody', async () => {
  const scene = await newScene();
  const { store, clock, row, script, id, first, startUntil } = scene;
  const [claim] = await store.held(first, '', 1);
  const { task, generation, epoch } = claim!;
  const leaving = { task, generation, epoch, tail: undefined, lastSeq: -1, lastHash: '' };
  const given = { ...leaving, retriesAdd: 0, hasCompletedStep: false, to: 'pending' } as const;
  await store.settle(first, [given]);
  const { machine, version } = await row(id);
  const [again] = await store.claim(claimRequest(first, { routes: [`${machine}@${version}`] }));
  expect(again).toMatchObject({ task, epoch: 3 });
  scene.holdProbe();
  const { goOn } = await startUntil('archive');
  await goOn();
  await clock.advance(1);
  expect(await row(id)).toMatchObject({ status: 'claimed', epoch: 4, crashes: 0 });
  scene.letProbe();
  await clock.advance(2 * HEARTBEAT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 4 });
  // What this disk has was sent to the store, so it is not done again.
  expect(places(script)).toEqual(PROBED);
});

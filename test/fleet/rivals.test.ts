/** I45: of two processes with one journal one goes on; the other does nothing, and comes back to nothing. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Fleet } from '../../src/index.ts';
import { adoptJournal } from '../../src/journal/index.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { never } from '../support/fleets.ts';
import { crashImage } from '../support/temp-dir.ts';
import { Script, twoSteps } from './script.ts';
import {
  HEARTBEAT_MS,
  SILENT_MS,
  STEADY_MS,
  type TestPod,
  useTestFleets,
  Wire,
} from './support.ts';

const { startFleet, hear, newDir } = useTestFleets();

function newScene() {
  const script = new Script();
  const machine = twoSteps(script);
  return {
    script,
    machine,
    ...startFleet(),
    options: { machines: [machine], around: script.around },
  };
}

/** What a snapshot of the volume is mounted as: the same files and inodes, on another device. */
function cloneOf({ dataDir }: Pick<TestPod, 'dataDir'>): string {
  const clone = crashImage(dataDir, newDir());
  copyFileSync(join(dataDir, 'holder.json'), join(clone, 'holder.json'));
  return clone;
}

/** The holder as the clone has it: the file's number and birth are those of the clone's file. */
function asSameInode(clone: string, device: string | undefined = 'another'): void {
  const path = join(clone, 'holder.json');
  const holder = JSON.parse(readFileSync(path, 'utf8'));
  delete holder.file;
  if (device) holder.disk.device = device;
  writeFileSync(path, JSON.stringify(holder));
}

/** A pod that opens waits for threads and files too, which no clock moves. */
async function advanceSlowly(clock: FakeClock, ms: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += SILENT_MS / 10) {
    await clock.advance(SILENT_MS / 10);
    await sleep(1);
  }
}

test('a process on a clone starts nothing and spends no task while the original lives', async () => {
  const { script, machine, clock, store, startPod, openPod, row, options } = newScene();
  const alarms = hear('journal.alarm');
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const local = await alder.fleet.startLocal(machine, {});
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(STEADY_MS);
  const calls = script.calls.length;
  const clone = cloneOf(alder);
  asSameInode(clone);

  const opened: string[] = [];
  openPod('alder', { ...options, wire: new Wire(), dataDir: clone }).then(() => opened.push(clone));
  await advanceSlowly(clock, 10 * SILENT_MS);
  expect(opened).toEqual([]);
  expect(alarms.map(({ kind }) => kind)).toEqual(['elsewhere']);
  expect(alarms[0]!.message).toContain(alder.id);
  expect(alarms[0]!.message).toContain('fleetq journal adopt');
  expect(script.calls).toHaveLength(calls);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: alder.id, crashes: 0 });
  expect((await store.pods()).filter(({ status }) => status === 'up')).toHaveLength(1);

  // The original is gone for good, which only a person can know.
  script.holds.clear();
  alder.crash();
  await advanceSlowly(clock, 10 * SILENT_MS);
  const again = cloneOf({ dataDir: clone });
  asSameInode(again, '');
  openPod('alder', { ...options, wire: new Wire(), dataDir: again }).then(() => opened.push(again));
  await advanceSlowly(clock, 10 * SILENT_MS);
  expect(opened).toEqual([]);
  const adopted = cloneOf({ dataDir: clone });
  expect(adoptJournal(adopted, clock.now())).toBe(true);
  const pod = await startPod('alder', { ...options, dataDir: adopted });
  await clock.advance(STEADY_MS + SILENT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(pod.fleet.describe(local.id).status).toBe('completed');
});

test('of two clones that start when the original is gone one goes on', async () => {
  const { script, machine, clock, startPod, openPod, options } = newScene();
  const alder = await startPod('alder', options);
  script.holds.set('a.work', never());
  const local = await alder.fleet.startLocal(machine, {});
  await clock.advance(STEADY_MS);
  const clones = [cloneOf(alder), cloneOf(alder)];
  for (const clone of clones) asSameInode(clone);
  script.holds.clear();
  alder.crash();
  await clock.advance(2 * SILENT_MS);

  const draining = hear('engine.draining');
  const works = script.count('a.work');
  const opened: Fleet[] = [];
  for (const dataDir of clones) {
    openPod('alder', { ...options, wire: new Wire(), dataDir }).then((fleet) => opened.push(fleet));
  }
  await advanceSlowly(clock, STEADY_MS + SILENT_MS);
  expect(opened).toHaveLength(1);
  expect(opened[0]!.describe(local.id).status).toBe('completed');
  expect(script.count('a.work')).toBe(works + 1);
  expect(draining).toEqual([]);
  opened[0]!.stopNow();
});

test('an original that was paused finds its clone at work, and ends', async () => {
  const { clock, startPod, options } = newScene();
  const alder = await startPod('alder', options);
  await clock.advance(STEADY_MS);
  const clone = cloneOf(alder);
  asSameInode(clone);
  alder.wire.isCut = true;
  const second = startPod('alder', { ...options, dataDir: clone });
  await clock.advance(SILENT_MS);
  const pod = await second;
  await clock.advance(STEADY_MS);
  const draining = hear('engine.draining');
  alder.wire.isCut = false;
  await clock.advance(STEADY_MS);
  expect(draining).toHaveLength(1);
  expect(pod.fleet.status.pod).toMatchObject({ isReady: true, pod: pod.id });
});

test('after an outage the original goes on, though it looks as silent as the dead', async () => {
  const { clock, startPod, options } = newScene();
  const alder = await startPod('alder', options);
  await clock.advance(STEADY_MS);
  const clone = cloneOf(alder);
  asSameInode(clone);
  const wire = new Wire();
  [alder.wire.isCut, wire.isCut] = [true, true];
  const pod = await startPod('alder', { ...options, dataDir: clone, wire });
  await clock.advance(2 * SILENT_MS);
  const draining = hear('engine.draining');
  wire.isCut = false;
  await clock.advance(HEARTBEAT_MS);
  alder.wire.isCut = false;
  await clock.advance(STEADY_MS);
  expect(draining).toHaveLength(1);
  expect(pod.fleet.status.pod).toMatchObject({ isReady: false });
  expect(alder.fleet.status.pod).toMatchObject({ isReady: true, pod: alder.id });
});

test('a process that comes back to its own disk waits for nobody', async () => {
  const { clock, startPod, options } = newScene();
  const alder = await startPod('alder', options);
  await clock.advance(STEADY_MS);
  const before = clock.monotonicMs();
  const again = await startPod('alder', { ...options, dataDir: alder.crash() });
  expect(again.fleet.status.pod?.isReady).toBe(true);
  expect(clock.monotonicMs() - before).toBeLessThan(2 * HEARTBEAT_MS);
});

/** I43: what fails in a pod is the pod's, and ends no run: the run goes back, and is done. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { SqliteJournal } from '../../src/journal/index.ts';
import { gate, never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { SILENT_MS, STEADY_MS, type TestPod, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();
afterEach(() => vi.restoreAllMocks());

async function onePod() {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
  return { script, machine, ...fleet, pod };
}

/** The journal refuses the next record for which this holds, with an error that nobody knows. */
function refuseOnce(isIt: (state: string) => boolean): void {
  const { append } = SqliteJournal.prototype;
  let isSpent = false;
  vi.spyOn(SqliteJournal.prototype, 'append').mockImplementation(function (
    this: SqliteJournal,
    entry,
    written,
  ) {
    if (isSpent || !isIt(entry.state)) return append.call(this, entry, written);
    isSpent = true;
    return Promise.reject(new Error('a defect of ours'));
  });
}

test('a task that a pod fails to take goes back, and is done later', async () => {
  const { machine, clock, row, pod } = await onePod();
  const faults = hear('run.faulted');
  refuseOnce((state) => state === 'a.check');
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'retry', retryCount: 0 });
  expect(faults).toEqual([{ run: id, machine: 'two', reason: 'a defect of ours' }]);
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('a record that a pod fails to write cuts the phase off: it is probed and tried again', async () => {
  const { script, machine, clock, row, pod } = await onePod();
  const faults = hear('run.faulted');
  refuseOnce((state) => state === 'a.validate');
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(5_000);
  expect(faults).toHaveLength(1);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(2);
  expect(script.count('a.check') + script.count('a.probe')).toBe(2);
});

/** One record of the run reads as it was never written. */
function damage(dataDir: string, run: string, seq: number): void {
  const file = new Database(join(dataDir, 'journal.db'));
  const { sql } = file
    .prepare(`select sql from sqlite_schema where name = 'events_are_final'`)
    .get() as { sql: string };
  file.exec('drop trigger events_are_final');
  const text = `update events set data = replace(data, '"', '''') where run = ? and seq = ?`;
  expect(file.prepare(text).run(run, seq).changes).toBe(1);
  file.exec(sql);
  file.close();
}

test.each([
  { archive: '100ms', seq: 2, again: ['b.probe', 'b.work', 'b.validate', 'b.persist'] },
  { archive: '1h', seq: 5, again: ['b.check', 'b.work', 'b.validate', 'b.persist'] },
] as const)(
  'a run whose record $seq this disk has lost goes on from what is whole (archived every $archive)',
  async ({ archive, seq, again }) => {
    const script = new Script();
    const machine = twoSteps(script);
    const { clock, startPod, row } = startFleet();
    const options = { machines: [machine], around: script.around, archive };
    const alder = await startPod('alder', options);
    script.holds.set('b.work', never());
    const { id } = await alder.fleet.enqueue(machine, {});
    await clock.advance(1_000);
    script.holds.clear();
    script.calls.length = 0;
    const dataDir = alder.crash();
    damage(dataDir, id, seq);
    await startPod('alder', { ...options, dataDir });
    await clock.advance(2_000);
    expect(await row(id)).toMatchObject({ status: 'completed' });
    expect(script.calls.map((call) => call.split('@')[0])).toEqual(again);
  },
);

test('a journal that was put aside is still the one whose local runs the fleet knows', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, store, startPod, row, history } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  script.holds.set('b.work', never());
  const run = await alder.fleet.startLocal(machine, {});
  const task = await alder.fleet.enqueue(machine, {});
  await clock.advance(STEADY_MS);
  expect(await row(run.id)).toMatchObject({ status: 'claimed' });
  script.holds.clear();
  const dataDir = alder.crash();
  const file = new Database(join(dataDir, 'journal.db'));
  file.exec('drop trigger events_are_final');
  file.close();
  const alarms = hear('journal.alarm');
  const again = await startPod('alder', { ...options, dataDir });
  expect(alarms.map(({ kind }) => kind)).toEqual(['fileDamaged']);
  await clock.advance(STEADY_MS);
  expect(again.fleet.describe(run.id).status).toBe('completed');
  expect(await row(run.id)).toMatchObject({ status: 'completed' });
  // What its process was inside of counts as cut off, for what was claimed as well.
  expect(await row(task.id)).toMatchObject({ status: 'completed' });
  expect(await history(task.id)).toContain('INTERRUPTED');
  expect((await store.pods()).filter(({ status }) => status === 'up')).toHaveLength(1);
});

test('a pod that cannot write its journal lets others have its runs, and comes back', async () => {
  const script = new Script();
  const machine = twoSteps(script);
  const { clock, startPod, row, podStatus } = startFleet();
  const options = { machines: [machine], around: script.around };
  const alder = await startPod('alder', options);
  await clock.advance(STEADY_MS);
  const held = gate();
  script.holds.set('a.work', held.opened);
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(500);
  const birch = await startPod('birch', options);
  await clock.advance(STEADY_MS);
  const free = fillDiskOf(alder);
  held.open();
  script.holds.clear();
  const first = alder.id;
  await clock.advance(2 * SILENT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0, claims: 2 });
  expect(birch.fleet.status.pod?.leader).toBe(birch.id);
  expect(script.count('a.probe')).toBe(1);
  expect(alder.id).not.toBe(first);
  expect(await podStatus(alder.id)).toBe('up');
  expect(alder.fleet.status.pod).toMatchObject({ isReady: false, held: 0 });

  free();
  await clock.advance(5_000);
  expect(alder.fleet.status.pod?.isReady).toBe(true);
});

/** The journal of this pod takes no record until the answer is called. */
function fillDiskOf({ dataDir }: TestPod): () => void {
  const file = join(dataDir, 'journal.db');
  renameSync(file, `${file}.away`);
  return () => renameSync(`${file}.away`, file);
}

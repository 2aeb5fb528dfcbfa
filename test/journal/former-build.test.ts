/**
 * I34: what a build wrote is read by the one before it where nothing new is used, and refused clearly
 * where it is. The former build is this one without the kinds of records that came with versions.
 */
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { planOfStore } from '../../src/cli/fleet/plan-runs.ts';
import { type ForecastPorts, rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import type { Segment } from '../../src/store/index.ts';
import { useTestFleets } from '../fleet/support.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { useFleets } from '../support/fleets.ts';
import { fixed, GROWN, PLAIN, REMADE } from './kept-versions.ts';

vi.mock('../../src/machine/run-event.ts', async (original) => {
  const { EVENT_TYPES } = await original<{ EVENT_TYPES: readonly string[] }>();
  return { EVENT_TYPES: EVENT_TYPES.filter((type) => !/^(ADVANCED|UPGRADED)$/.test(type)) };
});

const FIXTURE = fileURLToPath(new URL('../fixtures/journal-versions', import.meta.url));
const WRITTEN_AT = Date.UTC(2026, 10, 15, 20);
const [DONE, HELD, ADVANCED, UPGRADED] = [
  '01M7GCQ4G06RHN69SJD169RC2F',
  '01M7GCQ4G047C4FEZDQK8YZG0M',
  '01M7GCQ4G047C4FEZDQK8YZG0N',
  '01M7GCQ4G047C4FEZDQK8YZG0P',
] as const;

interface KeptTask {
  readonly task: RunId;
  readonly machine: string;
  readonly segments: readonly Segment[];
}

function segmentsOf(machine: string): KeptTask {
  const file = new URL('../fixtures/segments-1/segments.json', import.meta.url);
  const tasks = JSON.parse(readFileSync(file, 'utf8')) as KeptTask[];
  return tasks.find((task) => task.machine === machine)!;
}

const { newDir, open } = useFleets();
const { startFleet, hear } = useTestFleets();

function recordsIn(dataDir: string, ...runs: string[]): unknown[] {
  const file = new Database(join(dataDir, 'journal.db'), { readonly: true });
  const rows = runs.flatMap((run) =>
    file.prepare('select * from events where run = ? order by seq').all(run),
  );
  file.close();
  return rows;
}

test('a journal with kinds of records that it does not know is opened, and those runs alone stand still', async () => {
  const dataDir = newDir();
  cpSync(FIXTURE, dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  for (const name of ['journal.db', 'journal.mark']) chmodSync(join(dataDir, name), 0o600);
  const before = recordsIn(dataDir, ADVANCED, UPGRADED);
  const calls: string[] = [];
  const machines = [PLAIN, ...GROWN, ...REMADE].map((machine) => fixed(machine, calls));
  const clock = new FakeClock(WRITTEN_AT);
  const { fleet } = await open({ machines, dataDir, clock });
  await clock.advance(60_000);
  expect(fleet.describe(DONE)).toMatchObject({ status: 'completed' });
  expect(fleet.describe(HELD)).toMatchObject({ status: 'completed', output: 'second by 1' });
  for (const [id, kind] of [
    [ADVANCED, 'ADVANCED'],
    [UPGRADED, 'UPGRADED'],
  ] as const) {
    expect(fleet.describe(id)).toMatchObject({
      status: 'quarantined',
      reason: expect.stringMatching(`record 4 is of the unknown kind '${kind}'`),
    });
  }
  expect(
    calls.every((call) => call.endsWith('held')),
    'nothing is guessed at',
  ).toBe(true);
  fleet.stopNow();
  expect(recordsIn(dataDir, ADVANCED, UPGRADED), 'whoever knows them finds them').toEqual(before);
});

test('a task with such a record is left to pods that know it, and is no dead letter', async () => {
  const { clock, tables, store, startPod, row } = startFleet();
  const kept = segmentsOf('fixture/grown');
  const payload = JSON.stringify({ name: 'grown' });
  const given = { machine: kept.machine, version: 2, taskId: kept.task, payload, claimEpoch: 7 };
  tables.insert({ ...given, lastSeq: 0 });
  await store.archive(kept.segments);
  const [blocked, refused] = [hear('task.blocked'), hear('task.refused')];
  const calls: string[] = [];
  await startPod('birch', { machines: [fixed(GROWN[1]!, calls)] });
  await clock.advance(30_000);
  expect(await row(kept.task)).toMatchObject({ status: 'waiting', waitFor: 'version', crashes: 0 });
  const reason = expect.stringMatching("unknown kind 'ADVANCED'");
  expect(blocked, 'it does not ask again and again').toMatchObject([{ run: kept.task, reason }]);
  expect([calls, refused]).toEqual([[], []]);
});

test('plan says of a task with such a record that it is blocked', async () => {
  const { tables, store } = startFleet();
  const { task, machine, segments } = segmentsOf('fixture/grown');
  tables.insert({ machine, version: 2, taskId: task, payload: '{}', lastSeq: 0, claimEpoch: 7 });
  await store.archive(segments);
  const planned: unknown[] = [];
  // Records that cannot be read are not held against any machine.
  for await (const run of planOfStore({} as ForecastPorts, store, () => false)) planned.push(run);
  const reason = expect.stringMatching("unknown kind 'ADVANCED'");
  expect(planned).toMatchObject([{ run: task, fate: 'blocked', reason }]);
});

test('a task that comes back to its disk with such a record is left to them too', async () => {
  const { clock, tables, startPod, row } = startFleet();
  const calls: string[] = [];
  const one = fixed(GROWN[0]!, calls, (step) => step === 'second');
  const first = await startPod('alder', { machines: [one] });
  const { id } = await first.fleet.enqueue(one, { name: 'task' });
  await clock.advance(2_000);
  const machines = [fixed(GROWN[1]!, calls, (step) => step === 'second')];
  // What it writes it cannot read again, as if its successor were of the day before.
  const second = await startPod('alder', { machines, dataDir: first.crash() });
  await clock.advance(2_000);
  expect(await row(id)).toMatchObject({ status: 'claimed', version: 2 });
  tables.tasks.get(id as RunId)!.crashes = 0;
  const before = calls.length;
  await startPod('alder', { machines, dataDir: second.crash() });
  await clock.advance(20_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'version', version: 2 });
  expect(calls.length).toBe(before);
});

test('segments in which nothing is new are read, and others refused by name', () => {
  const read = (machine: string) => {
    const { task, segments } = segmentsOf(machine);
    return decodeRows(task, rowsOf(task, segments, undefined), identityCodec);
  };
  expect(read('fixture/plain').at(-1)).toMatchObject({ state: 'completed' });
  expect(() => read('fixture/grown')).toThrow("unknown kind 'ADVANCED'");
  expect(() => read('fixture/remade')).toThrow("unknown kind 'UPGRADED'");
});

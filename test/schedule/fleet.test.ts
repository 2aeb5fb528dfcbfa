/** Schedules with real pods on a store in a file: declared by code, ticked by whoever is there, run. */
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { keyOf } from '../../src/fleet/schedule/tasks.ts';
import { createFleet, defineSchedule, type Fleet } from '../../src/index.ts';
import { changeOf } from '../store/conform-schedules.ts';
import { prompt } from '../store/sqlite-harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { report } from './stage.ts';

const newDir = useTempDirs();
const opened: Fleet[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((fleet) => fleet.drain({ budget: '2s' })));
});
const WAIT = { timeout: 90_000 };

async function open(file: string, schedules?: Parameters<typeof createFleet>[0]['schedules']) {
  const fleet = await createFleet({
    machines: [report],
    dataDir: newDir(),
    store: `sqlite:${file}`,
    migrates: true,
    heartbeat: '200ms',
    silence: '60s',
    schedules,
  });
  opened.push(fleet);
  return fleet;
}

const yearly = defineSchedule({
  name: 'yearly',
  cron: '0 0 1 1 *',
  machine: report,
  input: { n: 1 },
  tickAs: 'at',
});

test('what code declares is there, ticks on one of two pods when it is due, and runs once', async () => {
  const file = join(newDir(), 'fleet.db');
  const [fleet] = [await open(file, [yearly]), await open(file, [yearly])];
  const rowOf = () =>
    prompt(file, (database) => database.prepare('select * from schedule').all() as never[]);
  await expect.poll(() => rowOf().length, WAIT).toBe(1);
  // The year is over now, as far as the row is concerned.
  const tick = Date.UTC(2026, 0, 1);
  prompt(file, (database) =>
    database.prepare('update schedule set next_at = ?, edition = edition + 1').run(tick),
  );
  const done = async () => fleet!.store.list({ machine: 'report', countMax: 10 });
  await expect
    .poll(async () => (await done()).map(({ status }) => status), WAIT)
    .toEqual(['completed']);
  const [task] = await done();
  expect(task).toMatchObject({ version: 3, claims: 1 });
  expect(JSON.parse(task!.payload!)).toMatchObject({ n: 1 });
  expect(task!.key).toMatch(/^schedule\/yearly\/\d{4}-01-01T00:00:00\.000Z$/);
  const [row] = rowOf() as { ticks: number; next_at: number; last_at: number }[];
  expect(row).toMatchObject({ ticks: 1 });
  expect(row!.next_at).toBeGreaterThan(row!.last_at);
  expect(task!.key).toBe(keyOf('yearly', row!.last_at));
  await fleet!.store.changeSchedule(changeOf('yearly', { what: 'remove' }));
  await open(file, [yearly]);
  await expect
    .poll(
      async () => (await fleet!.store.pods()).filter(({ status }) => status === 'up').length,
      WAIT,
    )
    .toBe(3);
  expect(rowOf()).toMatchObject([{ status: 'removed' }]);
}, 120_000);

test('a schedule of a machine that the program does not have is refused at its start', async () => {
  const file = join(newDir(), 'fleet.db');
  const other = { ...yearly, plan: { ...yearly.plan, machine: 'another' } };
  await expect(open(file, [other])).rejects.toMatchObject({ code: 'FLEETQ_BAD_SCHEDULE' });
});

/** The records of a large journal are looked through after the start: damage is told, and set aside. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { type JournalOptions, SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, type Rig, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();
const openJournal = SqliteJournal.open;
const { checkEvents } = SqliteJournal.prototype;

afterEach(() => {
  SqliteJournal.open = openJournal;
  Object.assign(SqliteJournal.prototype, { checkEvents });
});

/** Every file is too large to be read through at the start. */
function takeAllForLarge(): void {
  SqliteJournal.open = (directory: string, options: JournalOptions) =>
    openJournal.call(SqliteJournal, directory, { ...options, checkBytesMax: 0 });
}

const sleeper = defineMachine({
  version: 1,
  input: anyInput,
  name: 'sleeper',
  steps: (line) => line.sleep('night', '8h').step('day', { check: 'none', work: () => 'up' }),
});
const quick = defineMachine({
  version: 1,
  input: anyInput,
  name: 'quick',
  check: 'none',
  work: () => 'done',
});

/** Four ended runs and two that sleep, in a file that was closed. */
async function filled(): Promise<Rig & { readonly ids: string[] }> {
  const rig = await open({ machines: [sleeper, quick] });
  const ids: string[] = [];
  for (const machine of [quick, quick, sleeper, quick, sleeper, quick]) {
    ids.push((await rig.fleet.startLocal(machine, {})).id);
    await rig.clock.settle();
  }
  rig.fleet.stopNow();
  return { ...rig, ids };
}

/** Changes a record of each as a disk may. */
function damage(dataDir: string, ids: readonly string[]): void {
  const file = new Database(join(dataDir, 'journal.db'));
  const trigger = file
    .prepare("select sql from sqlite_schema where name = 'events_are_final'")
    .pluck()
    .get() as string;
  file.exec('drop trigger events_are_final');
  for (const id of ids) {
    file.prepare('update events set at = at + 1 where run = ? and seq = 1').run(id);
  }
  file.exec(trigger);
  file.close();
}

test('damage to an ended run and to one that sleeps is told, the sleeping one is set aside, the others go on', async () => {
  const { dataDir, clock, ids } = await filled();
  const [ended, , asleep] = ids as [string, string, string];
  damage(dataDir, [ended, asleep]);
  takeAllForLarge();
  const alarms = hear('journal.alarm');
  const quarantined = hear('run.quarantined');
  const { fleet } = await open({ machines: [sleeper, quick], dataDir, clock });
  expect(alarms).toEqual([]);
  await clock.advance(1_000);
  expect(alarms.map(({ kind }) => kind)).toEqual(['eventsDamaged', 'eventsDamaged']);
  expect(alarms[0]!.message).toContain(ended);
  expect(alarms[1]!.message).toBe(
    '2 runs have damaged records: see them with fleetq journal verify',
  );
  expect(quarantined.map(({ run }) => run)).toEqual([asleep]);
  expect(fleet.describe(asleep).status).toBe('quarantined');
  // It answers by its row, which is sealed.
  expect(fleet.describe(ended)).toMatchObject({ status: 'completed', output: 'done' });
  await clock.advance(9 * 3_600_000);
  expect(ids.map((id) => fleet.describe(id).status)).toEqual([
    'completed',
    'completed',
    'quarantined',
    'completed',
    'completed',
    'completed',
  ]);
  expect(alarms).toHaveLength(2);
});

test('a turn looks at a bounded number of runs, each once, and a journal that is whole is nothing to tell', async () => {
  const { dataDir, clock, ids } = await filled();
  takeAllForLarge();
  const pages: (string | undefined)[][] = [];
  SqliteJournal.prototype.checkEvents = function (after, countMax) {
    expect(countMax).toBeLessThanOrEqual(50);
    const answer = checkEvents.call(this, after, 4);
    pages.push([after, answer.last]);
    return answer;
  };
  const alarms = hear('journal.alarm');
  await open({ machines: [sleeper, quick], dataDir, clock });
  expect(pages).toEqual([]);
  await clock.advance(10_000);
  expect(pages).toEqual([
    ['', ids[3]],
    [ids[3], ids[5]],
    [ids[5], undefined],
  ]);
  expect(alarms).toEqual([]);
});

test('a small journal, which was read through at the start, is not read again', async () => {
  const { dataDir, clock } = await filled();
  let turns = 0;
  SqliteJournal.prototype.checkEvents = function (after, countMax) {
    turns++;
    return checkEvents.call(this, after, countMax);
  };
  await open({ machines: [sleeper, quick], dataDir, clock });
  await clock.advance(10_000);
  expect(turns).toBe(0);
});

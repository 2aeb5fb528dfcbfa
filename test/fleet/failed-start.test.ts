/** A process whose fleet could not be opened leaves its data directory free. */
import { expect, test } from 'vitest';
import {
  createFleet,
  defineMachine,
  defineSchedule,
  type ScheduleDefinition,
} from '../../src/index.ts';
import { MemoryStore, MemoryTables } from '../../src/store/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { anyInput } from './support.ts';

const newDir = useTempDirs();
const machineOf = <Name extends string>(name: Name) =>
  defineMachine({ name, version: 1, input: anyInput, check: 'none', work: () => 1 });

test('I46: a pod that cannot join closes its journal, and the next try has the directory', async () => {
  const clock = new FakeClock();
  const tables = new MemoryTables({ clock, random: seededRandom(1) });
  const machine = machineOf('elsewhere');
  const dataDir = newDir();
  const open = (schedules: readonly ScheduleDefinition[]) =>
    createFleet({
      machines: [machineOf('here')],
      schedules,
      dataDir,
      store: new MemoryStore(tables),
      isIdle: true,
      clock,
    });
  const schedule = defineSchedule({ name: 'daily', machine, cron: '0 3 * * *', input: {} });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(open([schedule])).rejects.toThrow('which is not in machines');
  }
  (await open([])).stopNow();
});

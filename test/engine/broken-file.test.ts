/** A file that fails in one place: people are told, and the process goes on. */
import { afterEach, expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { anyInput, useFleets } from '../support/fleets.ts';

const { open, afterCrash, hear } = useFleets();
const { append, takeDueTimers, nextTimerAt, prune } = SqliteJournal.prototype;
const HOUR_MS = 3_600_000;
const whole = { append, takeDueTimers, nextTimerAt, prune };

afterEach(() => {
  Object.assign(SqliteJournal.prototype, whole);
});

/** From now on the journal throws there, as SQLite does over a page that makes no sense. */
function breakIn(name: keyof typeof whole): { readonly calls: number } {
  const counted = { calls: 0 };
  Object.assign(SqliteJournal.prototype, {
    [name]: () => {
      counted.calls++;
      throw Object.assign(new Error('database disk image is malformed'), {
        code: 'SQLITE_CORRUPT',
      });
    },
  });
  return counted;
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

test.each([
  ['takeDueTimers', 'timersFailed'],
  ['nextTimerAt', 'timersFailed'],
  ['prune', 'pruningFailed'],
] as const)(
  'where %s throws there is one alarm, a look now and then, and runs go on',
  async (name, kind) => {
    const alarms = hear('journal.alarm');
    const { fleet, clock } = await open({ machines: [sleeper, quick] });
    const asleep = await fleet.startLocal(sleeper, {});
    await clock.advance(8 * HOUR_MS - 1);
    const broken = breakIn(name);
    await clock.advance(10 * 60_000);
    expect(alarms).toEqual([{ kind, message: 'database disk image is malformed' }]);
    expect(broken.calls).toBeGreaterThanOrEqual(name === 'nextTimerAt' ? 1 : 9);
    expect(broken.calls).toBeLessThanOrEqual(12);
    expect(await (await fleet.startLocal(quick, {})).result()).toBe('done');
    Object.assign(SqliteJournal.prototype, whole);
    await clock.advance(60_000);
    expect(await asleep.result()).toBe('up');
  },
);

test('a file whose timers cannot be read at the start does not keep the process from starting', async () => {
  const alarms = hear('journal.alarm');
  const first = await open({ machines: [sleeper] });
  const { id } = await first.fleet.startLocal(sleeper, {});
  await first.clock.settle();
  first.fleet.stopNow();
  breakIn('nextTimerAt');
  breakIn('prune');
  const { dataDir, clock } = first;
  const second = await open({ machines: [sleeper], dataDir, clock });
  expect(alarms.map((alarm) => alarm.kind).sort()).toEqual(['pruningFailed', 'timersFailed']);
  Object.assign(SqliteJournal.prototype, whole);
  await clock.advance(8 * HOUR_MS);
  expect(second.fleet.describe(id).status).toBe('completed');
});

test('a run whose record the journal refuses stops at the one before, and goes on in the next process', async () => {
  const calls: string[] = [];
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'unrecorded',
    check: 'none',
    work: () => calls.push('work'),
    persist: () => calls.push('persist'),
  });
  const first = await open({ machines: [machine] });
  SqliteJournal.prototype.append = function (entry) {
    if (entry.event.type === 'DONE') return Promise.reject(new Error('not taken'));
    return append.call(this, entry);
  };
  const run = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  Object.assign(SqliteJournal.prototype, whole);
  expect(calls).toEqual(['work']);
  expect(first.fleet.describe(run.id)).toMatchObject({
    status: 'quarantined',
    reason: 'not taken',
  });
  const { fleet, clock } = await afterCrash(first, { machines: [machine] });
  await clock.settle();
  expect(fleet.describe(run.id).status).toBe('completed');
  expect(calls).toEqual(['work', 'work', 'persist']);
});

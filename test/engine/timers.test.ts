/** Sleeps and long waits: rows in the journal, not objects in memory. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Around, defineMachine } from '../../src/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { anyInput, gate, kinds, useFleets } from '../support/fleets.ts';

const { open, afterCrash } = useFleets();
const HOUR_MS = 3_600_000;

function sleeper(delay: '8h' | '3s' | '6s' | '40d' | (() => Date), woken: string[] = []) {
  return defineMachine({
    version: 1,
    input: anyInput,
    name: 'sleeper',
    steps: (line) =>
      line.sleep('night', delay).step('day', {
        check: 'none',
        work: ({ runId }) => {
          woken.push(runId);
          return 'up';
        },
      }),
  });
}

test('10,000 sleeping runs are nothing in memory, and each wakes once', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const { fleet, clock } = await open({ machines: [machine] });
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 1_000 }, () => fleet.startLocal(machine, {})));
  }
  await clock.settle();
  expect(fleet.status).toMatchObject({ inMemory: 0, queued: 0, busy: 0 });
  // One for the next look at the timers, one for pruning.
  expect(clock.timerCount).toBeLessThanOrEqual(2);
  await clock.advance(8 * HOUR_MS - 1);
  expect(woken).toEqual([]);
  await clock.advance(60_001);
  expect(new Set(woken).size).toBe(10_000);
  expect(woken).toHaveLength(10_000);
}, 120_000);

test.each(['8h', '3s'] as const)(
  'a sleep of %s is over at its time and not before',
  async (delay) => {
    const woken: string[] = [];
    const machine = sleeper(delay, woken);
    const { fleet, clock } = await open({ machines: [machine] });
    await fleet.startLocal(machine, {});
    const ms = delay === '8h' ? 8 * HOUR_MS : 3_000;
    await clock.advance(ms - 1);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toHaveLength(1);
  },
);

test('a sleep longer than a timer can be ends at its time', async () => {
  const woken: string[] = [];
  const machine = sleeper('40d', woken);
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  clock.pass(39 * 24 * HOUR_MS);
  await clock.advance(60_000);
  expect(woken).toEqual([]);
  clock.pass(24 * HOUR_MS);
  await clock.advance(60_000);
  expect(woken).toHaveLength(1);
});

test('sleepers that wake at once, or were overdue at the start, never crowd memory', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const seen: number[] = [];
  const around: Around = (_of, call) => {
    seen.push(rig.fleet.status.inMemory);
    return call();
  };
  const options = { machines: [machine], activeRunsMax: 10, slots: 2, around };
  let rig = await open(options);
  for (let index = 0; index < 60; index++) {
    await rig.fleet.startLocal(machine, {});
    await rig.clock.settle();
  }
  rig.clock.pass(8 * HOUR_MS);
  await rig.clock.advance(61_000);
  expect(woken).toHaveLength(60);

  for (let index = 0; index < 60; index++) {
    await rig.fleet.startLocal(machine, {});
    await rig.clock.settle();
  }
  rig.fleet.stopNow();
  rig.clock.pass(24 * HOUR_MS);
  rig = await open({ ...options, dataDir: rig.dataDir, clock: rig.clock });
  await rig.clock.advance(61_000);
  expect(woken).toHaveLength(120);
  expect(Math.max(...seen)).toBeLessThanOrEqual(10);
});

test('a sleep survives crashes before, in and after the night', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.advance(HOUR_MS);
  const second = await afterCrash(first, { machines: [machine] });
  first.fleet.stopNow();
  expect(second.fleet.describe(id)).toMatchObject({ status: 'waiting', state: 'night.sleep' });
  second.fleet.stopNow();
  second.clock.pass(20 * HOUR_MS);
  const third = await afterCrash(second, { machines: [machine] });
  await third.clock.advance(0);
  expect(woken).toEqual([id]);
  const fourth = await afterCrash(third, { machines: [machine] });
  await fourth.clock.advance(HOUR_MS);
  expect(woken).toEqual([id]);
  expect(kinds(fourth.fleet, id)).toEqual(['STARTED', 'ASLEEP', 'DONE', 'DONE']);
});

test('a timer that was taken when the process died fires in the next one', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const first = await open({ machines: [machine] });
  const { id } = await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  // The timer's row is gone, and nothing that it set off is on record yet.
  first.clock.pass(8 * HOUR_MS);
  const fired = first.clock.advance(60_000);
  const second = await afterCrash(first, { machines: [machine] });
  await fired;
  first.fleet.stopNow();
  await second.clock.settle();
  expect(second.fleet.describe(id).status).toBe('completed');
});

test('a clock that is set back lets a sleeper sleep on until its time', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  const dueAt = clock.now() + 8 * HOUR_MS;
  clock.setWall(clock.now() - 5 * HOUR_MS);
  await clock.advance(8 * HOUR_MS);
  expect(woken).toEqual([]);
  await clock.advance(dueAt - clock.now() + 60_000);
  expect(woken).toHaveLength(1);
});

test.each([-HOUR_MS, HOUR_MS])(
  'a short sleep lasts as long as it was to last when the clock is set by %i ms',
  async (ms) => {
    const woken: string[] = [];
    const machine = sleeper('3s', woken);
    const { fleet, clock } = await open({ machines: [machine] });
    await fleet.startLocal(machine, {});
    await clock.settle();
    clock.setWall(clock.now() + ms);
    await clock.advance(2_999);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toHaveLength(1);
  },
);

test('a short sleep is not slept again when the clock is set back before its run has a slot', async () => {
  const woken: string[] = [];
  const machine = sleeper('3s', woken);
  const held = gate();
  const holder = defineMachine({
    version: 1,
    input: anyInput,
    name: 'holder',
    check: 'none',
    work: () => held.opened,
  });
  const { fleet, clock } = await open({ machines: [machine, holder], slots: 1 });
  await fleet.startLocal(machine, {});
  await clock.settle();
  await fleet.startLocal(holder, {});
  await clock.advance(3_000);
  clock.setWall(clock.now() - HOUR_MS);
  held.open();
  await clock.settle();
  expect(woken).toHaveLength(1);
});

test('a short sleep whose process ends lasts no longer in the next where the clock is set back', async () => {
  const woken: string[] = [];
  const machine = sleeper('3s', woken);
  const first = await open({ machines: [machine] });
  await first.fleet.startLocal(machine, {});
  await first.clock.settle();
  first.fleet.stopNow();
  first.clock.setWall(first.clock.now() - HOUR_MS);
  const second = await afterCrash(first, { machines: [machine] });
  await second.clock.advance(2_999);
  expect(woken).toEqual([]);
  await second.clock.advance(1);
  expect(woken).toHaveLength(1);
});

test.each([
  ['8h', 0],
  ['8h', 1_000],
  ['6s', 1_000],
] as const)(
  'a timer of %s that was taken when the process died lasts as long in the next, the clock set back by %s hours',
  async (delay, hours) => {
    const woken: string[] = [];
    const machine = sleeper(delay, woken);
    const first = await open({ machines: [machine] });
    await first.fleet.startLocal(machine, {});
    await first.clock.settle();
    first.fleet.stopNow();
    const file = new Database(join(first.dataDir, 'journal.db'));
    file.exec('delete from timers');
    file.close();
    first.clock.setWall(first.clock.now() - hours * HOUR_MS);
    const second = await afterCrash(first, { machines: [machine] });
    const ms = delay === '8h' ? 8 * HOUR_MS : 6_000;
    await second.clock.advance(ms - 1);
    expect(woken).toEqual([]);
    await second.clock.advance(1);
    expect(woken).toHaveLength(1);
  },
);

test('a clock that is set back in a sleep beyond the deadline does not end the sleep early', async () => {
  const woken: string[] = [];
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'hasty',
    timeout: { run: '2s' },
    steps: (line) =>
      line.sleep('night', '8h').step('day', { check: 'none', work: () => woken.push('day') }),
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  clock.setWall(clock.now() - HOUR_MS);
  await clock.advance(2_000);
  expect(fleet.describe(run.id)).toMatchObject({ outcome: 'timedOut', state: 'night.sleep' });
  expect(woken).toEqual([]);
});

test('a clock that is set forward wakes a sleeper within a minute', async () => {
  const woken: string[] = [];
  const machine = sleeper('8h', woken);
  const { fleet, clock } = await open({ machines: [machine] });
  await fleet.startLocal(machine, {});
  await clock.settle();
  clock.setWall(clock.now() + 9 * HOUR_MS);
  await clock.advance(60_000);
  expect(woken).toHaveLength(1);
});

test('a sleep may last until a date, and one in the past is over at once', async () => {
  const clock = new FakeClock();
  const woken: string[] = [];
  const machine = sleeper(() => new Date(clock.now() - HOUR_MS), woken);
  const { fleet } = await open({ machines: [machine], clock });
  expect(await (await fleet.startLocal(machine, {})).result()).toBe('up');
});

test('a sleep that is no duration fails the run and says what was wanted', async () => {
  const machine = sleeper((() => 'a while') as never);
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await expect(run.result()).rejects.toMatchObject({
    state: 'night.sleep',
    error: { message: expect.stringContaining('a duration or a Date, got "a while"') },
  });
});

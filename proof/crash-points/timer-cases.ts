/** The cases of the crash table for timers: rows 34 and 35. */
import { expect } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { StoredRecord } from '../../src/journal/index.ts';
import type { Hook } from './hooks.ts';
import { countOf, historyOf, judge } from './judge.ts';
import type { Ground, PodOrders } from './rig.ts';
import { append, type Case, store } from './strikes.ts';
import { type Disk, rowOf } from './table.ts';

/** Short enough to be waited for in memory: the record alone has it. */
const SHORT_MS = 1_000;
/** Long enough to be left to a row: of the journal for a local run, else of the store. */
const LONG_MS = 5_500;
/** After its time, or after somebody is there again: processes have to start and dead ones be swept. */
const LATE_MS_MAX = 30_000;

/** It slept once, woke once and in time, by whatever number of processes. */
function judgeNap(records: readonly StoredRecord[], thereAgainMs: number): void {
  const asleep = records.filter(({ event }) => event.type === 'ASLEEP');
  expect(asleep, 'it was armed once, and no restart armed it for later').toHaveLength(1);
  const [{ event }] = asleep as [StoredRecord];
  const dueAt = 'dueAt' in event ? event.dueAt : Number.NaN;
  const woken = records.filter(({ event: { type }, state }, index) => {
    const cameFrom = records[index - 1]?.state;
    return type === 'DONE' && cameFrom === 'nap.sleep' && state === 'b.check';
  });
  expect(woken, 'it fired once').toHaveLength(1);
  expect(woken[0]!.at, 'not before its time').toBeGreaterThanOrEqual(dueAt);
  expect(woken[0]!.at).toBeLessThan(Math.max(dueAt, thereAgainMs) + LATE_MS_MAX);
}

interface Nap {
  readonly row: number;
  readonly disk: Disk;
  readonly name: string;
  readonly napMs: number;
  readonly hook: Hook;
  readonly orders?: PodOrders;
}

function naps({ row, disk, name, napMs, hook, orders }: Nap): Case {
  expect(rowOf(row).disks).toContain(disk);
  return {
    row,
    disk,
    name,
    isAlone: disk === 'kept',
    run: async (ground, machine) => {
      const [id] = await ground.enqueue(machine);
      const dataDir = ground.newDisk();
      await ground.start({ machine, dataDir, napMs, hook, ...orders }).strikes();
      const thereAgainMs = Date.now();
      await ground.finish(machine, disk === 'kept' ? dataDir : undefined, { napMs });
      await judge(ground, machine, disk);
      judgeNap(await historyOf(ground, id!), thereAgainMs);
    },
  };
}

/** A run that no other host may have: its timer is a row of this journal. */
function napsLocally(row: number, name: string, hook: Hook, isExtra = false): Case {
  return {
    row,
    disk: 'kept',
    name,
    isAlone: true,
    isExtra,
    run: async (ground, machine) => {
      const orders = { machine, dataDir: ground.newDisk(), napMs: LONG_MS };
      const said = await ground.start({ ...orders, startsLocal: true, hook }).strikes();
      const thereAgainMs = Date.now();
      await ground.finish(machine, orders.dataDir, { napMs: LONG_MS });
      const [row] = await ground.rows(machine);
      expect(said).toContain(row!.id);
      expect(row).toMatchObject({ status: 'completed', outcome: 'completed' });
      judgeOnce(ground, row!.id);
      judgeNap(await historyOf(ground, row!.id), thereAgainMs);
    },
  };
}

function judgeOnce(ground: Ground, id: RunId): void {
  for (const place of ['a.work', 'a.persist', 'b.check', 'b.work', 'b.persist']) {
    expect(countOf(ground, id, place), place).toBe(1);
  }
}

const waits: Hook = { at: 'event', name: 'run.waiting', act: 'kill' };

export const TIMER_CASES: readonly Case[] = [
  naps({
    row: 34,
    disk: 'kept',
    name: 'a short one, when it is durable',
    napMs: SHORT_MS,
    hook: append('after', 'ASLEEP'),
  }),
  naps({
    row: 34,
    disk: 'lost',
    name: 'a long one, when the store has it',
    napMs: LONG_MS,
    hook: store('settle', 'after'),
  }),
  napsLocally(34, 'a long one of a local run, when it is durable', waits),
  naps({
    row: 35,
    disk: 'kept',
    name: 'a short one, when what follows is durable',
    napMs: SHORT_MS,
    hook: append('after', 'DONE', 'b.check'),
  }),
  naps({
    row: 35,
    disk: 'lost',
    name: 'a long one, when whoever woke it has claimed it',
    napMs: LONG_MS,
    // The first claim began it, the second is by its time.
    hook: store('claim', 'after', 2),
  }),
  napsLocally(
    35,
    'a long one of a local run, when what follows is durable',
    append('after', 'DONE', 'b.check'),
    true,
  ),
];

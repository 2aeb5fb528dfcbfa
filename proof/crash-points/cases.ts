/** The cases of the crash table for one pod and its tasks: rows 1 to 24 and 28 to 31. */
import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type ShimOptions, shimEnv } from '../../test/support/disk-shim.ts';
import { readLedger } from '../../test/support/ledger.ts';
import type { Hook } from './hooks.ts';
import { countOf, judge } from './judge.ts';
import { RECOVERY_CASES } from './recovery-cases.ts';
import type { PodOrders } from './rig.ts';
import { append, type Case, NEVER_MS, phase, store } from './strikes.ts';
import { type Disk, rowOf } from './table.ts';

interface Death {
  readonly orders?: PodOrders;
  readonly hook?: Hook;
  readonly shim?: ShimOptions;
  readonly count?: number;
  /** What happens to the disk afterwards. */
  readonly after?: (dataDir: string) => void;
  readonly isExtra?: boolean;
}

/** One pod dies there; the same disk, or another pod, goes on. */
function dies(row: number, name: string, death: Death): Case[] {
  const { orders, hook, shim, count = 1, after, isExtra = false } = death;
  return rowOf(row).disks.map((disk) => ({
    row,
    disk,
    name,
    isAlone: disk === 'kept',
    isExtra,
    run: async (ground, machine) => {
      await ground.enqueue(machine, count);
      const dataDir = ground.newDisk();
      const env = shim ? shimEnv(shim) : undefined;
      await ground.start({ machine, dataDir, hook, ...orders }, env).strikes();
      after?.(dataDir);
      await ground.finish(machine, disk === 'kept' ? dataDir : undefined);
      await judge(ground, machine, disk, count);
    },
  }));
}

const told = (name: 'run.started' | 'task.settled' | 'archive.flushed'): Hook => ({
  at: 'event',
  name,
  act: 'kill',
});

function enqueues(row: number, name: string, when: 'before' | 'after'): Case {
  return {
    row,
    disk: 'lost',
    name,
    isAlone: false,
    run: async (ground, machine) => {
      const orders = { machine, enqueues: `key of ${machine}` };
      await ground.start({ ...orders, hook: store('enqueue', when) }).strikes();
      expect(await ground.rows(machine)).toHaveLength(when === 'before' ? 0 : 1);
      // Whoever enqueues did not hear of it, and tries again with its key.
      for (let time = 0; time < 2; time++) await ground.start(orders).finishes();
      await ground.finish(machine);
      await judge(ground, machine, 'lost');
    },
  };
}

function survives(row: number, name: string, hook: Hook, orders: PodOrders = {}): Case {
  return {
    row,
    disk: 'kept',
    name,
    isAlone: true,
    run: async (ground, machine) => {
      await ground.enqueue(machine);
      const pod = ground.start({ machine, hook, isFinisher: true, name: machine, ...orders });
      await pod.finishes();
      expect(pod.said).toContain('struck');
      await judge(ground, machine, 'kept');
      expect(await ground.rows(machine)).toMatchObject([{ claims: 1 }]);
      const lives = (await ground.store.pods()).filter((row) => row.name === machine);
      expect(lives, 'it was not taken for another').toHaveLength(1);
    },
  };
}

/** What the last commit wrote and did not sync is torn off in the middle of a page. */
function tearWal(dataDir: string): void {
  const wal = join(dataDir, 'journal.db-wal');
  truncateSync(wal, Math.max(0, statSync(wal).size - 1_000));
}

const paused: Case = {
  row: 17,
  disk: 'kept',
  name: 'in b.work, until another pod has finished its task',
  isAlone: false,
  run: async (ground, machine) => {
    const [id] = await ground.enqueue(machine);
    const hook: Hook = { at: 'phase', place: 'b.work', moment: 'half', act: 'pause' };
    const pod = ground.start({ machine, hook, name: machine });
    await pod.says(/struck/);
    // Not from itself: it may stand still before it has said anything else.
    const old = (await ground.store.pods()).find((row) => row.name === machine)!.pod;
    await ground.finish(machine);
    pod.child.kill('SIGCONT');
    await ground.until('it registers anew', async () =>
      (await ground.store.pods()).some((row) => row.name === machine && row.status === 'up'),
    );
    // Its handler has ended meanwhile: the effect may be there twice, the outcome is not.
    await ground.until('its handler ends', async () => countOf(ground, id!, 'b.work') === 2);
    await sleep(300);
    expect(countOf(ground, id!, 'b.validate'), 'it began no further phase').toBe(1);
    const before = (await ground.store.pods()).find((row) => row.pod === old);
    expect(before?.status).toBe('down');
    await judge(ground, machine, 'lost');
    await pod.kill('SIGTERM');
  },
};

function full(disk: Disk): Case {
  return {
    row: 23,
    disk,
    name: 'the record of b.work',
    isAlone: disk === 'kept',
    run: async (ground, machine) => {
      const [id] = await ground.enqueue(machine);
      const control = `${ground.ledger}-${machine}-full`;
      const fail = { op: 'write', errno: 'ENOSPC', path: 'journal.db-wal', control } as const;
      const orders = { machine, workMs: 1_000, archiveMs: NEVER_MS, isFinisher: disk === 'kept' };
      const pod = ground.start(orders, shimEnv({ fail }));
      const isInWork = async () =>
        readLedger(ground.ledger).some(
          (line) => line.run === id && line.step === 'b' && line.phase === 'work',
        );
      await ground.until('b.work begins', isInWork);
      writeFileSync(control, '');
      await ground.until('b.work ends', async () => countOf(ground, id!, 'b.work') > 0);
      await sleep(300);
      expect(countOf(ground, id!, 'b.validate'), 'nothing is acted on').toBe(0);
      if (disk === 'kept') {
        rmSync(control);
        await pod.finishes();
        expect(countOf(ground, id!, 'b.work')).toBe(1);
      } else {
        await pod.kill();
        await ground.finish(machine);
      }
      await judge(ground, machine, disk);
    },
  };
}

export const CASES: readonly Case[] = [
  enqueues(1, 'before it is sent', 'before'),
  enqueues(2, 'when it is committed', 'after'),
  ...dies(3, 'before it is sent', { hook: store('claim', 'before') }),
  survives(4, 'it is found by counting', {
    at: 'store',
    verb: 'claim',
    when: 'after',
    act: 'lose',
  }),
  ...dies(5, 'when it is answered', { hook: store('claim', 'after') }),
  ...dies(6, 'when it is durable', { hook: told('run.started') }),
  ...dies(7, 'the record of a.work', { hook: append('buffered', 'DONE', 'a.validate') }),
  ...dies(7, 'in place of the sync', {
    shim: { kill: { op: 'sync', nth: 7, path: 'journal.db-wal' } },
    isExtra: true,
  }),
  ...dies(8, 'a page cut in the middle', {
    shim: { kill: { op: 'sync', nth: 8, path: 'journal.db-wal' } },
    after: tearWal,
  }),
  ...dies(9, 'b.work', { hook: phase('b.work', 'begun') }),
  ...dies(9, 'b.persist', { hook: phase('b.persist', 'begun'), isExtra: true }),
  ...dies(10, 'of b.work', { hook: phase('b.work', 'half') }),
  ...dies(11, 'of b.work', { hook: phase('b.work', 'done') }),
  ...dies(11, 'of b.persist', { hook: phase('b.persist', 'done'), isExtra: true }),
  ...dies(12, 'that of b.work', {
    hook: append('after', 'DONE', 'b.validate'),
    orders: { archiveMs: NEVER_MS },
  }),
  ...dies(13, 'of b', { hook: phase('b.validate', 'done') }),
  ...dies(14, 'before it is sent', { hook: store('settle', 'before') }),
  ...dies(15, 'when it is committed', { hook: store('settle', 'after') }),
  ...dies(16, 'when it is told', { hook: told('task.settled') }),
  paused,
  ...dies(18, 'before it is sent', { hook: store('archive', 'before'), orders: { workMs: 600 } }),
  ...dies(19, 'when it is committed', { hook: store('archive', 'after'), orders: { workMs: 600 } }),
  ...dies(20, 'when it is told', { hook: told('archive.flushed'), orders: { workMs: 600 } }),
  ...dies(21, 'before it is written', { hook: { at: 'forget', when: 'before' } }),
  ...dies(21, 'when it is written', { hook: { at: 'forget', when: 'after' }, isExtra: true }),
  ...dies(22, 'in place of a write to the main file', {
    orders: { outputBytes: 300_000, archiveMs: NEVER_MS },
    shim: { kill: { op: 'write', nth: 40, path: 'journal.db$' } },
    count: 5,
  }),
  full('kept'),
  full('lost'),
  survives(
    24,
    'twice in a row',
    { at: 'store', verb: 'beat', when: 'after', nth: 3, act: 'lose' },
    { beatsInline: true, workMs: 2_000 },
  ),
  ...dies(28, 'when that is committed', {
    hook: store('markDraining', 'after'),
    orders: { drains: true, workMs: 300 },
  }),
  ...dies(29, 'of four', {
    hook: { at: 'halfSettle' },
    orders: { drains: true, drainsAt: 4, workMs: 3_000 },
    count: 4,
  }),
  ...RECOVERY_CASES,
];

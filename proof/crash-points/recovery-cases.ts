/** The cases of the crash table for recovery itself: rows 30 and 31. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hook, SILENT_MS } from './hooks.ts';
import { judge } from './judge.ts';
import { append, type Case, NEVER_MS, phase, store } from './strikes.ts';
import type { Disk } from './table.ts';

function adoption(disk: Disk): Case {
  return {
    row: 30,
    disk,
    name: 'of a run that was in b.work',
    isAlone: true,
    run: async (ground, machine) => {
      await ground.enqueue(machine);
      const dataDir = ground.newDisk();
      await ground.start({ machine, dataDir, hook: phase('b.work', 'done') }).strikes();
      await ground.start({ machine, dataDir, hook: store('take', 'after') }).strikes();
      if (disk === 'lost') for (const name of ['one', 'two']) ground.start({ name });
      // Two owners of it have died, the one in its work and the one that had adopted it.
      if (disk === 'kept') await ground.finish(machine, dataDir);
      else await ground.finish(machine, undefined, { isSuspectsOnly: true });
      await judge(ground, machine, disk);
    },
  };
}

/** Everything that a process does with its disk before the run goes on, in order. */
const RECOVERY: readonly Hook[] = [
  store('register', 'after'),
  store('heads', 'before'),
  store('archive', 'before'),
  store('fence', 'after'),
  store('take', 'before'),
  store('take', 'after'),
  append('before', 'TAKEN'),
  append('buffered', 'TAKEN'),
  append('after', 'TAKEN'),
  append('before', 'INTERRUPTED'),
  append('buffered', 'INTERRUPTED'),
];

const againAndAgain: readonly Case[] = [
  {
    row: 31,
    disk: 'kept',
    name: `${RECOVERY.length} times on one disk`,
    isAlone: true,
    run: async (ground, machine) => {
      await ground.enqueue(machine);
      const orders = { machine, dataDir: ground.newDisk(), archiveMs: NEVER_MS };
      await ground.start({ ...orders, hook: phase('b.work', 'done') }).strikes();
      for (const hook of RECOVERY) await ground.start({ ...orders, hook }).strikes();
      await ground.finish(machine, orders.dataDir);
      await judge(ground, machine, 'kept');
    },
  },
  {
    row: 31,
    disk: 'lost',
    name: 'each time another pod with another disk',
    isAlone: false,
    run: async (ground, machine) => {
      await ground.enqueue(machine);
      // Long enough for the archive to have what came before it.
      const orders = { machine, workMs: 1_000 };
      await ground.start({ ...orders, hook: phase('b.work', 'done') }).strikes();
      for (const hook of [store('register', 'after'), store('claim', 'before')]) {
        await ground.start({ machine, hook }).strikes();
      }
      await sleep(2 * SILENT_MS);
      await ground.start({ machine, hook: append('buffered', 'TAKEN') }).strikes();
      await ground.finish(machine, undefined, { isSuspectsOnly: true });
      await judge(ground, machine, 'lost');
    },
  },
];

export const RECOVERY_CASES: readonly Case[] = [
  adoption('kept'),
  adoption('lost'),
  ...againAndAgain,
];

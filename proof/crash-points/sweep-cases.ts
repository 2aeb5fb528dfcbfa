/** The cases of the crash table for those who sweep: rows 25 to 27, and each phase of the sweep. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { readLedger } from '../../test/support/ledger.ts';
import { type Hook, SILENT_MS } from './hooks.ts';
import { judge } from './judge.ts';
import type { Ground, PodOrders, PodProcess } from './rig.ts';
import type { Case } from './strikes.ts';

const STEADY_MS = 2 * SILENT_MS + 500;

/** A pod with this many tasks in b.work, which it will not come out of. */
async function stuckPod(
  ground: Ground,
  machine: string,
  count: number,
  orders: PodOrders = {},
): Promise<PodProcess> {
  await ground.enqueue(machine, count);
  const pod = ground.start({ machine, workMs: 600_000, ...orders });
  const begun = () =>
    readLedger(ground.ledger).filter(({ step, phase }) => step === 'b' && phase === 'work').length;
  await ground.until('it is in b.work', async () => begun() >= count);
  await sleep(300);
  return pod;
}

/** The leader dies in the middle of a sweep; the next one finds what is left. */
function leaderDies(row: number, name: string, hook: Hook, isExtra = false): Case {
  return {
    row,
    disk: 'lost',
    name,
    isAlone: true,
    isExtra,
    run: async (ground, machine) => {
      const leader = ground.start({ name: 'leader', hook });
      await leader.says(/ready/);
      const second = ground.start({ name: 'second' });
      const third = ground.start({ name: 'third' });
      const victim = await stuckPod(ground, machine, 3);
      await Promise.all([second.says(/ready/), third.says(/ready/)]);
      await sleep(STEADY_MS);
      await victim.kill();
      await leader.strikes();
      await ground.finish(machine);
      await judge(ground, machine, 'lost', 3);
      const rows = await ground.rows(machine);
      for (const { claims } of rows) expect(claims, 'rescued once').toBe(2);
    },
  };
}

const sweep = (name: 'phase.started' | 'phase.ended', phase: string): Hook => ({
  at: 'event',
  name,
  has: { machine: 'recovery/sweep', phase },
  nth: 1,
  act: 'kill',
});
const store = (verb: string, when: 'before' | 'after', nth = 1): Hook => ({
  at: 'store',
  verb,
  when,
  nth,
  act: 'kill',
});

/** Each of them sweeps, whoever else does. */
function forcedLeaders(count: number, isExtra = false): Case {
  return {
    row: 27,
    disk: 'lost',
    name: `${count} of them`,
    isAlone: true,
    isExtra,
    run: async (ground, machine) => {
      const tasks = 8;
      const names = Array.from({ length: count }, (_, index) => `leader-${index}`);
      // One by one and patient: whoever believes that it leads would sweep those that only start.
      const times = { heartbeatMs: 500, silentMs: 4_000 };
      for (const name of names)
        await ground.start({ name, isForced: true, ...times }).says(/ready/);
      const victim = await stuckPod(ground, machine, tasks, times);
      const before = await ground.rows(machine);
      await victim.kill();
      await ground.until('it is swept', async () =>
        (await ground.rows(machine)).every(({ status }) => status === 'pending'),
      );
      await sleep(times.silentMs);
      const after = await ground.rows(machine);
      // Released once each: whoever came second found nothing.
      expect(after.map(({ epoch }) => epoch)).toEqual(before.map(({ epoch }) => epoch + 1));
      await ground.finish(machine, undefined, times);
      await judge(ground, machine, 'lost', tasks);
      for (const pod of await ground.store.pods()) {
        if (pod.name.startsWith('leader-')) expect(pod.status, pod.name).toBe('up');
      }
    },
  };
}

export const SWEEP_CASES: readonly Case[] = [
  leaderDies(25, 'in its check', sweep('phase.started', 'check')),
  leaderDies(25, 'before its work', sweep('phase.started', 'work')),
  leaderDies(25, 'before a pod is fenced', store('fence', 'before'), true),
  leaderDies(25, 'before tasks are taken', store('take', 'before')),
  leaderDies(26, 'when a pod is fenced', store('fence', 'after'), true),
  leaderDies(26, 'when tasks are taken', store('take', 'after')),
  leaderDies(26, 'before its validate', sweep('phase.started', 'validate')),
  leaderDies(26, 'before its persist', sweep('phase.started', 'persist')),
  leaderDies(26, 'before the pod is down', store('retire', 'before'), true),
  leaderDies(26, 'when the pod is down', store('retire', 'after'), true),
  forcedLeaders(2),
  forcedLeaders(10, true),
];

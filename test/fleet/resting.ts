/** Tables in memory that let pods rest, as an account does: for what a pod makes of it. */

import { MemoryStore, type MemoryTables, type PodId, type Store } from '../../src/store/index.ts';
import * as rules from '../../src/store/memory/pods.ts';
import type { Wire } from './support.ts';

export const REST = { afterMs: 120_000, lookMsMin: 15_000, lookMsMax: 60_000 } as const;
/** The times of a store in an account. */
export const TIMES = { heartbeat: '15s', silence: '60s' } as const;

export function restingStore(tables: MemoryTables, wire: Wire): MemoryStore {
  const store = new MemoryStore(tables, { way: wire.way });
  const ask = <T>(verb: keyof Store, act: () => T) => wire.way(verb, act) as Promise<T>;
  const open = () => tables.tasksWhere(({ finishedAt }) => finishedAt === undefined);
  const mark = () =>
    JSON.stringify([...tables.tasks.values()].map((task) => [task.taskId, task.claimEpoch]));
  return Object.assign(store, {
    capabilities: { ...store.capabilities, rest: REST, idlePollMs: 15_000 },
    rest: (pod: PodId) =>
      ask('rest', () => {
        if (open().some(({ status }) => status === 'claimed')) return undefined;
        const wakeInMs = Math.min(...open().map(({ runAt }) => runAt)) - tables.now();
        if (wakeInMs < REST.afterMs || !rules.rest(tables, pod)) return undefined;
        return { mark: mark(), wakeInMs: Number.isFinite(wakeInMs) ? wakeInMs : undefined };
      }),
    mark: () => ask('mark', mark),
    rise: (pod: PodId) => ask('rise', () => rules.rise(tables, pod)),
  });
}

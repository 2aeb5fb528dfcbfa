/** How much there is of everything in the tables; see the interface. */
import {
  CENSUS_QUEUES_MAX,
  CENSUS_ROUTES_MAX,
  type Census,
  type MachineCount,
  type QueueCensus,
  type RouteCensus,
} from '../census.ts';
import { routeOf, SUSPECT_CRASHES } from '../words.ts';
import { hasStaleKey } from './claims.ts';
import { oldTasks } from './retention.ts';
import { by, type MemoryTables, type TaskRecord } from './tables.ts';

export function census(tables: MemoryTables, countMax: number, silentMs: number): Census {
  const now = tables.now();
  const open = tables.tasksWhere(isClaimable);
  const live = new Set(
    tables.podsWhere(({ status }) => status === 'up').flatMap(({ routes }) => routes),
  );
  const known = [...tables.registry.values()].sort(by(({ route }) => route));
  const claimed = tables.tasksWhere(({ status }) => status === 'claimed');
  const orphans = claimed.filter(({ claimedBy }) => isOrphan(tables, claimedBy, silentMs, now));
  const since = orphans.map(
    ({ claimedBy, lastUpdate }) => tables.pods.get(claimedBy!)?.lastHeartbeat ?? lastUpdate,
  );
  return {
    routes: known.slice(0, CENSUS_ROUTES_MAX).map(({ route, machine }): RouteCensus => {
      const own = open.filter((task) => routeOf(task) === route);
      const isLive = live.has(route);
      const count = (is: (task: TaskRecord) => boolean) =>
        Math.min(own.filter(is).length, countMax);
      const isSuspect = ({ crashes }: TaskRecord) => crashes >= SUSPECT_CRASHES;
      return {
        route,
        machine,
        isLive,
        pending: count((task) => task.status === 'pending' && !isSuspect(task)),
        waits: waitsOf(
          own
            .filter((task) => task.status === 'waiting' && !isSuspect(task))
            .sort(by(({ runAt }) => runAt))
            .slice(0, countMax),
        ),
        suspect: count(isSuspect),
        oldestMs: agoOf(
          now,
          own.map(({ runAt }) => runAt),
        ),
      };
    }),
    claimed: byMachine(claimed.slice(0, countMax)),
    deadLetters: byMachine(
      tables
        .tasksWhere((task) => task.status === 'failed' && task.discardedAt === undefined)
        .slice(0, countMax),
    ),
    orphans: orphans.length,
    orphansOldestMs: agoOf(now, since),
    queues: queuesOf(
      tables,
      (queue) =>
        claimed.filter((task) => task.queue === queue && task.pinnedTo === undefined).length,
    ),
    scheduleLateMs: scheduleLateMs(tables),
    endedOldestMs: endedOldestMs(tables),
    keysLateMs: keysLateMs(tables),
    oldestTransactionMs: undefined,
  };
}

export function keysLateMs(tables: MemoryTables): number | undefined {
  const now = tables.now();
  const stale = tables.tasksWhere((task) => hasStaleKey(task, now));
  return agoOf(
    now,
    stale.map(({ keyUntil }) => keyUntil ?? now),
  );
}

export function endedOldestMs(tables: MemoryTables): number | undefined {
  const now = tables.now();
  return agoOf(
    now,
    oldTasks(tables, now).map(({ finishedAt }) => finishedAt!),
  );
}

/** How long ago the tick should have come that is latest. */
export function scheduleLateMs(tables: MemoryTables): number | undefined {
  const due = [...tables.schedules.values()].flatMap(({ status, nextAt }) =>
    status === 'active' && nextAt !== undefined ? [nextAt] : [],
  );
  return agoOf(tables.now(), due);
}

function isClaimable({ status, paused, pinnedTo, waitFor }: TaskRecord): boolean {
  const isOpen = status === 'pending' || status === 'waiting';
  return isOpen && !paused && pinnedTo === undefined && waitFor !== 'turn';
}

/** Those that somebody has made a rule for. */
export function queuesOf(
  tables: MemoryTables,
  claimedOf: (queue: string) => number,
): QueueCensus[] {
  return [...tables.flow.queues]
    .sort(by(([queue]) => queue))
    .slice(0, CENSUS_QUEUES_MAX)
    .map(([queue, { limit, isPaused }]) => ({
      queue,
      limit,
      isPaused,
      claimed: claimedOf(queue),
    }));
}

function isOrphan(
  tables: MemoryTables,
  owner: string | undefined,
  silentMs: number,
  now: number,
): boolean {
  const pod = tables.pods.get(owner ?? '');
  if (pod?.status !== 'up' && pod?.status !== 'draining') return true;
  return pod.lastHeartbeat < now - (pod.silenceMs ?? silentMs);
}

function waitsOf(tasks: readonly TaskRecord[]): Record<string, number> {
  const waits: Record<string, number> = {};
  for (const { waitFor = '' } of tasks) waits[waitFor] = (waits[waitFor] ?? 0) + 1;
  return waits;
}

function byMachine(tasks: readonly TaskRecord[]): MachineCount[] {
  const counts = new Map<string, number>();
  for (const { machine } of tasks) counts.set(machine, (counts.get(machine) ?? 0) + 1);
  return [...counts].map(([machine, count]) => ({ machine, count })).sort(by((of) => of.machine));
}

/** How long ago the first of these was; undefined where it is still to come, or there is none. */
function agoOf(now: number, times: readonly number[]): number | undefined {
  const agoMs =
    now - times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
  return agoMs > 0 ? agoMs : undefined;
}

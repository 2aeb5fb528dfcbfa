/** How many tasks have not ended, by what they are of. */
import type { RouteTally } from '../tasks.ts';
import { routeOf, SUSPECT_CRASHES } from '../words.ts';
import { by, isEnded, type MemoryTables, type TaskRecord } from './tables.ts';

export function inFlight(tables: MemoryTables, routes?: readonly string[]): RouteTally[] {
  const isWanted = (task: TaskRecord) =>
    routes === undefined ? !isEnded(task) : isClaimable(task) && routes.includes(routeOf(task));
  const tallies = new Map<string, Mutable>();
  for (const task of tables.tasksWhere(isWanted)) {
    const { machine, version, status } = task;
    const route = routeOf(task);
    const tally = tallies.get(route) ?? { ...NOTHING, route, machine, version };
    tallies.set(route, tally);
    if (status === 'pending' || status === 'waiting' || status === 'claimed') tally[status] += 1;
    if (status === 'claimed') continue;
    if (task.pinnedTo !== undefined) tally.pinned += 1;
    else if (task.waitFor === 'version') tally.shelved += 1;
    else if (task.crashes >= SUSPECT_CRASHES) tally.suspect += 1;
  }
  return [...tallies.values()].sort(by(({ route }) => route));
}

type Mutable = { -readonly [K in keyof RouteTally]: RouteTally[K] };

const NOTHING = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };

/** In one of the heads that pods look at, now or when it is due. */
function isClaimable({ status, paused, pinnedTo, waitFor }: TaskRecord): boolean {
  const isOpen = status === 'pending' || status === 'waiting';
  return isOpen && !paused && pinnedTo === undefined && waitFor !== 'turn';
}

/**
 * Which tasks nobody goes on with, though nothing is wrong with them: no pod that is up has their
 * version, and no newer version that is up could take them over. Computed from who is up now, so it ends
 * by itself when a pod comes that has the route.
 */
import {
  type PodRow,
  type RouteTally,
  routeOf,
  SUSPECT_CRASHES,
  type TaskRow,
} from '../store/index.ts';

/** What pods that are up can run. */
export class LiveRoutes {
  readonly #pods = new Map<string, number>();
  /** The newest version of each machine. */
  readonly #newest = new Map<string, number>();

  constructor(pods: readonly Pick<PodRow, 'status' | 'routes'>[]) {
    for (const { status, routes } of pods) {
      if (status !== 'up') continue;
      for (const route of routes) {
        this.#pods.set(route, this.podCount(route) + 1);
        const at = route.lastIndexOf('@');
        const [machine, version] = [route.slice(0, at), Number(route.slice(at + 1))];
        if (version > (this.newest(machine) ?? 0)) this.#newest.set(machine, version);
      }
    }
  }

  podCount(route: string): number {
    return this.#pods.get(route) ?? 0;
  }
  newest(machine: string): number | undefined {
    return this.#newest.get(machine);
  }
  /** Nobody is there at all: then it is not for want of a version that nothing goes on. */
  get isEmpty(): boolean {
    return this.#pods.size === 0;
  }
  get routes(): readonly string[] {
    return [...this.#pods.keys()];
  }
}

type Of = { readonly machine: string; readonly version: number };

function hasHeir(live: LiveRoutes, { machine, version }: Of): boolean {
  return (live.newest(machine) ?? 0) > version;
}

export function isBlocked(live: LiveRoutes, task: TaskRow): boolean {
  const isFree = task.status === 'pending' || task.status === 'waiting';
  if (!isFree || task.pinnedTo !== undefined || live.isEmpty) return false;
  if (live.podCount(routeOf(task)) > 0) return false;
  const isLeft = task.waitFor === 'version' || task.crashes >= SUSPECT_CRASHES;
  return isLeft || !hasHeir(live, task);
}

export function blockedCount(live: LiveRoutes, tally: RouteTally): number {
  if (live.isEmpty || live.podCount(tally.route) > 0) return 0;
  return hasHeir(live, tally)
    ? tally.shelved + tally.suspect
    : tally.pending + tally.waiting - tally.pinned;
}

/** For people: why, and what would help. */
export function whyBlocked(live: LiveRoutes, of: Of): string {
  const route = routeOf(of);
  const newest = live.newest(of.machine);
  const missing = `no pod that is up has ${route}`;
  if (newest === undefined) return `${missing}, or another version of ${of.machine}; start one`;
  if (newest < of.version) {
    return `${missing}, and ${of.machine}@${newest} is older: no run goes back; start one that has it`;
  }
  return (
    `${missing}, and ${of.machine}@${newest} cannot go on with it: start one that has ${route}, or ` +
    `give ${of.machine}@${newest} an upgrade from version ${of.version}; fleetq plan says what is in the way`
  );
}

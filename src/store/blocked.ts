/**
 * Which tasks nobody goes on with, though nothing is wrong with them: no pod that is up has their
 * version, and no newer version that is up could take them over. One rule for who watches a fleet and
 * for who looks tasks up; the SQL stores say the same in their own words.
 */
import type { PodRow } from './pods.ts';
import type { TaskRow } from './tasks.ts';
import { routeOf, SUSPECT_CRASHES } from './words.ts';

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
  /** Of each machine that somebody has: the newest version of it. */
  get heirs(): readonly (readonly [machine: string, version: number])[] {
    return [...this.#newest];
  }
}

export type Of = { readonly machine: string; readonly version: number };

export function hasHeir(live: LiveRoutes, { machine, version }: Of): boolean {
  return (live.newest(machine) ?? 0) > version;
}

type Facts = Pick<TaskRow, 'machine' | 'version' | 'status' | 'pinnedTo' | 'waitFor' | 'crashes'>;

export function isBlocked(live: LiveRoutes, task: Facts): boolean {
  const isFree = task.status === 'pending' || task.status === 'waiting';
  if (!isFree || task.pinnedTo !== undefined || live.isEmpty) return false;
  if (live.podCount(routeOf(task)) > 0) return false;
  const isLeft = task.waitFor === 'version' || task.crashes >= SUSPECT_CRASHES;
  return isLeft || !hasHeir(live, task);
}

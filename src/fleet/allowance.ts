/**
 * How much of which routes a pod claims while their runs wait for leave to call an API: no more than its
 * share lets it call within a second or so. What one pod has in hand and may not call, another might.
 */
import type { Throttles } from '../throttle/index.ts';

export interface Slice {
  readonly routes: readonly string[];
  readonly countMax: number;
}

export class Allowance {
  readonly #throttles: Throttles;
  #hasTakenBound = false;

  constructor(throttles: Throttles) {
    this.#throttles = throttles;
  }

  /** Of `room`, how much there is for these routes. */
  room(routes: readonly string[], room: number): number {
    const { free, bound, left } = this.#split(routes);
    return bound.length === 0 || free.length > 0 ? room : Math.min(room, left);
  }

  /** What to ask for now: turn by turn those that may have all the room, and those that may not. */
  slice(routes: readonly string[], countMax: number): Slice {
    const { free, bound, left } = this.#split(routes);
    if (bound.length === 0) return { routes, countMax };
    const isBound = left > 0 && (free.length === 0 || !this.#hasTakenBound);
    this.#hasTakenBound = isBound;
    return isBound
      ? { routes: bound, countMax: Math.min(countMax, left) }
      : { routes: free, countMax };
  }

  #split(routes: readonly string[]) {
    const crowds = this.#throttles.crowds();
    if (crowds.length === 0) return { free: routes, bound: [], left: 0 };
    const isBound = (route: string) => crowds.some((crowd) => crowd.routes.has(route));
    const bound = routes.filter(isBound);
    const waited = crowds.filter((crowd) => bound.some((route) => crowd.routes.has(route)));
    const left = Math.max(0, Math.min(...waited.map((crowd) => crowd.left)));
    return { free: routes.filter((route) => !isBound(route)), bound, left };
  }
}

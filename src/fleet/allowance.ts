/**
 * How much of which routes a pod claims while their runs wait for leave to call an API: no more than its
 * share lets it call within a second or so. What one pod has in hand and may not call, another might.
 */
import type { Throttles } from '../throttle/index.ts';

export interface Slice {
  readonly routes: readonly string[];
  readonly countMax: number;
  /** How many there are to take in turn. */
  readonly of: number;
}

interface Part {
  /** Of those APIs that its routes keep to; empty for those that may have all the room. */
  readonly key: string;
  readonly routes: string[];
  readonly left: number;
}

export class Allowance {
  readonly #throttles: Throttles;
  #takenKey: string | undefined;

  constructor(throttles: Throttles) {
    this.#throttles = throttles;
  }

  /** Of `room`, how much there is for these routes. */
  room(routes: readonly string[], room: number): number {
    const left = this.#parts(routes, room).reduce((sum, part) => sum + part.left, 0);
    return Math.min(room, left);
  }

  /** What to ask for now: turn by turn those that keep to the same APIs, so that none waits for another. */
  slice(routes: readonly string[], countMax: number): Slice {
    const parts = this.#parts(routes, countMax).filter(({ left }) => left > 0);
    const next = parts.find(({ key }) => key > (this.#takenKey ?? '')) ?? parts[0];
    if (!next) return { routes: [], countMax, of: 1 };
    this.#takenKey = next.key;
    return { routes: next.routes, countMax: Math.min(countMax, next.left), of: parts.length };
  }

  #parts(routes: readonly string[], room: number): Part[] {
    const crowds = this.#throttles.crowds();
    if (crowds.length === 0) return [{ key: '', routes: [...routes], left: room }];
    const parts = new Map<string, Part>();
    for (const route of routes) {
      const kept = crowds.filter((crowd) => crowd.routes.has(route));
      const key = kept.map(({ api }) => api).join('\0');
      const left = Math.min(room, ...kept.map((crowd) => crowd.left));
      const part = parts.get(key) ?? { key, routes: [], left };
      part.routes.push(route);
      parts.set(key, part);
    }
    return [...parts.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }
}

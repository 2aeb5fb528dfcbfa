/**
 * What the store has acknowledged lately: what a server that takes over may not have. Bounded in time, in
 * number and in size; while nobody answers nothing is forgotten, since nothing is acknowledged either.
 */
import type { RunId } from '../ground/index.ts';

const KEPT_MS = 60_000;
const COUNT_MAX = 5_000;
const SIZE_MAX = 8 * 1024 * 1024;

interface Kept<T> {
  readonly what: T;
  readonly size: number;
  readonly atMs: number;
}

export class Recent<T> {
  readonly #kept = new Map<RunId, Kept<T>>();
  #size = 0;

  /** At the end, also where an earlier word on the same task was kept. */
  add(task: RunId, what: T, size: number, atMs: number): void {
    this.#remove(task);
    this.#kept.set(task, { what, size, atMs });
    this.#size += size;
    while (this.#kept.size > COUNT_MAX || (this.#size > SIZE_MAX && this.#kept.size > 1)) {
      this.#removeOldest();
    }
  }

  /** The same server has answered: what it said long ago is elsewhere too by now. */
  prune(nowMs: number): void {
    for (const { atMs } of this.#kept.values()) {
      if (nowMs - atMs < KEPT_MS) return;
      this.#removeOldest();
    }
  }

  all(): Map<RunId, T> {
    return new Map([...this.#kept].map(([task, { what }]) => [task, what]));
  }

  #removeOldest(): void {
    for (const task of this.#kept.keys()) return this.#remove(task);
  }

  #remove(task: RunId): void {
    this.#size -= this.#kept.get(task)?.size ?? 0;
    this.#kept.delete(task);
  }
}

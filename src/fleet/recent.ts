/**
 * What the store has acknowledged lately: what a server that takes over may not have. Bounded in time, in
 * number and in size; while nobody answers nothing is forgotten, since nothing is acknowledged either.
 */
import type { RunId } from '../ground/index.ts';

const KEPT_MS = 60_000;
const COUNT_MAX = 5_000;
const SIZE_MAX = 8 * 1024 * 1024;
/** Down to this share of it, once there are too many: finding the oldest of a crowd takes its time. */
const KEPT_SHARE = 0.9;

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
    if (this.#exceeds(1)) this.#cut();
  }

  #exceeds(share: number): boolean {
    const { size } = this.#kept;
    return size > COUNT_MAX * share || (this.#size > SIZE_MAX * share && size > 1);
  }

  #cut(): void {
    for (const task of this.#kept.keys()) {
      if (!this.#exceeds(KEPT_SHARE)) return;
      this.#remove(task);
    }
  }

  /** The same server has answered: what it said long ago is elsewhere too by now. */
  prune(nowMs: number): void {
    for (const [task, { atMs }] of this.#kept) {
      if (nowMs - atMs < KEPT_MS) return;
      this.#remove(task);
    }
  }

  all(): Map<RunId, T> {
    return new Map([...this.#kept].map(([task, { what }]) => [task, what]));
  }

  #remove(task: RunId): void {
    this.#size -= this.#kept.get(task)?.size ?? 0;
    this.#kept.delete(task);
  }
}

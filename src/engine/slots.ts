/** How many runs may be executed at once, and who waits for a turn: first come, first served. */
import { assert } from '../ground/index.ts';

export class Slots<T> {
  readonly size: number;
  /** How many of them are given for the time being. */
  limit: number;
  readonly #free: number[];
  #waiting: T[] = [];
  #head = 0;

  /** Numbered from `first`. */
  constructor(size: number, first = 0) {
    this.size = size;
    this.limit = size;
    // Low numbers are given first, so that little of the mark file is ever used.
    this.#free = Array.from({ length: size }, (_, index) => first + size - 1 - index);
  }

  get busy(): number {
    return this.size - this.#free.length;
  }
  get waiting(): number {
    return this.#waiting.length - this.#head;
  }

  enqueue(item: T): void {
    this.#waiting.push(item);
  }

  /** The next item and a slot for it; undefined where either is missing. */
  next(): { readonly item: T; readonly slot: number } | undefined {
    if (this.#head >= this.#waiting.length || this.busy >= this.limit) return undefined;
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    const item = this.#waiting[this.#head++]!;
    if (this.#head > 1_024 && this.#head * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return { item, slot };
  }

  release(slot: number): void {
    this.#free.push(slot);
    assert(this.#free.length <= this.size, 'a slot was released twice');
  }
}

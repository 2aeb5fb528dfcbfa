/** Times, the earliest first. */
export class Heap {
  readonly #times: number[] = [];

  get size(): number {
    return this.#times.length;
  }

  get first(): number | undefined {
    return this.#times[0];
  }

  push(time: number): void {
    const times = this.#times;
    let index = times.length;
    times.push(time);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (times[parent]! <= time) break;
      times[index] = times[parent]!;
      index = parent;
    }
    times[index] = time;
  }

  /** Forgets what is not later than this. */
  dropUntil(time: number): void {
    while (this.#times.length > 0 && this.#times[0]! <= time) this.#dropFirst();
  }

  #dropFirst(): void {
    const times = this.#times;
    const last = times.pop()!;
    const size = times.length;
    if (size === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && times[child + 1]! < times[child]!) child++;
      if (times[child]! >= last) break;
      times[index] = times[child]!;
      index = child;
    }
    times[index] = last;
  }
}

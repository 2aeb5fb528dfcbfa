/** Virtual time: events in the order of their times, and chance from a seed. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

export class World {
  readonly #events: Event[] = [];
  #order = 0;
  #state: number;
  now = 0;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  at(at: number, act: () => void): void {
    const event = { at: Math.max(at, this.now), order: this.#order++, act };
    const events = this.#events;
    let index = events.length;
    events.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[index] = events[parent]!;
      index = parent;
    }
    events[index] = event;
  }

  runUntil(untilMs: number): void {
    while (this.#events.length > 0 && this.#events[0]!.at <= untilMs) {
      const event = this.#pop();
      this.now = event.at;
      event.act();
    }
    this.now = untilMs;
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.fraction();
  }

  /** Log-normal with this mean. */
  around(mean: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.fraction()));
    const normal = radius * Math.cos(2 * Math.PI * this.fraction());
    return mean * Math.exp(sigma * normal - (sigma * sigma) / 2);
  }

  #pop(): Event {
    const events = this.#events;
    const first = events[0]!;
    const last = events.pop()!;
    const size = events.length;
    if (size === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && isBefore(events[child + 1]!, events[child]!)) child++;
      if (!isBefore(events[child]!, last)) break;
      events[index] = events[child]!;
      index = child;
    }
    events[index] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

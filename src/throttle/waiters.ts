/**
 * Those who wait for a permit: the highest class first, within it whoever has waited longest. Whoever
 * waits long rises by a class every half minute, so that nobody starves. Anybody leaves at once.
 */
import { PRIORITIES, type Priority } from './policy.ts';

export interface Waiter {
  readonly priority: Priority;
  readonly cost: number;
  readonly sinceMs: number;
  /** From then on the wait is too long to be waited here. */
  readonly parkAtMs: number;
}

const RISE_MS = 30_000;

export class Waiters<W extends Waiter> {
  readonly #classes = PRIORITIES.map(() => new Set<W>());
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: W): void {
    this.#classOf(waiter).add(waiter);
    this.#size++;
  }

  delete(waiter: W): boolean {
    const was = this.#classOf(waiter).delete(waiter);
    if (was) this.#size--;
    return was;
  }

  /** Who comes next. `isHeldBack` skips a class that has had enough while another one waits. */
  next(nowMs: number, isHeldBack: (priority: Priority) => boolean): W | undefined {
    let best: W | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    let spare: W | undefined;
    for (const [index, line] of this.#classes.entries()) {
      const [first] = line;
      if (!first) continue;
      if (isHeldBack(first.priority)) {
        spare ??= first;
        continue;
      }
      const rank = index - Math.floor((nowMs - first.sinceMs) / RISE_MS);
      if (rank < bestRank || (rank === bestRank && first.sinceMs < best!.sinceMs)) {
        best = first;
        bestRank = rank;
      }
    }
    return best ?? spare;
  }

  /** Takes out those who have waited too long. */
  takeLate(nowMs: number): W[] {
    const late: W[] = [];
    for (const line of this.#classes) {
      for (const waiter of line) {
        if (waiter.parkAtMs > nowMs) break;
        late.push(waiter);
      }
    }
    for (const waiter of late) this.delete(waiter);
    return late;
  }

  takeAll(): W[] {
    const all = this.#classes.flatMap((line) => [...line]);
    for (const line of this.#classes) line.clear();
    this.#size = 0;
    return all;
  }

  #classOf({ priority }: W): Set<W> {
    return this.#classes[PRIORITIES.indexOf(priority)]!;
  }
}

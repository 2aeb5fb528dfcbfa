/**
 * Those who wait for a permit: the highest class first, within it whoever has waited longest. Whoever
 * waits long rises by a class every half minute, and comes to stand beside retries at most: in a backlog
 * that is older than that, calls that must not wait would else wait behind all of it. So that nobody
 * starves beside those either, every tenth permit goes to whoever has waited longest. Anybody leaves at once.
 */
import { PRIORITIES, type Priority } from '../policy.ts';

export interface Waiter {
  readonly priority: Priority;
  readonly cost: number;
  /** Since when it waits; one that was parked brings that with it. */
  readonly sinceMs: number;
  /** From then on the wait is too long to be waited here. */
  parkAtMs: number;
}

const RISE_MS = 30_000;
const RISE_TO = PRIORITIES.indexOf('retry');
const OLDEST_EVERY = 10;

export class Waiters<W extends Waiter> {
  /** One for each class, in the order in which they have come to wait. */
  readonly #lines: W[][] = PRIORITIES.map(() => []);
  /** In the order in which they came here: those who come back have waited longer, but not here. */
  readonly #arrived = new Set<W>();
  #given = 0;

  get size(): number {
    return this.#arrived.size;
  }

  /** When the next one has waited here for too long. */
  get parkAtMs(): number {
    const [first] = this.#arrived;
    return first?.parkAtMs ?? Number.POSITIVE_INFINITY;
  }

  add(waiter: W): void {
    this.#arrived.add(waiter);
    const line = this.#lineOf(waiter);
    const last = line.at(-1);
    if (!last || last.sinceMs <= waiter.sinceMs) line.push(waiter);
    else line.splice(placeOf(waiter.sinceMs, line), 0, waiter);
  }

  delete(waiter: W): boolean {
    if (!this.#arrived.delete(waiter)) return false;
    const line = this.#lineOf(waiter);
    if (line[0] === waiter) line.shift();
    else line.splice(line.indexOf(waiter, placeOf(waiter.sinceMs, line)), 1);
    return true;
  }

  /** It has got what it waited for. */
  take(waiter: W): void {
    if (this.delete(waiter)) this.#given++;
  }

  /**
   * Who comes next. `isHeldBack` skips a class that has had enough while another one waits. With `below`
   * only of the classes above that one.
   */
  next(
    nowMs: number,
    isHeldBack: (priority: Priority) => boolean,
    below?: Priority | undefined,
  ): W | undefined {
    const count = below === undefined ? PRIORITIES.length : PRIORITIES.indexOf(below);
    let best: W | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    let spare: W | undefined;
    for (let index = 0; index < count; index++) {
      const first = this.#lines[index]![0];
      if (!first) continue;
      if (isHeldBack(first.priority)) {
        spare ??= first;
        continue;
      }
      const rank = this.#isTurnOf(first, nowMs) ? -1 : rankOf(index, first.sinceMs, nowMs);
      if (rank < bestRank || (rank === bestRank && first.sinceMs < best!.sinceMs)) {
        best = first;
        bestRank = rank;
      }
    }
    return best ?? spare;
  }

  /**
   * Whether somebody who comes now comes before all who wait. Where calls are paced, not before one
   * whose turn it is: what it saves up for would be spent by those who pass.
   */
  isFirst(priority: Priority, sinceMs: number, nowMs: number, isPaced: boolean): boolean {
    const rank = rankOf(PRIORITIES.indexOf(priority), sinceMs, nowMs);
    return this.#lines.every(([first], index) => {
      if (!first) return true;
      if (isPaced && this.#isTurnOf(first, nowMs)) return false;
      const other = rankOf(index, first.sinceMs, nowMs);
      return rank < other || (rank === other && sinceMs < first.sinceMs);
    });
  }

  /** It may wait here for longer, as long as any who comes now. */
  stay(waiter: W, parkAtMs: number): void {
    waiter.parkAtMs = parkAtMs;
    this.#arrived.delete(waiter);
    this.#arrived.add(waiter);
  }

  /** Takes out those who have waited too long, but for those who may stay until then. */
  takeLate(nowMs: number, stayUntilMs: (waiter: W) => number = () => nowMs): W[] {
    const late: W[] = [];
    for (const waiter of this.#arrived) {
      if (waiter.parkAtMs > nowMs) break;
      late.push(waiter);
    }
    return late.filter((waiter) => {
      const untilMs = stayUntilMs(waiter);
      if (untilMs > nowMs) this.stay(waiter, untilMs);
      else this.delete(waiter);
      return untilMs <= nowMs;
    });
  }

  takeAll(): W[] {
    const all = this.#lines.flat();
    for (const line of this.#lines) line.length = 0;
    this.#arrived.clear();
    return all;
  }

  /** Every tenth permit is for whoever has waited longest, if that is long. */
  #isTurnOf({ sinceMs }: W, nowMs: number): boolean {
    return this.#given % OLDEST_EVERY === OLDEST_EVERY - 1 && isAged(sinceMs, nowMs);
  }

  #lineOf({ priority }: W): W[] {
    return this.#lines[PRIORITIES.indexOf(priority)]!;
  }
}

/** Whether it has waited for so long that others wait behind it. */
export function isAged(sinceMs: number, nowMs: number): boolean {
  return nowMs - sinceMs >= RISE_MS;
}

function rankOf(index: number, sinceMs: number, nowMs: number): number {
  if (index <= RISE_TO) return index;
  return Math.max(RISE_TO, index - Math.floor(Math.max(0, nowMs - sinceMs) / RISE_MS));
}

/** The first place in the line whose waiter has come at this time or later. */
function placeOf(sinceMs: number, line: readonly Waiter[]): number {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line[middle]!.sinceMs < sinceMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * What happened to calls, by the second in which they were sent: the windows that people look at, and
 * what pods tell whoever leads. By the second of sending and not of the answer, because refusals come at
 * once: of a second that has passed, what was let in is then known before the first of it is answered.
 */
import type { OutcomeKind } from '../answers/outcome.ts';

export interface Second {
  /** Seconds since the clock's zero. */
  readonly at: number;
  readonly sent: number;
  readonly throttled: number;
  readonly timedOut: number;
  readonly failed: number;
  readonly ok: number;
  readonly latencyMsSum: number;
}

const KEPT_COUNT = 64;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Seconds {
  readonly #kept: Mutable<Second>[] = Array.from({ length: KEPT_COUNT }, () => blank(-1));

  sent(atMs: number): void {
    this.#second(atMs)!.sent++;
  }

  ended(kind: OutcomeKind, sentMs: number, latencyMs: number): void {
    const second = this.#second(sentMs);
    // A call that took longer than is kept: its second is another's by now.
    if (!second) return;
    addOutcome(second, kind);
    if (kind === 'ok') second.latencyMsSum += latencyMs;
  }

  /** The seconds from `from` up to, not including, `until`, in which something was sent. */
  between(from: number, until: number): Second[] {
    const found: Second[] = [];
    for (let at = Math.max(from, until - KEPT_COUNT); at < until; at++) {
      const second = this.#kept[at % KEPT_COUNT]!;
      if (at >= 0 && second.at === at) found.push({ ...second });
    }
    return found;
  }

  #second(atMs: number): Mutable<Second> | undefined {
    const at = Math.floor(atMs / 1_000);
    const index = at % KEPT_COUNT;
    const found = this.#kept[index]!;
    if (found.at === at) return found;
    if (found.at > at) return undefined;
    const begun = blank(at);
    this.#kept[index] = begun;
    return begun;
  }
}

export function blank(at: number): Mutable<Second> {
  return { at, sent: 0, throttled: 0, timedOut: 0, failed: 0, ok: 0, latencyMsSum: 0 };
}

export function addOutcome(second: Mutable<Second>, kind: OutcomeKind): void {
  switch (kind) {
    case 'ok':
      second.ok++;
      return;
    case 'throttled':
      second.throttled++;
      return;
    case 'timeout':
      second.timedOut++;
      return;
    case 'overload':
    case 'failure':
      second.failed++;
      return;
    default:
  }
}

/** Sums, second by second, what several pods have seen. */
export function addSecond(into: Map<number, Mutable<Second>>, second: Second): void {
  const sum = into.get(second.at);
  if (!sum) {
    into.set(second.at, { ...second });
    return;
  }
  sum.sent += second.sent;
  sum.throttled += second.throttled;
  sum.timedOut += second.timedOut;
  sum.failed += second.failed;
  sum.ok += second.ok;
  sum.latencyMsSum += second.latencyMsSum;
}

/**
 * Real time that can be put forward: a run that has nothing to do but wait need not be waited for.
 * Phases take as long as they take, so their timeouts mean what they say; only waits are cut short.
 */
import { type Cancel, type Clock, systemClock } from '../ground/index.ts';

interface Timer {
  readonly dueMs: number;
  readonly act: () => void;
  readonly isIdle: boolean;
  cancel: Cancel;
}

export class LeapClock implements Clock {
  #aheadMs: number;
  readonly #timers = new Set<Timer>();

  /** `aheadMs` is how far an earlier process had come. */
  constructor(aheadMs = 0) {
    this.#aheadMs = aheadMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#aheadMs;
  }

  soon(act: () => void): void {
    systemClock.soon(act);
  }

  after(delayMs: number, act: () => void, options?: { readonly idle?: boolean }): Cancel {
    const isIdle = options?.idle ?? false;
    const dueMs = this.monotonicMs() + Math.max(0, delayMs);
    const timer: Timer = { dueMs, act, isIdle, cancel: () => undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel();
    };
  }

  /** It is `wallMs` now, if it is not later already; what was to happen meanwhile happens soon. */
  leapTo(wallMs: number): void {
    const byMs = wallMs - this.now();
    if (!(byMs > 0)) return;
    this.#aheadMs += byMs;
    // Several may be overdue now: they fire in the order in which they would have.
    for (const timer of [...this.#timers].sort((one, other) => one.dueMs - other.dueMs)) {
      timer.cancel();
      this.#arm(timer);
    }
  }

  #arm(timer: Timer): void {
    const leftMs = timer.dueMs - this.monotonicMs();
    const fire = () => {
      this.#timers.delete(timer);
      timer.act();
    };
    timer.cancel = systemClock.after(leftMs, fire, { idle: timer.isIdle });
  }
}

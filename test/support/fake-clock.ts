/**
 * A clock that a test owns. Timers fire in order of their due times when time is advanced; `soon`
 * stays a real turn of the loop, since that is where appends gather.
 */
import type { Cancel, Clock } from '../../src/ground/index.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly act: () => void;
}

/** The real clock cuts longer timers too, so whoever relies on one fails here as well. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const QUIET_TURNS = 4;
const TURN_COUNT_MAX = 200_000;

export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #order = 0;
  #activity = 0;
  readonly #timers = new Set<Timer>();

  constructor(wallMs = Date.UTC(2030, 0, 1)) {
    this.#wallMs = wallMs;
  }

  get timerCount(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  after(delayMs: number, act: () => void): Cancel {
    this.#activity++;
    const waitMs = Math.min(Math.max(0, Math.ceil(delayMs)), TIMER_MS_MAX);
    const timer = { dueMs: this.#monotonicMs + waitMs, order: this.#order++, act };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  soon(act: () => void): void {
    this.#activity++;
    setImmediate(() => {
      this.#activity++;
      act();
    });
  }

  /** Time passes; every timer that comes due fires, and what it sets off happens before the next. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    await this.settle();
    for (let fired = 0; fired < TURN_COUNT_MAX; fired++) {
      const next = this.#next(untilMs);
      if (!next) break;
      this.#timers.delete(next);
      this.pass(Math.max(0, next.dueMs - this.#monotonicMs));
      next.act();
      await this.settle();
    }
    this.pass(untilMs - this.#monotonicMs);
    await this.settle();
  }

  /** Time passes and nothing fires: as while a handler holds the loop. */
  pass(ms: number): void {
    this.#monotonicMs += ms;
    this.#wallMs += ms;
  }

  /** Somebody sets the wall clock; elapsed time knows nothing of it. */
  setWall(wallMs: number): void {
    this.#wallMs = wallMs;
  }

  /** Waits until nothing more happens without time passing. */
  async settle(): Promise<void> {
    let quiet = 0;
    for (let turn = 0; quiet < QUIET_TURNS && turn < TURN_COUNT_MAX; turn++) {
      const before = this.#activity;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      quiet = this.#activity === before ? quiet + 1 : 0;
    }
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (!next || timer.dueMs < next.dueMs) next = timer;
      else if (timer.dueMs === next.dueMs && timer.order < next.order) next = timer;
    }
    return next;
  }
}

/**
 * A clock that a test owns. Timers fire in order of their due times when time is advanced; `soon`
 * stays a real turn of the loop, since that is where appends gather.
 */
import {
  type Cancel,
  type Clock,
  DURATION_WANTED,
  type Duration,
  parseDuration,
  show,
  systemClock,
  turn,
} from '../ground/index.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly act: () => void;
}

/** The real clock cuts longer timers too, so whoever relies on one fails here as well. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const QUIET_TURNS = 4;
const TURN_COUNT_MAX = 200_000;

/** Give it to `createFleet` as `clock`; `wallMs` is what it shows at first. */
export function fakeClock(wallMs?: number): FakeClock {
  return new FakeClock(wallMs);
}

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
    systemClock.soon(() => {
      this.#activity++;
      act();
    });
  }

  /** Time passes; every timer that comes due fires, and what it sets off happens before the next. */
  async advance(by: Duration): Promise<void> {
    const untilMs = this.#monotonicMs + msOf(by);
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
  pass(by: Duration): void {
    const ms = msOf(by);
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
    for (let round = 0; quiet < QUIET_TURNS && round < TURN_COUNT_MAX; round++) {
      const before = this.#activity;
      await turn(systemClock);
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

/** Numbers are taken as they are: a test may let more than ten years pass. */
function msOf(by: Duration): number {
  const ms = typeof by === 'number' ? by : parseDuration(by);
  if (ms === undefined) throw new TypeError(`wanted ${DURATION_WANTED}; got ${show(by)}`);
  return ms;
}

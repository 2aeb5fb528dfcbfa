/**
 * Waiting for a time. A short wait keeps the run in memory; for a long one only a row in the journal's
 * timers is left of it, so that a million sleeping runs cost no memory. For that one the wall clock
 * decides: where it is set, it is followed within a minute. For a short one, which nobody sets a clock
 * for, elapsed time decides: a clock that is set back must not freeze it.
 */
import type { Cancel, Clock, RunId } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import { AlarmOnce } from './alarm-once.ts';

const LOOK_MS_MAX = 60_000;
const WAKE_COUNT_MAX = 500;
const STALLED_LOOK_MS = 1_000;
const CROWDED_LOOK_MS = 50;

export interface WaitsPorts {
  /** How many more runs may be in memory. */
  readonly room: () => number;
  readonly wake: (run: RunId) => void;
}

export class Waits {
  static readonly IN_PLACE_MS = 5_000;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #ports: WaitsPorts;
  readonly #alarm = new AlarmOnce('timersFailed');
  readonly #inPlace = new Set<Cancel>();
  readonly #counts = { sleep: 0, retry: 0 };
  #next: { readonly at: number; readonly cancel: Cancel } | undefined;
  #isStopped = false;

  constructor(clock: Clock, journal: Journal, ports: WaitsPorts) {
    this.#clock = clock;
    this.#journal = journal;
    this.#ports = ports;
  }

  start(): void {
    this.#lookAgain();
  }

  stop(): void {
    this.#isStopped = true;
    this.#next?.cancel();
    for (const cancel of this.#inPlace) cancel();
    this.#inPlace.clear();
    Object.assign(this.#counts, { sleep: 0, retry: 0 });
  }

  /** Acts when the time has come, and after `msMax` in any case: longer it was never meant to be. */
  inPlace(reason: 'sleep' | 'retry', dueAt: number, msMax: number, act: () => void): void {
    this.#counts[reason]++;
    this.#until(dueAt, msMax, () => {
      this.#counts[reason]--;
      act();
    });
  }

  #until(dueAt: number, msMax: number, act: () => void): void {
    const leftMs = Math.min(dueAt - this.#clock.now(), msMax);
    if (leftMs <= Waits.IN_PLACE_MS) return this.#elapse(leftMs, act);
    const lookMs = Math.min(leftMs - Waits.IN_PLACE_MS, LOOK_MS_MAX);
    this.#elapse(lookMs, () => this.#until(dueAt, msMax - lookMs, act));
  }

  /** How many wait in place, by what for. */
  get counts(): { readonly sleep: number; readonly retry: number } {
    return this.#counts;
  }

  #elapse(ms: number, act: () => void): void {
    if (this.#isStopped) return;
    const begunMs = this.#clock.monotonicMs();
    const cancel = this.#clock.after(ms, () => {
      this.#inPlace.delete(cancel);
      // Timers may fire a little early.
      const leftMs = ms - (this.#clock.monotonicMs() - begunMs);
      if (leftMs > 0) this.#elapse(leftMs, act);
      else act();
    });
    this.#inPlace.add(cancel);
  }

  /** A timer for this time has been journaled. */
  armed(dueAt: number): void {
    if (this.#next && this.#next.at <= dueAt) return;
    this.#arm(dueAt);
  }

  #arm(at: number): void {
    if (this.#isStopped) return;
    this.#next?.cancel();
    const delayMs = Math.min(LOOK_MS_MAX, at - this.#clock.now());
    this.#next = { at, cancel: this.#clock.after(delayMs, () => this.#look()) };
  }

  #look(): void {
    this.#next = undefined;
    if (this.#isStopped) return;
    // While nothing can be written, the timers stay where they are.
    if (this.#journal.stalledBy) return this.#arm(this.#clock.now() + STALLED_LOOK_MS);
    const countMax = Math.min(WAKE_COUNT_MAX, this.#ports.room());
    // A million may be due at once; those there is no room for stay rows until there is.
    if (countMax <= 0) return this.#arm(this.#clock.now() + CROWDED_LOOK_MS);
    const now = this.#clock.now();
    const due = this.#alarm.guard(() => this.#journal.takeDueTimers(now, countMax), undefined);
    if (!due) return this.#arm(now + LOOK_MS_MAX);
    for (const run of due) this.#ports.wake(run);
    this.#lookAgain();
  }

  #lookAgain(): void {
    const laterAt = this.#clock.now() + LOOK_MS_MAX;
    const nextAt = this.#alarm.guard(() => this.#journal.nextTimerAt(), laterAt);
    if (nextAt !== undefined) this.#arm(nextAt);
  }
}

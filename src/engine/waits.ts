/**
 * Waiting for a time. A short wait keeps the run in memory; for a long one only a row in the journal's
 * timers is left of it, so that a million sleeping runs cost no memory. Due times are wall times: a
 * clock that is set is followed within a minute, and nothing fires before its time.
 */
import type { Cancel, Clock, RunId } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';

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
  readonly #inPlace = new Set<Cancel>();
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
  }

  inPlace(dueAt: number, act: () => void): void {
    if (this.#isStopped) return;
    const cancel = this.#clock.after(dueAt - this.#clock.now(), () => {
      this.#inPlace.delete(cancel);
      // Timers may fire a little early, and clocks may be set back.
      if (this.#clock.now() < dueAt) this.inPlace(dueAt, act);
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
    for (const run of this.#journal.takeDueTimers(this.#clock.now(), countMax)) {
      this.#ports.wake(run);
    }
    this.#lookAgain();
  }

  #lookAgain(): void {
    const nextAt = this.#journal.nextTimerAt();
    if (nextAt !== undefined) this.#arm(nextAt);
  }
}

/**
 * Which runs are executed: a run that is ready waits for a slot, gets one, and gives it back. Urgent runs
 * have slots of their own, so that a host full of long phases never delays the recovery of the fleet.
 */
import { assert, type Clock } from '../ground/index.ts';
import type { Journal, Occupancy } from '../journal/index.ts';
import { isFinal } from '../machine/index.ts';
import type { LiveRun } from './live-run.ts';
import type { EngineOptions } from './options.ts';
import { Slots } from './slots.ts';

/** One for each chore of a leader. */
const URGENT_SLOTS = 3;

export class Admission {
  readonly slots: Slots<LiveRun>;
  readonly #urgent: Slots<LiveRun>;
  readonly #isUrgent: (machine: string) => boolean;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #drive: (run: LiveRun) => void;
  #isScheduled = false;
  #isStopped = false;
  #isWaitedFor = true;
  #onIdle: (() => void) | undefined;

  constructor(
    { slots, isUrgent = () => false, journal, clock }: EngineOptions,
    drive: (run: LiveRun) => void,
  ) {
    this.#urgent = new Slots(slots === 0 ? 0 : URGENT_SLOTS);
    this.slots = new Slots(slots, this.#urgent.size);
    this.#isUrgent = isUrgent;
    this.#journal = journal;
    this.#clock = clock;
    this.#drive = drive;
  }

  /** How many slots are in use, of either kind. */
  get busy(): number {
    return this.slots.busy + this.#urgent.busy;
  }

  /** The run may be executed: it waits for its turn. */
  ready(run: LiveRun): void {
    const lane = this.#isUrgent(run.plan.name) ? this.#urgent : this.slots;
    lane.enqueue(run);
    this.#schedule();
  }

  /** The run is not executed any more. */
  leave(run: LiveRun): void {
    assert(run.slot !== undefined, 'a run without a slot cannot leave it');
    this.#laneOf(run.slot).release(run.slot);
    run.slot = undefined;
    if (this.busy === 0) this.#onIdle?.();
    this.#schedule();
  }

  /** No more than so many at once, until it is said otherwise; whoever is in stays. */
  limitTo(count: number): void {
    this.slots.limit = Math.min(count, this.slots.size);
    this.#schedule();
  }

  /** Nobody is admitted from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when no slot is in use, or when the time is up. */
  idleWithin(ms: number): Promise<void> {
    if (this.busy === 0 || !this.#isWaitedFor) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Whoever waits for idleness has waited long enough. */
  stopWaiting(): void {
    this.#isWaitedFor = false;
    this.#onIdle?.();
  }

  /** Once for all that became ready together: their slots are noted in one write. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#admit();
    });
  }

  /** It goes on in the slot that it has, after a record that says it was left. */
  renew(run: LiveRun): void {
    this.#journal.occupy([occupancyOf(run)]);
  }

  #laneOf(slot: number): Slots<LiveRun> {
    return slot < this.#urgent.size ? this.#urgent : this.slots;
  }

  #admit(): void {
    const admitted: LiveRun[] = [];
    while (!this.#isStopped) {
      const next = this.#urgent.next() ?? this.slots.next();
      if (!next) break;
      // It may have been cancelled while it waited.
      if (isFinal(next.item.state.at) || next.item.cancelReason !== undefined) {
        this.#laneOf(next.slot).release(next.slot);
        continue;
      }
      next.item.slot = next.slot;
      admitted.push(next.item);
    }
    if (admitted.length > 0) this.#journal.occupy(admitted.map(occupancyOf));
    for (const run of admitted) this.#drive(run);
  }
}

function occupancyOf(run: LiveRun): Occupancy {
  assert(run.slot !== undefined, 'a run without a slot occupies none');
  return { slot: run.slot, run: run.id, seq: run.seq };
}

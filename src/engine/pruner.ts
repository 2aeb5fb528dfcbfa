/** Forgets runs that ended long ago: first their events, much later the small row that is left. */
import type { Cancel, Clock } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import { tell } from '../telemetry/events.ts';
import { AlarmOnce } from './alarm-once.ts';

const LOOK_MS = 60_000;
/** While there is more to look at than one turn may: a busy host must not fall behind for ever. */
const AGAIN_MS = 100;
const COUNT_MAX = 500;
/** The row of an ended run outlives its events by this factor. */
const ROW_FACTOR = 4;

export class Pruner {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #retentionMs: number;
  readonly #isPatient: boolean;
  readonly #alarm = new AlarmOnce('pruningFailed');
  #cancel: Cancel | undefined;

  /**
   * `isPatient`: the fleet may not have heard yet what ended here before this process began, and a wall
   * clock that was set right since makes that seem long ago. So nothing is forgotten at first.
   */
  constructor(journal: Journal, clock: Clock, retentionMs: number, isPatient: boolean) {
    this.#journal = journal;
    this.#clock = clock;
    this.#retentionMs = retentionMs;
    this.#isPatient = isPatient;
  }

  start(): void {
    const isFirst = this.#isPatient && this.#cancel === undefined;
    const waitMs = isFirst ? LOOK_MS : this.#alarm.guard(() => this.#prune(), LOOK_MS);
    this.#cancel = this.#clock.after(waitMs, () => this.start(), { idle: true });
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Answers how long to wait before the next turn. */
  #prune(): number {
    if (this.#journal.stalledBy) return LOOK_MS;
    const now = this.#clock.now();
    const before = { events: now - this.#retentionMs, rows: now - this.#retentionMs * ROW_FACTOR };
    const { runs, isMore } = this.#journal.prune(before, COUNT_MAX);
    if (runs > 0) tell('journal.pruned', () => ({ runs }));
    return isMore ? AGAIN_MS : LOOK_MS;
  }
}

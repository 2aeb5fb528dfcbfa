/**
 * After the start on a large journal: reads the records that the start did not, a few runs a turn, from
 * the oldest to the newest, once. Damage to them is then told by this process, not found by chance when
 * somebody asks for them.
 */
import type { Cancel, Clock } from '../ground/index.ts';
import type { DamagedRun, Journal, RunRow } from '../journal/index.ts';
import { tell } from '../telemetry/events.ts';
import { AlarmOnce } from './alarm-once.ts';

/** Between two turns; with the count, about one part in forty of a core. */
const TURN_MS = 100;
const RUN_COUNT_MAX = 50;
/** Where the file cannot be read in that place, or not be written now. */
const LATER_MS = 60_000;

/** Whoever has runs in hand, and must not go on with one that is damaged. */
export interface Quarantine {
  quarantineAsleep(row: RunRow, reason: string): void;
}

export class EventChecker {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #quarantine: Quarantine;
  readonly #alarm = new AlarmOnce('checkFailed');
  #after = '';
  #damagedCount = 0;
  #cancel: Cancel | undefined;

  constructor(journal: Journal, clock: Clock, quarantine: Quarantine) {
    this.#journal = journal;
    this.#clock = clock;
    this.#quarantine = quarantine;
  }

  start(): void {
    if (!this.#journal.areEventsChecked) this.#goOnIn(TURN_MS);
  }

  stop(): void {
    this.#cancel?.();
  }

  #goOnIn(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#turn(), { idle: true });
  }

  #turn(): void {
    const waitMs = this.#alarm.guard(() => this.#check(), LATER_MS);
    if (waitMs === undefined) this.#tellSum();
    else this.#goOnIn(waitMs);
  }

  /** Answers how long to wait before the next turn; undefined at the end. */
  #check(): number | undefined {
    if (this.#journal.stalledBy) return LATER_MS;
    const { last, damaged } = this.#journal.checkEvents(this.#after, RUN_COUNT_MAX);
    for (const one of damaged) this.#tellDamage(one);
    if (last === undefined) return undefined;
    this.#after = last;
    return TURN_MS;
  }

  /** A broken page may be the damage of many runs: the first is told at once, the others in one sum. */
  #tellDamage({ row, reason }: DamagedRun): void {
    if (row) this.#quarantine.quarantineAsleep(row, reason);
    if (++this.#damagedCount > 1) return;
    const message = `${reason}; found when the journal was looked through after the start`;
    tell('journal.alarm', () => ({ kind: 'eventsDamaged', message }));
  }

  #tellSum(): void {
    const count = this.#damagedCount;
    if (count < 2) return;
    const message = `${count} runs have damaged records: see them with fleetq journal verify`;
    tell('journal.alarm', () => ({ kind: 'eventsDamaged', message }));
  }
}

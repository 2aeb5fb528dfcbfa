/**
 * Puts in what schedules want, on every pod: after each heartbeat it asks the store what is due, and
 * moves that on. Whoever is first has done it; the others find nothing to do. What cannot be put in is
 * told with the schedule and in the log, once for each tick, and the schedule goes on to the next. So is
 * what is left out since the run before has not ended, where a schedule has one at a time.
 */
import {
  type Cancel,
  type Clock,
  describeError,
  FleetqError,
  type MintRunId,
} from '../../ground/index.ts';
import type { Registry } from '../../machine/index.ts';
import {
  isOpen,
  LATE_MS,
  runBefore,
  type ScheduleRow,
  type Store,
  type Ticked,
  type Ticking,
  type Turn,
  turnOf,
} from '../../store/index.ts';
import { tell } from '../../telemetry/events.ts';
import type { ScheduleDefinition } from './definition.ts';
import { isSealed, tasksOf } from './tasks.ts';

export interface SchedulerPorts {
  readonly store: Pick<Store, 'changeSchedule' | 'dueSchedules' | 'tickSchedule' | 'find'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly mint: MintRunId;
  readonly definitions: readonly ScheduleDefinition[];
  /** Who declares them, for the audit log. */
  readonly who: string;
  /** How long the key of a tick stands for its run after that has ended. */
  readonly keyMs: number;
  /** Tasks were put in by this process. */
  readonly onEnqueued: () => void;
}

/** Looked at in one turn; the others are due still when that is over. */
const DUE_MAX = 50;
/** Turns that follow at once: beyond it the next heartbeat goes on. */
const TURNS_MAX = 20;
/** Rows that nobody here can open are due until somebody can: so many are looked past. */
const SEALED_MAX = 1_000;
/** A timer is for what is due before the next heartbeat, and no sooner than this. */
const TIMER_MS_MIN = 20;
const TIMER_MS_MAX = 60_000;

export class Scheduler {
  readonly #ports: SchedulerPorts;
  readonly #machines: readonly string[];
  #undeclared: readonly ScheduleDefinition[];
  #sealedCount = 0;
  #isLooking = false;
  #isStopped = false;
  #timer: Cancel | undefined;

  constructor(ports: SchedulerPorts) {
    this.#ports = ports;
    this.#undeclared = ports.definitions;
    this.#machines = [...new Set(ports.registry.all().map(({ name }) => name))];
  }

  /** After a heartbeat, or when something is due. */
  look(): void {
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    this.turn()
      .catch((error) =>
        tell('store.failed', () => ({ what: 'schedules', error: describeError(error) })),
      )
      .finally(() => {
        this.#isLooking = false;
      });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** Everything that is due; resolves when there is nothing more, or the turns are used up. */
  async turn(): Promise<void> {
    await this.#declare();
    for (let turns = 0; turns < TURNS_MAX && !this.#isStopped; turns += 1) {
      const countMax = DUE_MAX + this.#sealedCount;
      const { now, due, nextMs } = await this.#ports.store.dueSchedules(this.#machines, countMax);
      // A pod that has the key will see to them.
      const open = due.filter((row) => !isSealed(row));
      const isAll = due.length < countMax || this.#sealedCount === SEALED_MAX;
      this.#sealedCount = Math.min(due.length - open.length, SEALED_MAX);
      for (const row of open) await this.#tick(row, now);
      if (open.length === 0 && isAll) return this.#wakeIn(nextMs);
    }
  }

  async #declare(): Promise<void> {
    const { store, mint, who } = this.#ports;
    while (this.#undeclared.length > 0 && !this.#isStopped) {
      const [{ name, plan, revision }] = this.#undeclared as [ScheduleDefinition];
      const answer = await store.changeSchedule({
        name,
        requestId: mint(),
        who,
        via: 'library',
        order: { what: 'declare', plan, revision },
      });
      this.#undeclared = this.#undeclared.slice(1);
      if (answer.kind === 'ignored') {
        const reason = `another one was declared as revision ${revision}: raise it to change it`;
        tell('schedule.troubled', () => ({ schedule: name, reason }));
      }
    }
  }

  /** Afterwards it is due no longer, by whomever. */
  async #tick(row: ScheduleRow, now: number): Promise<void> {
    const { ticking, ticked } = await this.#move(await this.#tickingOf(row, now));
    if (!ticked) return;
    const trouble = ticked.taken ?? ticking.trouble;
    if (trouble !== undefined && trouble !== row.trouble)
      tell('schedule.troubled', () => ({ schedule: row.name, reason: trouble }));
    const { name: schedule, machine, lastRun: run } = row;
    const { skipped: count } = ticking;
    if (count > 0) tell('schedule.skipped', () => ({ schedule, machine, count, run }));
    if (ticked.runs.length === 0) return;
    tell('schedule.ticked', () => ({ schedule, machine, count: ticked.runs.length }));
    this.#ports.onEnqueued();
  }

  /** What the store does not take is told, and the schedule goes on without it. */
  async #move(ticking: Ticking): Promise<{ readonly ticking: Ticking; readonly ticked: Ticked }> {
    const { store } = this.#ports;
    try {
      return { ticking, ticked: await store.tickSchedule(ticking) };
    } catch (error) {
      if (!(error instanceof FleetqError) || error.verdict !== 'abort') throw error;
      const without = { ...ticking, tasks: [], trouble: troubleOf(error) };
      return { ticking: without, ticked: await store.tickSchedule(without) };
    }
  }

  async #tickingOf(row: ScheduleRow, now: number): Promise<Ticking> {
    const { registry, clock, mint, keyMs } = this.#ports;
    const { name, edition } = row;
    const turn = turnOf(row, row.nextAt!, now);
    const { lastAt, nextAt } = turn;
    const ticks = await this.#ticksOf(row, turn);
    const skipped = turn.ticks.length - ticks.length;
    try {
      const plan = registry.newest(row.machine);
      const tasks = await tasksOf(row, ticks, { plan, clock, mint, keyMs });
      // What was said of an outage stays until a tick is in time again.
      const said = now - lastAt > LATE_MS ? row.trouble : undefined;
      const trouble = turn.trouble ?? said;
      return { name, edition, tasks, skipped, lastAt, nextAt, trouble };
    } catch (error) {
      return { name, edition, tasks: [], skipped, lastAt, nextAt, trouble: troubleOf(error) };
    }
  }

  /**
   * Those that are put in. Nobody can put another run in between this look and the move, which stands
   * only if the row is as it was; and a run that ends meanwhile had not ended at the tick.
   */
  async #ticksOf(row: ScheduleRow, { ticks }: Turn): Promise<readonly number[]> {
    if (row.overlap !== 'skip') return ticks;
    const before = runBefore(row);
    const found = before === undefined ? [] : await this.#ports.store.find([before]);
    return found.some(({ status }) => isOpen(status)) ? [] : ticks.slice(-1);
  }

  #wakeIn(nextMs: number | undefined): void {
    this.#timer?.();
    if (nextMs === undefined || nextMs > TIMER_MS_MAX || this.#isStopped) return;
    const ms = Math.max(TIMER_MS_MIN, nextMs);
    this.#timer = this.#ports.clock.after(ms, () => this.look(), { idle: true });
  }
}

const TROUBLE_LENGTH_MAX = 1_000;

function troubleOf(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`.replaceAll('\0', ' ').slice(0, TROUBLE_LENGTH_MAX);
}

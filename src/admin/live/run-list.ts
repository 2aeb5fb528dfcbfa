/**
 * The list topic: what this process does with its own runs, as it does it, and what the store tells of
 * everybody's, whenever that is looked at. Everything ends up in one log of changes.
 */
import type { Clock, RunId } from '../../ground/index.ts';
import type { TaskGlance, Watch, WatchQuery } from '../../store/index.ts';
import { listen } from '../../telemetry/events.ts';
import { ChangeLog, type LiveGlance } from './change-log.ts';

/**
 * A row is seen when its transaction has committed, which may be later than the time it bears. What was
 * made even later than that the store finds by its mark.
 */
const OVERLAP_MS = 5_000;
/** Tasks in hand are asked for by their ids, to see them put back. */
const CLAIMED_MAX = 1_000;
export const CHANGED_MAX = 1_000;
/** An error is one question away; a list of long ones would be long. */
const ERROR_LENGTH_MAX = 2_000;

/** Where nobody looks at the list. */
export const NOTHING_ELSE = { others: [], sinceMs: undefined, mark: undefined };

type OfRun = { readonly run: RunId; readonly machine: string; readonly version: number };

export class RunList {
  readonly log = new ChangeLog();
  readonly #clock: Clock;
  readonly #claimed = new Set<RunId>();
  #stops: (() => void)[] = [];
  #sinceMs: number | undefined;
  #mark: string | undefined;
  /** What was told of the tasks of the last look, which the next one will see again. */
  #told = new Map<RunId, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#stops.length > 0;
  }

  start(): void {
    if (this.isOn) return;
    // Nobody knows what happened while nobody listened.
    this.log.loseTrack();
    this.#stops = [
      listen('run.started', (e) => this.#note(e, { status: 'active' })),
      listen('run.recorded', (e) => {
        const { generation, state, seq, attempt } = e;
        const rest = { outcome: undefined, dueAt: undefined, progress: undefined };
        this.#note(e, { status: 'active', generation, state, seq, attempt, ...rest });
      }),
      listen('run.waiting', (e) => this.#note(e, { status: 'waiting', dueAt: e.dueAt })),
      listen('run.blocked', (e) => this.#note(e, { status: 'blocked', state: e.state })),
      listen('run.quarantined', (e) => this.#note(e, { status: 'quarantined' })),
      listen('run.progressed', (e) => this.#note(e, { progress: e.fraction })),
      listen('run.finished', (e) => {
        this.#note(e, { status: 'ended', state: e.state, outcome: e.outcome });
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#sinceMs = this.#mark = undefined;
    this.#claimed.clear();
    this.#told.clear();
  }

  /** What to ask the store for. */
  get asking(): Pick<WatchQuery, 'others' | 'sinceMs' | 'mark'> {
    const sinceMs = this.#sinceMs === undefined ? undefined : this.#sinceMs - OVERLAP_MS;
    return { others: [...this.#claimed], sinceMs, mark: this.#mark };
  }

  watched({ nowMs, tasks, hasMore, mark }: Watch, followed: ReadonlySet<RunId>): void {
    const isFirst = this.#sinceMs === undefined;
    const floorMs = (this.#sinceMs ?? nowMs) - OVERLAP_MS;
    this.#sinceMs = nowMs;
    this.#mark = mark;
    if (hasMore) this.log.loseTrack();
    const told = new Map<RunId, string>();
    for (const task of tasks) {
      // One that is followed is told whether it has changed or not.
      if (followed.has(task.id) && changedAt(task) < floorMs) continue;
      const key = keyOf(task);
      told.set(task.id, key);
      this.#remember(task);
      if (this.#told.get(task.id) === key || isFirst) continue;
      this.log.note({ id: task.id, task: brief(task) });
    }
    this.#told = told;
  }

  #remember({ id, status }: TaskGlance): void {
    this.#claimed.delete(id);
    if (status !== 'claimed') return;
    this.#claimed.add(id);
    if (this.#claimed.size <= CLAIMED_MAX) return;
    this.#claimed.delete(this.#claimed.values().next().value!);
  }

  #note({ run: id, machine, version }: OfRun, part: Partial<LiveGlance>): void {
    const before = this.log.get(id)?.run;
    const run: LiveGlance = {
      status: 'active',
      generation: undefined,
      ...before,
      machine,
      version,
      ...part,
      at: this.#clock.now(),
    };
    this.log.note({ id, run });
  }
}

function changedAt({ updatedAt, createdAt, finishedAt }: TaskGlance): number {
  return Math.max(updatedAt, createdAt, finishedAt ?? 0);
}

function keyOf(task: TaskGlance): string {
  const { status, updatedAt, epoch, generation, isPaused, control, lastSeq } = task;
  return [status, updatedAt, epoch, generation, isPaused, control, lastSeq].join(' ');
}

function brief(task: TaskGlance): TaskGlance {
  const isLong = (task.error?.length ?? 0) > ERROR_LENGTH_MAX;
  return isLong ? { ...task, error: undefined } : task;
}

/** The one place where a run moves: an event becomes durable, and then it becomes the state. */
import { assert, type Clock } from '../ground/index.ts';
import type { Entry, Journal, Opening } from '../journal/index.ts';
import { advance, type Ending, type Plan, type RunEvent, type RunState } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { errorOf, type LiveRun, ofRun, standingOf } from './live-run.ts';
import type { RunTable } from './run-table.ts';
import type { WrittenRecord } from './tie.ts';
import { Waits } from './waits.ts';

type Written = Pick<WrittenRecord, 'hash' | 'data'>;

export class Recorder {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #runs: RunTable;

  constructor(journal: Journal, clock: Clock, runs: RunTable) {
    this.#journal = journal;
    this.#clock = clock;
    this.#runs = runs;
  }

  /**
   * Resolves when the run is where the event leads. Only one record of a run is on its way at once.
   * Every record of every run passes here, so this is no async function: one promise has to do.
   */
  record(run: LiveRun, event: RunEvent): Promise<void> {
    if (this.#runs.isClosed) return Promise.resolve();
    try {
      const { prepared } = run;
      if (prepared) assert(prepared.event === event, `run ${run.id} has another record already`);
      else assert(!run.isAppending, `two records of run ${run.id} at once`);
      const { entry, next } = prepared ?? this.#next(run, event);
      return this.#append(run, entry, prepared?.written).then(
        (record) => this.#move(run, entry, next, record),
        (error: unknown) => {
          letGo(run);
          throw error;
        },
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #next(run: LiveRun, event: RunEvent): { readonly entry: Entry; readonly next: RunState } {
    const next = advance(run.plan, run.state, event);
    assert(next !== undefined, `${event.type} leads nowhere from ${run.state.at}`);
    return { entry: this.#entryOf(run, event, next), next };
  }

  /**
   * Makes the record that the event leads to, for somebody else to keep before it is written here.
   * Until it is written, or let be, the run has no other.
   */
  prepare(run: LiveRun, event: RunEvent): WrittenRecord {
    assert(!run.isAppending, `two records of run ${run.id} at once`);
    const { entry, next } = this.#next(run, event);
    const { hash, data } = this.#journal.prepare(entry);
    run.prepared = { event, entry, next, written: { hash, data } };
    run.isAppending = true;
    const { seq, at, epoch, state } = entry;
    return { seq, at, epoch, event: event.type, state, data, hash };
  }

  #entryOf(run: LiveRun, event: RunEvent, next: RunState): Entry {
    const now = this.#clock.now();
    // A run that is held for a store is parked there when it has to wait for long.
    const wakeAt = run.tie ? undefined : wakeAtOf(next.dueAt, next.deadlineAt, now);
    return {
      run: run.id,
      seq: run.seq + 1,
      at: now,
      epoch: run.epoch,
      event,
      state: next.at,
      prevHash: run.hash,
      opens: undefined,
      closes: next.ending && closingOf(run, next.ending),
      wakeAt: wakeAt ?? (run.hasTimer ? null : undefined),
    };
  }

  /** The record is durable, and so becomes the state. */
  #move(run: LiveRun, entry: Entry, next: RunState, record: Written): void | Promise<void> {
    try {
      written(run, entry, record);
    } finally {
      letGo(run);
    }
    const from = run.state.at;
    if (next.outputs !== run.state.outputs) run.view = undefined;
    run.state = next;
    run.waitMs = next.dueAt === undefined ? undefined : next.dueAt - entry.at;
    run.hasTimer = typeof entry.wakeAt === 'number';
    run.lastError = errorOf(entry.event) ?? run.lastError;
    if (next.ending) return this.#end(run, next.ending, entry.at);
    if (run.tie && isSync(run.plan, from)) return run.tie.flushed();
  }

  /** The first record that this journal has of a run which came from elsewhere. */
  async open(run: LiveRun, event: RunEvent, opens: Opening): Promise<void> {
    const entry: Entry = {
      run: run.id,
      seq: run.seq + 1,
      at: event.type === 'STARTED' ? run.state.startedAt : this.#clock.now(),
      epoch: run.epoch,
      event,
      state: run.state.at,
      prevHash: run.hash,
      opens,
    };
    try {
      written(run, entry, await this.#append(run, entry));
    } finally {
      letGo(run);
    }
    run.state = advance(run.plan, run.state, event) ?? run.state;
  }

  #append(run: LiveRun, entry: Entry, written?: Written): Promise<Written> {
    run.isAppending = true;
    const appending = this.#journal.append(entry, written);
    if (run.tie) run.appending = appending;
    return appending;
  }

  #end(run: LiveRun, ending: Ending, now: number): void {
    // Whoever holds it for a store tells the store; one that is lost has no end here.
    if (run.isLost) return;
    this.#runs.end(run.id, ending);
    run.tie?.ended(ending);
    run.shadow?.ended(ending);
    // Written out: to copy what names the run takes longer than all the rest.
    tell('run.finished', () => ({
      run: run.id,
      machine: run.plan.name,
      version: run.plan.version,
      epoch: run.epoch,
      outcome: ending.outcome,
      state: ending.state,
      reason: ending.reason ?? ending.error?.message,
      error: ending.error,
      attempt: run.state.attempt,
      elapsedMs: now - run.state.startedAt,
    }));
  }
}

/** The record is durable: the run stands on it, and whoever follows the run is told. */
function written(run: LiveRun, entry: Entry, { hash, data }: Written): void {
  run.hash = hash;
  run.seq = entry.seq;
  tellRecorded(run, entry);
  const { tie, shadow } = run;
  if (!tie && !shadow) return;
  const { seq, at, epoch, event, state } = entry;
  if (event.type === 'ADVANCED' || event.type === 'UPGRADED') {
    shadow?.standsUnder(event.version);
    tie?.standsUnder(event.version);
  }
  const record = { seq, at, epoch, event: event.type, state, data, hash };
  shadow?.recorded(record);
  tie?.recorded(record);
}

export function tellRecorded(run: LiveRun, entry: Entry): void {
  const { at, epoch, event, state, prevHash } = entry;
  // What was on its way to the disk when the run was lost counts for nothing.
  if (run.isLost && event.type !== 'INTERRUPTED') return;
  tell('run.recorded', () => {
    const { at: from, startedAt, attempt } = run.state;
    const how = { epoch, at, event, prevHash, from, state, startedAt, attempt };
    return { ...ofRun(run), ...standingOf(run), ...how };
  });
}

/** No record of it is on its way any more. */
export function letGo(run: LiveRun): void {
  run.isAppending = false;
  run.prepared = undefined;
  run.appending = undefined;
}

/** Whether the phase that was left has to be in the store before the next one begins. */
function isSync(plan: Plan, from: string): boolean {
  const place = plan.chart.placeOf(from);
  const part = place && plan.line[place.index];
  return part?.kind === 'step' && place?.phase !== 'sleep' && part.policy[place!.phase].isSync;
}

function closingOf(run: LiveRun, ending: Ending): Entry['closes'] {
  return {
    machine: run.plan.name,
    version: run.plan.version,
    key: run.key,
    generation: run.tie?.generation,
    startedAt: run.state.startedAt,
    attempt: run.state.attempt,
    ending,
  };
}

/** When a timer has to wake the run; undefined where it waits in place or not at all. */
function wakeAtOf(
  dueAt: number | undefined,
  deadlineAt: number | undefined,
  now: number,
): number | undefined {
  if (dueAt === undefined) return undefined;
  const wakeAt = Math.min(dueAt, deadlineAt ?? dueAt);
  return wakeAt - now > Waits.IN_PLACE_MS ? wakeAt : undefined;
}

/** The one place where a run moves: an event becomes durable, and then it becomes the state. */
import { assert, type Clock } from '../ground/index.ts';
import type { Entry, Journal } from '../journal/index.ts';
import { advance, type Ending, type RunEvent } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { errorOf, type LiveRun, ofRun } from './live-run.ts';
import type { RunTable } from './run-table.ts';
import { Waits } from './waits.ts';

export class Recorder {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #runs: RunTable;

  constructor(journal: Journal, clock: Clock, runs: RunTable) {
    this.#journal = journal;
    this.#clock = clock;
    this.#runs = runs;
  }

  /** Resolves when the run is where the event leads. Only one record of a run is on its way at once. */
  async record(run: LiveRun, event: RunEvent): Promise<void> {
    if (this.#runs.isClosed) return;
    assert(!run.isAppending, `two records of run ${run.id} at once`);
    const next = advance(run.plan, run.state, event);
    assert(next !== undefined, `${event.type} leads nowhere from ${run.state.at}`);
    const now = this.#clock.now();
    const wakeAt = wakeAtOf(next.dueAt, next.deadlineAt, now);
    const entry: Entry = {
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
    run.isAppending = true;
    try {
      run.hash = (await this.#journal.append(entry)).hash;
    } finally {
      run.isAppending = false;
    }
    run.seq = entry.seq;
    if (next.outputs !== run.state.outputs) run.view = undefined;
    run.state = next;
    run.hasTimer = wakeAt !== undefined;
    run.lastError = errorOf(event) ?? run.lastError;
    if (next.ending) this.#end(run, next.ending, now);
  }

  #end(run: LiveRun, ending: Ending, now: number): void {
    this.#runs.end(run.id, ending);
    tell('run.finished', () => ({
      ...ofRun(run),
      outcome: ending.outcome,
      state: ending.state,
      reason: ending.reason ?? ending.error?.message,
      error: ending.error,
      attempt: run.state.attempt,
      elapsedMs: now - run.state.startedAt,
    }));
  }
}

function closingOf(run: LiveRun, ending: Ending): Entry['closes'] {
  return {
    machine: run.plan.name,
    version: run.plan.version,
    key: run.key,
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

/**
 * Ends runs by request, in whatever state they are. A cancel is a record like any other, so it is
 * durable, and since a run has one record at a time, the first to get there wins.
 */
import { assert, describeError, type RunId } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import { isFinal, type Outcome, type Registry } from '../machine/index.ts';
import { RunCancelledError, RunNotFoundError, RunSetAsideError } from './errors.ts';
import type { LiveRun } from './live-run.ts';
import type { Recorder } from './recorder.ts';
import { load } from './resume.ts';
import type { RunTable } from './run-table.ts';

export interface CancelReport {
  /** False where the run had ended before, or somebody else cancelled it first. */
  readonly isCancelled: boolean;
  readonly outcome: Outcome;
}

export class Canceller {
  readonly #journal: Journal;
  readonly #registry: Registry;
  readonly #runs: RunTable;
  readonly #recorder: Recorder;

  constructor(journal: Journal, registry: Registry, runs: RunTable, recorder: Recorder) {
    this.#journal = journal;
    this.#registry = registry;
    this.#runs = runs;
    this.#recorder = recorder;
  }

  async cancel(id: RunId, reason: string): Promise<CancelReport> {
    const run = this.#runs.live.get(id) ?? this.#load(id);
    if (!run) {
      const outcome = this.#journal.find(id)?.ending?.outcome;
      assert(outcome !== undefined, `run ${id} has neither ended nor begun`);
      return { isCancelled: false, outcome };
    }
    const ended = this.#runs.whenEnded(id);
    const isFirst = run.cancelReason === undefined;
    let recorded: Promise<void> | undefined;
    if (isFirst) {
      run.cancelReason = reason;
      const error = new RunCancelledError(id, run.state.at, reason);
      run.call?.giveUp({ why: 'cancelled', reason: error });
      recorded = this.#carryOutOrSetAside(run);
    }
    // Both at once: whichever fails first is the answer, and neither fails unheard.
    const [{ outcome }] = await Promise.all([ended, recorded]);
    return { isCancelled: isFirst && outcome === 'cancelled', outcome };
  }

  /**
   * Records a cancel that was asked for. While another record is on its way this does nothing:
   * whoever wrote that one calls here again as soon as it is durable.
   */
  async carryOut(run: LiveRun): Promise<void> {
    if (run.cancelReason === undefined || run.isAppending || isFinal(run.state.at)) return;
    await this.#recorder.record(run, { type: 'CANCELLED', reason: run.cancelReason });
  }

  async #carryOutOrSetAside(run: LiveRun): Promise<void> {
    try {
      await this.carryOut(run);
    } catch (error) {
      const reason = `its cancel could not be recorded: ${describeError(error).message}`;
      this.#runs.putAside(run.id, { status: 'quarantined', reason });
    }
  }

  /** A run that only a timer stands for has to be in memory to be ended. */
  #load(id: RunId): LiveRun | undefined {
    const row = this.#journal.find(id);
    if (!row) throw new RunNotFoundError(id);
    if (row.finishedAt !== undefined) return undefined;
    const found = load(this.#journal, this.#registry, id);
    assert(found !== undefined, `run ${id} has a row and no records`);
    if (found.kind === 'setAside') throw new RunSetAsideError(id, found.status, found.reason);
    found.run.hasTimer = true;
    this.#runs.live.set(id, found.run);
    return found.run;
  }
}

/**
 * Ends runs by request, in whatever state they are. A cancel is a record like any other, so it is
 * durable, and since a run has one record at a time, the first to get there wins.
 */
import { assert, type Clock, describeError, type RunId } from '../ground/index.ts';
import type { Journal, RunRow, StoredRecord } from '../journal/index.ts';
import { attemptOf, type Ending, isFinal, type Outcome, type Registry } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
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

export interface CancellerPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly runs: RunTable;
  readonly recorder: Recorder;
}

/** A run that stands still here and whose records can be trusted. */
interface Standing {
  readonly row: RunRow;
  readonly records: readonly StoredRecord[];
}

export class Canceller {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #registry: Registry;
  readonly #runs: RunTable;
  readonly #recorder: Recorder;
  /** Runs without a plan whose cancel is on its way to the disk. */
  readonly #standing = new Map<RunId, Promise<void>>();

  constructor({ journal, clock, registry, runs, recorder }: CancellerPorts) {
    this.#journal = journal;
    this.#clock = clock;
    this.#registry = registry;
    this.#runs = runs;
    this.#recorder = recorder;
  }

  async cancel(id: RunId, reason: string): Promise<CancelReport> {
    // Who goes on with it is being found out, and may be about to be recorded.
    await this.#runs.succeeding.get(id);
    const before = this.#standing.get(id);
    if (before) return this.#afterAnother(id, before);
    const run = this.#runs.live.get(id) ?? this.#load(id);
    if (!run) {
      const outcome = this.#journal.find(id)?.ending?.outcome;
      assert(outcome !== undefined, `run ${id} has neither ended nor begun`);
      return { isCancelled: false, outcome };
    }
    if (!('records' in run) && run.state.ending) {
      return { isCancelled: false, outcome: run.state.ending.outcome };
    }
    return 'records' in run ? this.#cancelStanding(run, reason) : this.#cancelLive(run, reason);
  }

  /** Whether the run is about to end though nothing of it is in memory. */
  isEnding(id: RunId): boolean {
    return this.#standing.has(id);
  }

  async #cancelLive(run: LiveRun, reason: string): Promise<CancelReport> {
    const { id } = run;
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

  async #cancelStanding(run: Standing, reason: string): Promise<CancelReport> {
    const { id } = run.row;
    const ended = this.#runs.whenEnded(id);
    const recorded = this.#close(run, reason).finally(() => this.#standing.delete(id));
    this.#standing.set(id, recorded);
    const [{ outcome }] = await Promise.all([ended, recorded]);
    return { isCancelled: true, outcome };
  }

  async #afterAnother(id: RunId, recorded: Promise<void>): Promise<CancelReport> {
    const [{ outcome }] = await Promise.all([this.#runs.whenEnded(id), recorded]);
    return { isCancelled: false, outcome };
  }

  /** A cancel leads to the same end from every state, so no definition is needed to record it. */
  async #close({ row, records }: Standing, reason: string): Promise<void> {
    const { id, machine, version, key, startedAt } = row;
    const last = records.at(-1)!;
    const [attempt, at] = [attemptOf(records), this.#clock.now()];
    const ending: Ending = { outcome: 'cancelled', state: last.state, reason };
    const event = { type: 'CANCELLED', reason } as const;
    const [seq, epoch, state] = [last.seq + 1, this.#journal.boot, 'cancelled'];
    const { hash } = await this.#journal.append({
      run: id,
      seq,
      at,
      epoch,
      event,
      state,
      prevHash: last.hash,
      closes: { machine, version, key, startedAt, attempt, ending },
      wakeAt: null,
    });
    this.#runs.end(id, ending);
    const of = { run: id, machine, version };
    const standing = { generation: undefined, epoch, seq, hash };
    const how = { at, event, prevHash: last.hash, from: last.state, state, startedAt, attempt };
    tell('run.recorded', () => ({ ...of, ...standing, ...how }));
    tell('run.finished', () => ({
      ...of,
      outcome: ending.outcome,
      state: ending.state,
      reason,
      error: undefined,
      attempt,
      elapsedMs: at - startedAt,
    }));
  }

  /**
   * Records a cancel that was asked for. While another record is on its way this does nothing:
   * whoever wrote that one calls here again as soon as it is durable.
   */
  async carryOut(run: LiveRun): Promise<void> {
    if (run.cancelReason === undefined || run.isLost) return;
    if (run.isAppending || isFinal(run.state.at)) return;
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

  /** A run that only a timer stands for has to be in memory to be ended, if it has a plan here. */
  #load(id: RunId): LiveRun | Standing | undefined {
    const row = this.#journal.find(id);
    if (!row) throw new RunNotFoundError(id);
    if (row.finishedAt !== undefined) return undefined;
    const found = load(this.#journal, this.#registry, id);
    assert(found !== undefined, `run ${id} has a row and no records`);
    if (found.kind === 'setAside') {
      const { records, status, reason } = found;
      if (!records) throw new RunSetAsideError(id, status, reason);
      return { row, records };
    }
    // It ends under the version it has: a newer one has nothing left to go on with.
    if (found.kind === 'succeeds') return { row, records: found.records };
    // It is held for a store, which has yet to hear of its end.
    if (found.run.state.ending) return found.run;
    found.run.hasTimer = true;
    this.#runs.live.set(id, found.run);
    return found.run;
  }
}

/**
 * Brings a process to rest: no phase begins any more, those in hand get the budget to finish, near its
 * end they are told to, and runs that are held for a store and stand between two phases are given back.
 * One of these may be sent away by itself, too, while the others go on.
 */
import { atMost, type Clock } from '../ground/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Throttles } from '../throttle/index.ts';
import type { Admission } from './admission.ts';
import { DrainingError } from './errors.ts';
import { isOurs, type LiveRun, mustWait, park, wakeAtOf } from './live-run.ts';
import type { DrainReport } from './options.ts';
import type { Recorder } from './recorder.ts';
import type { RunTable } from './run-table.ts';
import type { Waits } from './waits.ts';

/** The last part of a drain's budget, in which handlers are told to stop. */
const HURRY_MS = 3_000;
/** What the records of runs that are left behind may take. */
const WRITE_MS = 1_000;

export interface DrainerPorts {
  readonly clock: Clock;
  readonly runs: RunTable;
  readonly admission: Admission;
  readonly waits: Waits;
  readonly recorder: Recorder;
  readonly throttles: Throttles;
}

export class Drainer {
  readonly #ports: DrainerPorts;
  #resting: Promise<DrainReport> | undefined;
  #isResting = false;

  constructor(ports: DrainerPorts) {
    this.#ports = ports;
  }

  /** Nobody is admitted from now on, and nobody is woken. */
  stop(): void {
    const { runs, admission, waits, throttles } = this.#ports;
    runs.isDraining = true;
    admission.stop();
    waits.stop();
    throttles.drain();
  }

  quiesce(budgetMs: number): Promise<DrainReport> {
    this.#resting ??= this.#quiesce(budgetMs);
    return this.#resting;
  }

  async #quiesce(budgetMs: number): Promise<DrainReport> {
    const { runs, admission } = this.#ports;
    tell('engine.draining', () => ({ budgetMs }));
    this.#isResting = true;
    this.stop();
    // Those that stand between two phases need not wait for those that do not.
    for (const run of [...runs.live.values()]) this.left(run);
    await admission.idleWithin(Math.max(0, budgetMs - HURRY_MS));
    const drained = { why: 'drained', reason: new DrainingError() } as const;
    for (const run of runs.live.values()) run.call?.giveUp(drained);
    await admission.idleWithin(Math.min(budgetMs, HURRY_MS));
    // A disk that does not answer must not keep the process from ending.
    const given = Promise.all([...runs.live.values()].map((run) => this.#giveBack(run)));
    await atMost(this.#ports.clock, WRITE_MS, given);
    return { unfinished: runs.live.size, interrupted: admission.busy };
  }

  /** A run that is held is given back at its next boundary; the others go on. */
  sendAway(run: LiveRun): void {
    run.isLeaving = true;
    this.left(run);
  }

  /** The run is in no slot any more: in a drain, or where it was sent away, it is given back at once. */
  left(run: LiveRun): void {
    if (!this.#isResting && !run.isLeaving) return;
    if (this.#ports.runs.isClosed || run.slot !== undefined) return;
    this.#giveBack(run);
  }

  async #giveBack(run: LiveRun): Promise<void> {
    const { clock, runs } = this.#ports;
    if (!run.tie || run.isAppending || !isOurs(run)) return;
    if (run.slot !== undefined) return this.#leaveBehind(run);
    runs.leave(run);
    // It may still stand in a queue, or wait in place: nobody goes on with it from there.
    if (run.isLeaving) run.isLost = true;
    const now = clock.now();
    if (!mustWait(run, now)) return run.tie.released();
    const wakeAt = wakeAtOf(run)!;
    const afterMs = Math.min(wakeAt - now, run.waitMs ?? wakeAt);
    park(run, afterMs);
  }

  /**
   * Its handler does not listen. To release the run now would have two of them at once, so it stays
   * ours until this process is no more; the record tells whoever gets it then to look before it acts.
   */
  async #leaveBehind(run: LiveRun): Promise<void> {
    const { recorder } = this.#ports;
    if (!run.call) return;
    const recorded = recorder.record(run, { type: 'INTERRUPTED', isFree: true });
    // From now on: its handler may answer while this is on its way, and would record that too.
    run.isLost = true;
    await recorded.catch(() => undefined);
  }
}

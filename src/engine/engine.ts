/**
 * The loop at the heart of FleetQ:
 *
 *   while the run is active:
 *     event = perform(phase)                     a throw becomes an event, never an exception here
 *     next  = transition(machine, state, event)
 *     await journal.append(run, seq + 1, event, next)       durable, or the run stands still
 *     state = next
 *
 * Around it: who gets a slot, who waits for a time, and what is still in hand at the end.
 */
import { type Clock, type RunId, runIdMint } from '../ground/index.ts';
import type { Journal, RunRow, StoredRecord } from '../journal/index.ts';
import { type Ending, isFinal, type Plan, whyNobody } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { Throttles } from '../throttle/index.ts';
import { Admission } from './admission.ts';
import { isFaultOfRun } from './blame.ts';
import { Canceller, type CancelReport } from './canceller.ts';
import { Drainer } from './drainer.ts';
import * as endings from './endings.ts';
import { DrainingError } from './errors.ts';
import { Holder } from './holder.ts';
import { interruptionOf } from './interruption.ts';
import { closeJournal } from './last-words.ts';
import { tellLeft, tellResumed } from './left-behind.ts';
import { isOurs, type LiveRun, mayBegin, mustWait, ofRun, park, wakeAtOf } from './live-run.ts';
import type { DrainReport, EngineOptions, Load } from './options.ts';
import { perform } from './perform.ts';
import type { PerformPorts } from './phase-call.ts';
import { readView } from './read-view.ts';
import { Recorder } from './recorder.ts';
import { FIRST_COUNT, load, type Resumption, resumeAll } from './resume.ts';
import { RunTable } from './run-table.ts';
import { Starter } from './starter.ts';
import { Successor } from './successor.ts';
import { isCutOff } from './tie.ts';
import { Waits } from './waits.ts';

export class Engine {
  readonly #options: EngineOptions;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #ports: PerformPorts;
  readonly #runs = new RunTable();
  readonly #admission: Admission;
  readonly #waits: Waits;
  readonly #recorder: Recorder;
  readonly #canceller: Canceller;
  readonly #starter: Starter;
  readonly #successor: Successor;
  /** Runs that came from a store. */
  readonly held: Holder;
  readonly #drainer: Drainer;

  constructor(options: EngineOptions) {
    const { journal, registry, clock, random } = options;
    this.#options = options;
    this.#journal = journal;
    this.#clock = clock;
    this.#ports = {
      clock,
      chance: () => random.fraction(),
      throttles: options.throttles ?? new Throttles({ clock, random }),
      resultBytesMax: options.resultBytesMax,
      around: options.around,
      prepare: (run, event) => this.#recorder.prepare(run, event),
    };
    this.#admission = new Admission(options, (run) => void this.#drive(run));
    this.#waits = new Waits(clock, journal, {
      room: () => options.activeRunsMax - this.#runs.live.size,
      wake: (id) => this.#wake(id),
    });
    this.#recorder = new Recorder(journal, clock, this.#runs);
    const [runs, recorder, admission] = [this.#runs, this.#recorder, this.#admission];
    this.#canceller = new Canceller({ journal, clock, registry, runs, recorder });
    const onTaken = (found: Resumption) => this.#takeUp(found);
    this.#successor = new Successor({ ...options, runs, recorder, onTaken });
    this.#starter = new Starter({
      ...options,
      runs: this.#runs,
      mintRunId: runIdMint(clock, random),
      onStarted: async (run) => {
        run.shadow = options.shadow?.(run);
        try {
          await this.#goOn(run);
        } catch (error) {
          this.#stopDriving(run, error);
        }
      },
    });
    const waits = this.#waits;
    this.#drainer = new Drainer({ ...this.#ports, runs, admission, waits, recorder });
    this.held = new Holder({
      ...options,
      runs,
      recorder,
      sendAway: (run) => this.#drainer.sendAway(run),
      goOn: async (run, waitMs) => this.#goOn(run, waitMs),
      countInterruption: (run) => this.#countInterruption(run),
      onFailed: (run, error) => this.#stopDriving(run, error),
    });
  }

  /** Takes up every unfinished run of the journal, each on its own. */
  async start(): Promise<void> {
    const { id, boot, alarms } = this.#journal;
    tell('engine.started', () => ({ journal: id, boot, slots: this.#options.slots }));
    for (const alarm of alarms) tell('journal.alarm', () => alarm);
    this.#runs.seenAt = tellLeft(this.#journal);
    try {
      // The first go on while the last are still being read; few, for what they write holds those up.
      this.#admission.limitTo(FIRST_COUNT);
      await resumeAll(this.#journal, this.#options.registry, this.#clock, (found) => {
        this.#takeUp(found);
        return !this.#runs.isDraining;
      });
    } finally {
      this.#admission.limitTo(Number.POSITIVE_INFINITY);
    }
    if (!this.#runs.isDraining) this.#waits.start();
  }

  /** Starts a run, or finds the one that has this key. Resolves when its start is durable. */
  startRun(plan: Plan, input: unknown, key?: string, trace?: string): Promise<RunId> {
    return this.#starter.start(plan, input, key, trace);
  }

  /** Cancels a run in whatever state. The first cancel wins; an ended run keeps its outcome. */
  cancel(id: RunId, reason: string): Promise<CancelReport> {
    if (this.#runs.isClosed) return Promise.reject(new DrainingError());
    return this.#canceller.cancel(id, reason);
  }

  /** How the run ended, once it has. A drain ends the waiting, not the run; so does `until`. */
  ending(id: RunId, until?: AbortSignal | undefined): Promise<Ending> {
    return endings.endingOf(this.#runs, this.#options, id, until);
  }

  liveRun = (id: RunId): LiveRun | undefined => this.#runs.live.get(id);
  setAside = (id: RunId) => this.#runs.setAside.get(id);
  /** Told also of a run that sleeps, and has not been looked at here. */
  whyBlocked(records: readonly StoredRecord[]): string | undefined {
    return whyNobody(this.#options.registry, records);
  }
  get load(): Load {
    const { busy, size, waiting } = this.#admission.slots;
    const [inMemory, blocked] = [this.#runs.live.size, this.#runs.setAside.blockedCount];
    const waits = { ...this.#waits.counts, throttle: this.#ports.throttles.waiting };
    return { busy, slots: size, queued: waiting, inMemory, blocked, waits };
  }

  /** Never rejects: a promise of its own for that would weigh on every run in a phase. */
  async #drive(run: LiveRun): Promise<void> {
    try {
      while (!this.#runs.isDraining && mayBegin(run, this.#clock.now())) {
        if (run.tie && isCutOff(run)) {
          if (!(await run.tie.whenCurrent())) break;
          continue;
        }
        // Its due time had come before it was recorded: a death from here on is one in a phase again.
        if (run.state.dueAt !== undefined) this.#admission.renew(run);
        let view = run.view ?? readView(this.#ports, run, this.#quarantine);
        if (view instanceof Promise) {
          view = await view;
          // Schemas may have taken long: what forbids to begin is looked at again.
          if (this.#runs.isDraining || isCutOff(run)) continue;
        }
        if (!view || !isOurs(run)) break;
        const event = 'type' in view ? view : await perform(this.#ports, run, view);
        // Whoever cancelled it meanwhile records that: too late an answer, unless it is final elsewhere.
        if (!event || (!isOurs(run) && !run.prepared)) {
          this.#admission.leave(run);
          return await this.#canceller.carryOut(run);
        }
        await this.#recorder.record(run, event);
        if (run.cancelReason !== undefined) await this.#canceller.carryOut(run);
        // A run that tries again gives way to those that have not had a turn yet.
        if (run.state.dueAt !== undefined && this.#admission.slots.waiting > 0) break;
      }
      // It stands between two phases, and the mark must say so; a record that waits says it by itself.
      const isBetween = !isFinal(run.state.at) && run.state.dueAt === undefined;
      if (isBetween && !this.#runs.isClosed) this.#journal.vacate([run.slot!]);
      this.#admission.leave(run);
      if (this.#runs.isDraining || run.isLeaving) this.#drainer.left(run);
      else if (!this.#runs.setAside.has(run.id)) await this.#goOn(run);
    } catch (error) {
      this.#stopDriving(run, error);
    }
  }

  /** What comes next for a run that is not being executed: its end, its turn, or its time. */
  #goOn(run: LiveRun, waitMs?: number): void | Promise<void> {
    if (run.cancelReason !== undefined && !run.isLost) return this.#canceller.carryOut(run);
    if (run.isLost || run.isLeaving) return this.#drainer.left(run);
    if (!isFinal(run.state.at)) this.#wait(run, waitMs);
  }

  /** In place for a short wait; for a longer one the journal's timer stands for the run. */
  #wait(run: LiveRun, msMax?: number): void {
    if (!mustWait(run, this.#clock.now())) return this.#ready(run);
    const wakeAt = wakeAtOf(run)!;
    const reason = run.state.at.endsWith('.sleep') ? 'sleep' : 'retry';
    tell('run.waiting', () => ({ ...ofRun(run), state: run.state.at, dueAt: wakeAt, reason }));
    const afterMs = Math.min(wakeAt - this.#clock.now(), msMax ?? run.waitMs ?? wakeAt);
    if (run.tie && afterMs > Waits.IN_PLACE_MS) {
      this.#runs.leave(run);
      park(run, afterMs);
    } else if (run.hasTimer) {
      this.#runs.live.delete(run.id);
      this.#waits.armed(wakeAt);
    } else {
      this.#waits.inPlace(reason, wakeAt, msMax ?? Waits.IN_PLACE_MS, () => {
        if (isOurs(run)) this.#ready(run);
      });
    }
  }

  #ready(run: LiveRun): void {
    run.waitedSeq = run.seq;
    this.#admission.ready(run);
  }

  #wake(id: RunId): void {
    if (this.#runs.isDraining || this.#runs.live.has(id) || this.#canceller.isEnding(id)) return;
    // Its timer is taken, and so are those of the others that are due with it: they must go on.
    endings.orPutAside(this.#runs, id, () => {
      const found = load(this.#journal, this.#options.registry, id);
      if (found) this.#takeUp(found);
    });
  }

  #takeUp(found: Resumption): void {
    if (found.kind === 'setAside') return endings.putAside(this.#runs, found);
    if (found.kind === 'succeeds') return this.#successor.take(found);
    const { run, wasInterrupted, waitMs } = found;
    this.#runs.setAside.delete(run.id);
    this.#runs.live.set(run.id, run);
    run.shadow = this.#options.shadow?.(run);
    tellResumed(run, found, this.#runs.seenAt);
    if (!wasInterrupted) return this.#wait(run, waitMs);
    this.#countInterruption(run).catch((error) => this.#stopDriving(run, error));
  }

  /** Its records were looked at while it waits, and cannot be trusted. */
  quarantineAsleep(row: RunRow, reason: string): void {
    endings.quarantineAsleep(this.#runs, row, reason);
  }

  /** An interrupted phase is a failed attempt, or a run that kills its process would do so for ever. */
  async #countInterruption(run: LiveRun): Promise<void> {
    return this.#recorder.record(run, interruptionOf(run)).then(() => this.#goOn(run));
  }

  /** A defect of ours, or a record that the journal refuses: this run stops, the others go on. */
  #stopDriving(run: LiveRun, error: unknown): void {
    if (this.#runs.isClosed) return;
    if (run.tie && !isFaultOfRun(error)) this.#interrupt(run, error);
    else this.#quarantine(run, error);
    if (run.slot !== undefined) this.#admission.leave(run);
  }

  /** This pod could not go on with it: a try that was cut off, as by a death, so the attempts bound it. */
  #interrupt(run: LiveRun, error: unknown): void {
    endings.tellFault(run, error);
    if (!run.isLost) this.#countInterruption(run).catch(() => endings.release(this.#runs, run));
  }

  #quarantine = (run: LiveRun, error: unknown): undefined =>
    endings.quarantine(this.#runs, run, error);

  /** Stops at phase boundaries within the budget; what is unfinished then goes on in the next process. */
  async drain(budgetMs: number): Promise<DrainReport> {
    const begunMs = this.#clock.monotonicMs();
    const report = await this.quiesce(budgetMs);
    this.#close();
    const elapsedMs = this.#clock.monotonicMs() - begunMs;
    tell('engine.drained', () => ({ ...report, elapsedMs }));
    return report;
  }

  /** Begins no phase any more, and gives back what is held for a store and stands between two. */
  quiesce(budgetMs: number): Promise<DrainReport> {
    return this.#drainer.quiesce(budgetMs);
  }

  /** Ends at once, as by a crash that was seen coming: what is inside a phase stays marked as such. */
  stopNow(): void {
    this.#drainer.stop();
    this.#close();
    this.#admission.stopWaiting();
  }

  #close(): void {
    if (this.#runs.isClosed) return;
    this.#options.beforeClose?.();
    closeJournal(this.#journal, this.#runs);
  }
}

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
import { isDeepStrictEqual } from 'node:util';
import {
  assert,
  type Clock,
  describeError,
  encodeJson,
  type Json,
  type MintRunId,
  type Random,
  type RunId,
  runIdMint,
} from '../ground/index.ts';
import { type Entry, type Journal, JournalStalledError, type RunRow } from '../journal/index.ts';
import {
  advance,
  type Ending,
  isFinal,
  type Outcome,
  type Plan,
  parseWith,
  type Registry,
  type RunEvent,
  startState,
} from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { Limits } from '../throttle/index.ts';
import {
  DrainingError,
  InterruptedError,
  KeyConflictError,
  RunCancelledError,
  RunNotFoundError,
  RunSetAsideError,
  TooManyRunsError,
} from './errors.ts';
import { errorOf, type LiveRun, newLiveRun } from './live-run.ts';
import { type Around, drained, type PerformPorts, perform, policyOf } from './perform.ts';
import { load, type Resumption, resumeAll } from './resume.ts';
import { Slots } from './slots.ts';
import { viewOf } from './view.ts';
import { Waits } from './waits.ts';

export interface EngineOptions {
  readonly journal: Journal;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly slots: number;
  readonly resultBytesMax: number;
  readonly activeRunsMax: number;
  readonly retentionMs: number;
  readonly apis?: Readonly<Record<string, number>> | undefined;
  readonly around?: Around | undefined;
}

export interface DrainReport {
  /** Runs that go on in the next process. */
  readonly unfinished: number;
  /** Of these, the ones that were inside a phase when the budget was spent. */
  readonly interrupted: number;
}

interface Waiter {
  readonly resolve: (ending: Ending) => void;
  readonly reject: (error: Error) => void;
}

/** The last part of a drain's budget, in which handlers are told to stop. */
const DRAIN_HURRY_MS = 3_000;

export class Engine {
  readonly #options: EngineOptions;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #ports: PerformPorts;
  readonly #slots: Slots<LiveRun>;
  readonly #waits: Waits;
  readonly #mintRunId: MintRunId;
  readonly #live = new Map<RunId, LiveRun>();
  readonly #starting = new Map<string, Promise<RunId>>();
  readonly #waiters = new Map<RunId, Set<Waiter>>();
  readonly #setAside = new Map<
    RunId,
    { readonly status: 'blocked' | 'quarantined'; readonly reason: string }
  >();
  #isDraining = false;
  #isClosed = false;
  #onIdle: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#clock = options.clock;
    this.#mintRunId = runIdMint(options.clock, options.random);
    this.#slots = new Slots(options.slots);
    this.#ports = {
      clock: options.clock,
      chance: () => options.random.fraction(),
      limits: new Limits(options.apis),
      resultBytesMax: options.resultBytesMax,
      around: options.around,
    };
    this.#waits = new Waits(options.clock, options.journal, (id) => this.#wake(id));
  }

  /** Takes up every unfinished run of the journal, each on its own. */
  start(): void {
    const { journal, boot } = { journal: this.#journal.id, boot: this.#journal.boot };
    tell('engine.started', () => ({ journal, boot, slots: this.#slots.size }));
    for (const alarm of this.#journal.alarms) tell('journal.alarm', () => alarm);
    const asleepUntil = this.#clock.now() + Waits.IN_PLACE_MS;
    for (const found of resumeAll(this.#journal, this.#options.registry, asleepUntil)) {
      this.#takeUp(found);
    }
    this.#waits.start();
    this.#admit();
  }

  /** Starts a run, or finds the one that has this key. Resolves when its start is durable. */
  async startRun(
    plan: Plan,
    input: unknown,
    options: { readonly key?: string | undefined } = {},
  ): Promise<RunId> {
    this.#refuseStart();
    const what = `the input of ${plan.name}`;
    const stored = JSON.parse(encodeJson(input, what, this.#options.resultBytesMax)) as Json;
    await parseWith(plan.input, stored, what);
    if (options.key === undefined) return this.#startNew(plan, stored, undefined);
    return this.#startByKey(plan, stored, options.key);
  }

  async #startByKey(plan: Plan, input: Json, key: string): Promise<RunId> {
    const place = `${plan.name}\n${key}`;
    // Two starts with one key may arrive before the first is durable: the second follows the first.
    const starting = this.#starting.get(place);
    if (starting) {
      await starting.catch(() => undefined);
      return this.#startByKey(plan, input, key);
    }
    const since = this.#clock.now() - this.#options.retentionMs;
    const known = this.#journal.findByKey(plan.name, key, since);
    if (known) return this.#sameRun(known, input, key);
    const started = this.#startNew(plan, input, key);
    this.#starting.set(place, started);
    try {
      return await started;
    } finally {
      this.#starting.delete(place);
    }
  }

  #sameRun(known: RunRow, input: Json, key: string): RunId {
    const first = this.#journal.history(known.id)[0]?.event;
    const isSame = first?.type === 'STARTED' && isDeepStrictEqual(first.input, input);
    if (!isSame) throw new KeyConflictError(known.machine, key, known.id);
    return known.id;
  }

  async #startNew(plan: Plan, input: Json, key: string | undefined): Promise<RunId> {
    const now = this.#clock.now();
    const event = {
      type: 'STARTED',
      machine: plan.name,
      version: plan.version,
      fingerprint: plan.fingerprint,
      input,
      ...(key === undefined ? {} : { key }),
      ...(plan.runTimeoutMs === undefined ? {} : { deadlineAt: now + plan.runTimeoutMs }),
    } as const;
    const state = startState(plan, event, now);
    const run = newLiveRun({ id: this.#mintRunId(), plan, key, epoch: this.#journal.boot, state });
    this.#live.set(run.id, run);
    run.isAppending = true;
    try {
      run.hash = await this.#journal.append({
        run: run.id,
        seq: 0,
        at: now,
        epoch: run.epoch,
        event,
        state: state.at,
        prevHash: run.hash,
        opens: { machine: plan.name, version: plan.version, key },
      });
    } catch (error) {
      this.#live.delete(run.id);
      throw error;
    }
    run.seq = 0;
    run.isAppending = false;
    tell('run.started', () => ({ ...ofRun(run), key }));
    if (run.cancelReason !== undefined) await this.#cancelNow(run, run.cancelReason);
    else this.#ready(run);
    return run.id;
  }

  #refuseStart(): void {
    if (this.#isDraining) throw new DrainingError();
    const stalledBy = this.#journal.stalledBy;
    if (stalledBy) throw new JournalStalledError(stalledBy);
    if (this.#live.size >= this.#options.activeRunsMax) {
      throw new TooManyRunsError(this.#options.activeRunsMax);
    }
  }

  /** The run may be executed: it waits for its turn. */
  #ready(run: LiveRun): void {
    this.#slots.enqueue(run);
    this.#admit();
  }

  #admit(): void {
    while (!this.#isDraining) {
      const next = this.#slots.next();
      if (!next) return;
      const run = next.item;
      if (isFinal(run.state.at)) {
        // Cancelled while it waited.
        this.#slots.release(next.slot);
        continue;
      }
      run.slot = next.slot;
      this.#journal.occupy(next.slot, run.id, run.seq);
      this.#drive(run).catch((error) => this.#failToDrive(run, error));
    }
  }

  /** A defect of ours, or a record that the journal refuses: this run stops, the others go on. */
  #failToDrive(run: LiveRun, error: unknown): void {
    if (this.#isClosed) return;
    this.#setRunAside(run, describeError(error).message);
    if (run.slot !== undefined) this.#leaveSlot(run);
  }

  async #drive(run: LiveRun): Promise<void> {
    while (!this.#isDraining && !isFinal(run.state.at)) {
      if (this.#mustWait(run)) break;
      const view = run.view ?? (await this.#viewOrQuarantine(run));
      if (!view) break;
      const event = await perform(this.#ports, run, view);
      // Whoever cancelled the run meanwhile has recorded that, and this answer came too late.
      if (!event || isFinal(run.state.at)) break;
      await this.#record(run, event);
      if (run.cancelReason !== undefined) await this.#cancelNow(run, run.cancelReason);
    }
    this.#leaveSlot(run);
  }

  #mustWait(run: LiveRun): boolean {
    const { dueAt, deadlineAt } = run.state;
    return dueAt !== undefined && Math.min(dueAt, deadlineAt ?? dueAt) > this.#clock.now();
  }

  /** A deploy may have changed a schema so that a recorded value does not fit: then nothing is guessed. */
  async #viewOrQuarantine(run: LiveRun) {
    try {
      return await viewOf(run);
    } catch (error) {
      this.#setRunAside(run, describeError(error).message);
      return undefined;
    }
  }

  #leaveSlot(run: LiveRun): void {
    assert(run.slot !== undefined, 'a run without a slot cannot leave it');
    this.#slots.release(run.slot);
    run.slot = undefined;
    if (this.#isClosed) return;
    if (!isFinal(run.state.at) && !this.#isDraining && !this.#setAside.has(run.id)) this.#wait(run);
    if (this.#isDraining && this.#slots.busy === 0) this.#onIdle?.();
    this.#admit();
  }

  /** In place for a short wait; for a longer one the journal's timer stands for the run. */
  #wait(run: LiveRun): void {
    const { dueAt, deadlineAt } = run.state;
    if (dueAt === undefined) return this.#ready(run);
    const wakeAt = Math.min(dueAt, deadlineAt ?? dueAt);
    if (wakeAt <= this.#clock.now()) return this.#ready(run);
    tell('run.waiting', () => ({
      ...ofRun(run),
      state: run.state.at,
      dueAt: wakeAt,
      reason: 'time',
    }));
    if (run.hasTimer) {
      this.#live.delete(run.id);
      this.#waits.armed(wakeAt);
    } else {
      this.#waits.inPlace(wakeAt, () => {
        if (this.#live.get(run.id) === run && !isFinal(run.state.at)) this.#ready(run);
      });
    }
  }

  #wake(id: RunId): void {
    if (this.#isDraining || this.#live.has(id)) return;
    const found = load(this.#journal, this.#options.registry, id);
    if (found) this.#takeUp(found);
    this.#admit();
  }

  /** The one place where a run moves: an event becomes durable, then it becomes the state. */
  async #record(run: LiveRun, event: RunEvent): Promise<void> {
    if (this.#isClosed) return;
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
      ...(next.ending ? { closes: closingOf(run, next.ending) } : {}),
      ...(wakeAt !== undefined ? { wakeAt } : run.hasTimer ? { wakeAt: null } : {}),
    };
    run.isAppending = true;
    try {
      run.hash = await this.#journal.append(entry);
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
    this.#live.delete(run.id);
    tell('run.finished', () => ({
      ...ofRun(run),
      outcome: ending.outcome,
      state: ending.state,
      reason: ending.reason ?? ending.error?.message,
      elapsedMs: now - run.state.startedAt,
    }));
    for (const waiter of this.#waiters.get(run.id) ?? []) waiter.resolve(ending);
    this.#waiters.delete(run.id);
  }

  #takeUp(found: Resumption): void {
    if (found.kind === 'setAside') {
      this.#setAside.set(found.row.id, { status: found.status, reason: found.reason });
      const of = { run: found.row.id, machine: found.row.machine, version: found.row.version };
      if (found.status === 'quarantined')
        tell('run.quarantined', () => ({ ...of, reason: found.reason }));
      else tell('run.blocked', () => ({ ...of, state: found.state, reason: found.reason }));
      return;
    }
    const { run, wasInterrupted } = found;
    this.#setAside.delete(run.id);
    this.#live.set(run.id, run);
    tell('run.resumed', () => ({
      ...ofRun(run),
      state: run.state.at,
      attempt: run.state.attempt,
      wasInterrupted,
    }));
    if (!wasInterrupted) return this.#wait(run);
    this.#countInterruption(run).catch((error) => this.#failToDrive(run, error));
  }

  /** An interrupted phase is a failed attempt, or a run that kills its process would do so for ever. */
  async #countInterruption(run: LiveRun): Promise<void> {
    const error = describeError(new InterruptedError(run.state.at));
    const isLast = run.state.attempt >= policyOf(run).attemptMax;
    await this.#record(run, isLast ? { type: 'EXHAUSTED', error } : { type: 'INTERRUPTED', error });
    if (run.cancelReason !== undefined) await this.#cancelNow(run, run.cancelReason);
    if (!isFinal(run.state.at)) this.#ready(run);
  }

  #setRunAside(run: LiveRun, reason: string): void {
    this.#setAside.set(run.id, { status: 'quarantined', reason });
    this.#live.delete(run.id);
    tell('run.quarantined', () => ({ ...ofRun(run), reason }));
  }

  /** Cancels a run in whatever state. The first cancel wins; an ended run keeps its outcome. */
  async cancel(
    id: RunId,
    reason: string,
  ): Promise<{ readonly isCancelled: boolean; readonly outcome: Outcome }> {
    const run = this.#live.get(id) ?? this.#loadToCancel(id);
    if (!run) {
      const outcome = this.#journal.find(id)?.ending?.outcome;
      assert(outcome !== undefined, `run ${id} has neither ended nor begun`);
      return { isCancelled: false, outcome };
    }
    const ended = this.#whenEnded(id);
    const isFirst = run.cancelReason === undefined;
    run.cancelReason ??= reason;
    if (isFirst) {
      run.giveUp?.({ why: 'cancelled', reason: new RunCancelledError(id, run.state.at, reason) });
      // While a record is on its way, whoever wrote it will see the reason and go on from here.
      if (!run.isAppending) await this.#cancelNow(run, reason);
    }
    const { outcome } = await ended;
    return { isCancelled: isFirst && outcome === 'cancelled', outcome };
  }

  async #cancelNow(run: LiveRun, reason: string): Promise<void> {
    if (isFinal(run.state.at) || run.isAppending) return;
    await this.#record(run, { type: 'CANCELLED', reason });
  }

  #loadToCancel(id: RunId): LiveRun | undefined {
    const row = this.#journal.find(id);
    if (!row) throw new RunNotFoundError(id);
    if (row.finishedAt !== undefined) return undefined;
    const found = load(this.#journal, this.#options.registry, id);
    assert(found !== undefined, `run ${id} has a row and no records`);
    if (found.kind === 'setAside') throw new RunSetAsideError(id, found.status, found.reason);
    found.run.hasTimer = true;
    this.#live.set(id, found.run);
    return found.run;
  }

  /** How the run ended, once it has. A drain ends the waiting, not the run. */
  async ending(id: RunId): Promise<Ending> {
    if (this.#isClosed) throw new DrainingError();
    const row = this.#journal.find(id);
    if (row?.ending) return row.ending;
    if (!row && !this.#live.has(id)) throw new RunNotFoundError(id);
    return this.#whenEnded(id);
  }

  #whenEnded(id: RunId): Promise<Ending> {
    if (this.#isClosed) return Promise.reject(new DrainingError());
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters);
      waiters.add({ resolve, reject });
    });
  }

  /** The run in memory, for whoever shows it. */
  liveRun(id: RunId): LiveRun | undefined {
    return this.#live.get(id);
  }
  setAside(
    id: RunId,
  ): { readonly status: 'blocked' | 'quarantined'; readonly reason: string } | undefined {
    return this.#setAside.get(id);
  }
  get load(): {
    readonly busy: number;
    readonly slots: number;
    readonly queued: number;
    readonly inMemory: number;
  } {
    const { busy, size, waiting } = this.#slots;
    return { busy, slots: size, queued: waiting, inMemory: this.#live.size };
  }

  /** Stops at phase boundaries within the budget; what is unfinished then goes on in the next process. */
  async drain(budgetMs: number): Promise<DrainReport> {
    if (this.#isDraining) return { unfinished: this.#live.size, interrupted: this.#slots.busy };
    this.#isDraining = true;
    this.#waits.stop();
    const begunMs = this.#clock.monotonicMs();
    tell('engine.draining', () => ({ budgetMs }));
    await this.#idleWithin(Math.max(0, budgetMs - DRAIN_HURRY_MS));
    for (const run of this.#live.values()) run.giveUp?.(drained);
    await this.#idleWithin(Math.min(budgetMs, DRAIN_HURRY_MS));
    const report = { unfinished: this.#live.size, interrupted: this.#slots.busy };
    this.#close();
    const elapsedMs = this.#clock.monotonicMs() - begunMs;
    tell('engine.drained', () => ({ ...report, elapsedMs }));
    return report;
  }

  /** Ends at once, as by a crash that was seen coming: what is inside a phase stays marked as such. */
  stopNow(): void {
    if (this.#isClosed) return;
    this.#isDraining = true;
    this.#waits.stop();
    this.#close();
  }

  #close(): void {
    this.#isClosed = true;
    if (!this.#journal.stalledBy) this.#journal.flushNow();
    // Only what is really inside a phase stays marked; the others were stopped between two.
    this.#journal.vacate();
    for (const run of this.#live.values()) {
      if (run.slot !== undefined && run.giveUp) this.#journal.occupy(run.slot, run.id, run.seq);
    }
    this.#journal.close();
    for (const waiters of this.#waiters.values()) {
      for (const waiter of waiters) waiter.reject(new DrainingError());
    }
    this.#waiters.clear();
  }

  #idleWithin(ms: number): Promise<void> {
    if (this.#slots.busy === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
    });
  }
}

function ofRun(run: LiveRun) {
  return { run: run.id, machine: run.plan.name, version: run.plan.version };
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

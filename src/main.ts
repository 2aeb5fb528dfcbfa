/** The handle of programs: `createFleet` puts journal, engine, listeners and pod together. */
import type { MachineInfo, SharedPort, Sources } from './admin/index.ts';
import { assemble, type FleetOptions, type Parts } from './assemble.ts';
import { type DrainReport, RunNotFoundError, type RunSummary } from './engine/index.ts';
import * as many from './enqueue-many.ts';
import { NoStoreError } from './fleet/errors.ts';
import type { Member } from './fleet/index.ts';
import { type Codec, identityCodec, isRunId, type RunId } from './ground/index.ts';
import {
  type DrainOptions,
  drainMs,
  type EnqueueOptions,
  enqueueOptions,
  type FleetStatus,
  type Run,
  type StartOptions,
  startKey,
  type Task,
} from './handles.ts';
import type { RunFilter, StoredRecord } from './journal/index.ts';
import { liveSources } from './live-sources.ts';
import { type Machine, type Plan, parseInput, routeOf } from './machine/index.ts';
import type { ThrottleHandle } from './machine/throttle-types.ts';
import { machineInfo, registeredPlan } from './machine-info.ts';
import { runHandle, taskHandle } from './make-handles.ts';
import { type Serving, serve } from './serving.ts';
import { type StartTask, sharedOfFleet } from './shared-port.ts';
import type { StartNote, Store } from './store/index.ts';
import { enqueueTraced } from './tracing.ts';

export type { FleetOptions } from './assemble.ts';
export type {
  EnqueueOptions,
  FleetStatus,
  Run,
  StartOptions,
  Task,
  WaitOptions,
} from './handles.ts';

export class Fleet implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #options: FleetOptions;
  #serving: Serving | undefined;
  #drained: Promise<DrainReport> | undefined;
  #onDrainWanted: () => void;

  private constructor(options: FleetOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#onDrainWanted = options.onDrainWanted ?? (() => void this.drain());
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    let fleet: Fleet | undefined;
    const parts = await assemble(options, {
      beforeClose: () => fleet?.closeServer(),
      onDrainWanted: () => fleet?.requestDrain(),
    });
    fleet = new Fleet(options, parts);
    try {
      await fleet.#start();
      return fleet;
    } catch (error) {
      fleet.stopNow();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { engine, caretaker, member } = this.#parts;
    const { isIdle, isClient } = this.#options;
    if (!isIdle) {
      if (!isClient) await member?.pod.alone();
      await engine.start();
      caretaker.start();
      if (!isClient) await member?.start();
    }
    this.#serving = await serve(this, this.#options, this.#parts);
  }

  /** The directory may be another's in a moment. */
  protected closeServer(): void {
    this.#serving?.server.close();
  }

  /** Where it answers HTTP besides its socket, if anywhere. */
  get listening(): string | undefined {
    return this.#serving?.at;
  }

  get dataDir(): string {
    return this.#parts.dataDir;
  }
  /** What its texts pass on their way to disk and store. */
  get codec(): Codec {
    return this.#options.codec ?? identityCodec;
  }

  /** The shared tables; there are none where no store was given. */
  get store(): Store {
    return this.#member('the store').store;
  }

  /** The shared tables as those need them who serve people; undefined where there are none. */
  get shared(): SharedPort | undefined {
    const { readStore: readUrl } = this.#options;
    const start: StartTask = (name, input, { note, ...options }) =>
      this.#enqueue(this.#parts.registry.newest(name), input, options, note);
    return sharedOfFleet(this, this.#parts, start, readUrl);
  }

  /** What streams of this fleet tell from. */
  get sources(): Sources {
    return liveSources(this.#parts);
  }

  /** Gives a task to the fleet. Resolves once the store has it: from then on it is not lost. */
  async enqueue<I, O>(
    machine: Machine<I, O>,
    input: NoInfer<I>,
    options?: EnqueueOptions,
  ): Promise<Task<O>> {
    return this.#enqueue<O>(this.#registered(machine), input, options);
  }

  /** Gives many tasks to the fleet, a batch at a time, out of a list or a stream of any length. */
  async enqueueMany<I>(
    machine: Machine<I>,
    items: many.EnqueueItems<NoInfer<I>>,
    options?: many.EnqueueManyOptions,
  ): Promise<many.ManyReport> {
    const { tasks } = this.#member('enqueueMany');
    return many.enqueueAll({ ...this.#parts, tasks }, this.#registered(machine), items, options);
  }

  /** A task of the newest version of a machine known by name only. */
  async enqueueByName(name: string, input: unknown, options?: EnqueueOptions): Promise<Task> {
    return this.#enqueue(this.#parts.registry.newest(name), input, options);
  }

  async #enqueue<O>(
    plan: Plan,
    input: unknown,
    options?: EnqueueOptions,
    note?: StartNote,
  ): Promise<Task<O>> {
    const { tasks } = this.#member('enqueue');
    const { tracing, retentionMs } = this.#parts;
    const wanted = enqueueOptions(options, retentionMs);
    const id = await enqueueTraced(tracing, plan.name, wanted.traceParent, (traceParent) =>
      tasks.enqueue(plan, input, { ...wanted, traceParent }, note),
    );
    return this.#task<O>(plan, id);
  }

  /** A handle on a task of whatever machine; what is asked of it finds out whether there is one. */
  taskById(id: string, machine?: string): Task {
    if (!isRunId(id)) throw new RunNotFoundError(id);
    return this.#task(machine === undefined ? undefined : this.#parts.registry.newest(machine), id);
  }

  /** Starts a run here. Resolves once its start is on disk: from then on it survives anything. */
  async startLocal<I, O>(
    machine: Machine<I, O>,
    input: NoInfer<I>,
    options?: StartOptions,
  ): Promise<Run<O>> {
    return this.#startRun<O>(this.#registered(machine), input, options);
  }

  /** Starts a run of the newest version of a machine known by name only. */
  async startByName(name: string, input: unknown, options?: StartOptions): Promise<Run> {
    return this.#startRun(this.#parts.registry.newest(name), input, options);
  }

  async #startRun<O>(plan: Plan, input: unknown, options?: StartOptions): Promise<Run<O>> {
    const { engine, tracing } = this.#parts;
    const id = await engine.startRun(plan, input, startKey(options), tracing?.traceParent());
    return this.#handle<O>(plan, id);
  }

  /** A handle on a run known by id, typed by the machine it belongs to. */
  run<O>(machine: Machine<never, O>, id: RunId): Run<O> {
    return this.#handle<O>(this.#registered(machine), id);
  }

  /** A handle on a run of whatever machine; an unknown id is an error. */
  runById(id: string): Run {
    const row = isRunId(id) ? this.#parts.journal.find(id) : undefined;
    if (!row) throw new RunNotFoundError(id);
    return this.#handle(this.#parts.registry.find(row.machine, row.version), row.id);
  }

  /** Runs, newest first. */
  runs = (filter: RunFilter): RunSummary[] => this.#parts.inspector.list(filter);
  describe = (id: string): RunSummary => this.#parts.inspector.describe(id);

  /** Throws where the machine, its newest version or this one if it is here, does not want it. */
  async checkInput(name: string, input: unknown, version?: number): Promise<void> {
    const { clock, registry } = this.#parts;
    const plan = version === undefined ? registry.newest(name) : registry.find(name, version);
    if (plan) await parseInput(clock, plan, input);
  }

  /** The run's records after `afterSeq`, each verified against the one before it. */
  events = (id: string, afterSeq = -1): StoredRecord[] =>
    this.#parts.inspector.events(id, afterSeq);

  /** What can be started here. */
  get machines(): MachineInfo[] {
    return this.#parts.registry.all().map(machineInfo);
  }

  /** The throttle of an API, for calls outside of runs; they share its permits with those inside. */
  throttle = (api: string): ThrottleHandle =>
    this.#parts.throttles.of(api, { isRetry: false, refusals: 0 });

  get status(): FleetStatus {
    const { journal, engine, registry, member, throttles } = this.#parts;
    const { id, boot, stalledBy, alarms } = journal;
    return {
      journal: id,
      boot,
      dataDir: this.dataDir,
      ...engine.load,
      stalledBy: stalledBy?.message,
      alarms: alarms.map((alarm) => alarm.message),
      machines: registry.all().map(routeOf),
      pod: this.#options.isClient ? undefined : member?.status,
      throttles: throttles.snapshots(),
    };
  }

  /** Stops at phase boundaries and closes the journal; unfinished runs go on elsewhere, or here later. */
  drain(options?: DrainOptions): Promise<DrainReport> {
    const budgetMs = drainMs(options);
    this.#parts.caretaker.stop();
    this.#drained ??= this.#drain(budgetMs);
    return this.#drained;
  }

  async #drain(budgetMs: number): Promise<DrainReport> {
    const { engine, member, clock, tracing } = this.#parts;
    const begunMs = clock.monotonicMs();
    this.#serving?.server.leave();
    if (member) {
      await member.drain(budgetMs, async (leftMs) => {
        await engine.quiesce(leftMs);
      });
    }
    const report = await engine.drain(Math.max(0, budgetMs - (clock.monotonicMs() - begunMs)));
    await Promise.all([this.#serving?.server.stop(), member?.closed, tracing?.end()]);
    return report;
  }

  /** What `fleetq drain` comes to, by the store or the socket: `onDrainWanted`, else a drain. */
  requestDrain = (): void => this.#onDrainWanted();

  /** Whoever governs the process ends it when it is asked to drain, unless `onDrainWanted` says otherwise. */
  drainBy(act: () => void): void {
    if (this.#options.onDrainWanted) return;
    this.#onDrainWanted = act;
    if (this.#drained) act();
  }

  /** Closes the journal at once; for a process that must end now. */
  stopNow(): void {
    this.#parts.caretaker.stop();
    this.#parts.member?.abandon();
    this.#parts.engine.stopNow();
  }

  [Symbol.asyncDispose] = async (): Promise<void> => void (await this.drain());

  #member(what: string): Member {
    const { member } = this.#parts;
    if (!member) throw new NoStoreError(what);
    return member;
  }

  #registered(machine: Machine<never, unknown>): Plan {
    return registeredPlan(this.#parts.registry, machine);
  }

  #task<O>(plan: Plan | undefined, id: RunId): Task<O> {
    return taskHandle(this.#parts.clock, this.#member('a task').tasks, plan, id);
  }

  #handle<O>(plan: Plan | undefined, id: RunId): Run<O> {
    return runHandle(this.#parts.clock, this.#parts.engine, plan, id);
  }
}

/** Opens the journal, takes up what was left unfinished, joins the fleet if there is one. */
export function createFleet(options: FleetOptions): Promise<Fleet> {
  return Fleet.open(options);
}

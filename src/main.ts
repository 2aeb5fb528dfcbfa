/**
 * The composition root: the only file that knows every room. `createFleet` puts a journal, an engine
 * and its listeners together and gives back the handle that programs use.
 */

import { type AdminServer, type MachineInfo, serveFleet } from './admin/index.ts';
import { countOption, DEFAULTS, durationOption, keyOption } from './config/index.ts';
import {
  type Around,
  type CancelReport,
  type DrainReport,
  Engine,
  Inspector,
  Pruner,
  RunNotFoundError,
  type RunSummary,
  resultOf,
  untilOf,
} from './engine/index.ts';
import {
  type Clock,
  type Duration,
  isRunId,
  type Random,
  type RunId,
  show,
  systemClock,
  systemRandom,
} from './ground/index.ts';
import { type Codec, type RunFilter, SqliteJournal, type StoredRecord } from './journal/index.ts';
import {
  type Machine,
  type Plan,
  planOf,
  Registry,
  RegistryError,
  routeOf,
} from './machine/index.ts';
import { tell } from './telemetry/events.ts';

export interface FleetOptions {
  readonly machines: readonly Machine[];
  /** Where the journal lives; './.fleetq' by default. One process holds it at a time. */
  readonly dataDir?: string | undefined;
  /** How many runs are executed at once; 64 by default. */
  readonly slots?: number | undefined;
  /** How long ended runs keep their events, and keys their meaning; '7d' by default. */
  readonly retention?: Duration | undefined;
  /** The largest JSON, in bytes, that a phase may return; 1 MiB by default. */
  readonly resultBytesMax?: number | undefined;
  /** How many unfinished runs may be in memory; 200,000 by default. */
  readonly activeRunsMax?: number | undefined;
  /** How many calls of each API `use` lets through at once; 32 where nothing is said. */
  readonly apis?: Readonly<Record<string, number>> | undefined;
  /** Wraps the call of every phase; for tracing. */
  readonly around?: Around | undefined;
  /** What payloads pass through before they touch the disk. */
  readonly codec?: Codec | undefined;
  /** Takes runs in and cancels them, and leaves executing them to the next process. */
  readonly isIdle?: boolean | undefined;
  /**
   * Whether the command line can reach this process, on a socket in the data directory. Unless
   * `isIdle` that is tried by default; with `true` it is an error where it cannot be.
   */
  readonly socket?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

export interface StartOptions {
  /** Starts with the same key and input, of one machine, are one run. */
  readonly key?: string | undefined;
}
export interface WaitOptions {
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface Run<out O = unknown> {
  readonly id: RunId;
  /** The output once the run has ended well; throws a RunEndedError where it has not. */
  result(options?: WaitOptions): Promise<O>;
  cancel(reason?: string): Promise<CancelReport>;
}

export interface FleetStatus {
  readonly journal: string;
  readonly boot: number;
  readonly dataDir: string;
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly inMemory: number;
  readonly stalledBy: string | undefined;
  readonly alarms: readonly string[];
  readonly machines: readonly string[];
}

export class Fleet implements AsyncDisposable {
  readonly dataDir: string;
  readonly #engine: Engine;
  readonly #journal: SqliteJournal;
  readonly #registry: Registry;
  readonly #inspector: Inspector;
  readonly #clock: Clock;
  readonly #pruner: Pruner;
  #server: AdminServer | undefined;
  #resumed: Promise<void> | undefined;
  #drained: Promise<DrainReport> | undefined;

  constructor(options: FleetOptions) {
    const clock = options.clock ?? systemClock;
    const random = options.random ?? systemRandom;
    this.#clock = clock;
    this.#registry = new Registry(options.machines);
    const retentionMs = durationOption('retention', options.retention ?? DEFAULTS.retention);
    this.dataDir = options.dataDir ?? DEFAULTS.dataDir;
    const slots = countOption('slots', options.slots ?? DEFAULTS.slots, 100_000);
    const resultBytesMax = countOption(
      'resultBytesMax',
      options.resultBytesMax ?? DEFAULTS.resultBytesMax,
      64 * 1024 * 1024,
    );
    const activeRunsMax = countOption(
      'activeRunsMax',
      options.activeRunsMax ?? DEFAULTS.activeRunsMax,
      10_000_000,
    );
    for (const [api, count] of Object.entries(options.apis ?? {}))
      countOption(`apis.${api}`, count, 1_000_000);
    this.#journal = SqliteJournal.open(this.dataDir, {
      clock,
      random,
      codec: options.codec,
      onStall: (error) =>
        tell('journal.stalled', () => ({ error: { name: error.name, message: error.message } })),
      onRecover: () => tell('journal.recovered', () => ({})),
      onCommit: (commit) => tell('journal.committed', () => commit),
    });
    this.#engine = new Engine({
      journal: this.#journal,
      registry: this.#registry,
      clock,
      random,
      slots: options.isIdle ? 0 : slots,
      resultBytesMax,
      activeRunsMax,
      retentionMs,
      apis: options.apis,
      around: options.around,
      beforeClose: () => void this.#server?.close(),
    });
    this.#inspector = new Inspector(this.#journal, clock, this.#engine);
    this.#pruner = new Pruner(this.#journal, clock, retentionMs);
    if (options.isIdle) return;
    this.#resumed = this.#engine.start();
    this.#pruner.start();
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      await fleet.#resumed;
      if (!(options.socket ?? !options.isIdle)) return fleet;
      fleet.#server = await serveFleet({
        fleet,
        dataDir: fleet.dataDir,
        clock: fleet.#clock,
        resultBytesMax: options.resultBytesMax ?? DEFAULTS.resultBytesMax,
        isRequired: options.socket === true,
      });
      return fleet;
    } catch (error) {
      fleet.stopNow();
      throw error;
    }
  }

  /** Starts a run here. Resolves once its start is on disk: from then on it survives anything. */
  async startLocal<I, O>(
    machine: Machine<I, O>,
    input: NoInfer<I>,
    options?: StartOptions,
  ): Promise<Run<O>> {
    const plan = this.#registered(machine);
    const id = await this.#engine.startRun(plan, input, keyOption(options?.key));
    return this.#handle<O>(plan, id);
  }

  /** Starts a run of the newest version of a machine known by name only. */
  async startByName(name: string, input: unknown, options?: StartOptions): Promise<Run> {
    const plan = this.#registry.newest(name);
    return this.#handle(plan, await this.#engine.startRun(plan, input, keyOption(options?.key)));
  }

  /** A handle on a run known by id, typed by the machine it belongs to. */
  run<O>(machine: Machine<never, O>, id: RunId): Run<O> {
    return this.#handle<O>(this.#registered(machine), id);
  }

  /** A handle on a run of whatever machine; an unknown id is an error. */
  runById(id: string): Run {
    const row = isRunId(id) ? this.#journal.find(id) : undefined;
    if (!row) throw new RunNotFoundError(id);
    return this.#handle(this.#registry.find(row.machine, row.version), row.id);
  }

  /** Runs, newest first. */
  runs(filter: RunFilter): RunSummary[] {
    return this.#inspector.list(filter);
  }

  describe(id: string): RunSummary {
    return this.#inspector.describe(id);
  }

  /** The run's records after `afterSeq`, each verified against the one before it. */
  events(id: string, afterSeq = -1): StoredRecord[] {
    return this.#inspector.events(id, afterSeq);
  }

  /** What can be started here. */
  get machines(): MachineInfo[] {
    return this.#registry.all().map(({ name, version, fingerprint, chart }) => {
      return { name, version, fingerprint, transitions: chart.transitions };
    });
  }

  get status(): FleetStatus {
    const { id, boot, stalledBy, alarms } = this.#journal;
    return {
      journal: id,
      boot,
      dataDir: this.dataDir,
      ...this.#engine.load,
      stalledBy: stalledBy?.message,
      alarms: alarms.map((alarm) => alarm.message),
      machines: this.#registry.all().map(routeOf),
    };
  }

  /** Stops at phase boundaries and closes the journal; unfinished runs go on in the next process. */
  drain(options: { readonly budget?: Duration | undefined } = {}): Promise<DrainReport> {
    const budgetMs = durationOption('budget', options.budget ?? DEFAULTS.drainBudget);
    this.#pruner.stop();
    this.#drained ??= this.#engine.drain(budgetMs).then(async (report) => {
      await this.#server?.stop();
      return report;
    });
    return this.#drained;
  }

  /** Closes the journal at once; for a process that must end now. */
  stopNow(): void {
    this.#pruner.stop();
    this.#engine.stopNow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  #registered(machine: Machine<never, unknown>): Plan {
    const plan = planOf(machine);
    if (!plan)
      throw new RegistryError(`a machine must come from defineMachine, got ${show(machine)}`);
    if (this.#registry.find(plan.name, plan.version) === plan) return plan;
    throw new RegistryError(`the machine ${routeOf(plan)} is not registered here`, {
      hint: 'name it in createFleet({ machines: […] })',
    });
  }

  #handle<O>(plan: Plan | undefined, id: RunId): Run<O> {
    return {
      id,
      result: (options) => this.#result(plan, id, options) as Promise<O>,
      cancel: (reason = 'cancelled by request') =>
        this.#engine.cancel(id, String(reason).slice(0, 1_000)),
    };
  }

  async #result(
    plan: Plan | undefined,
    id: RunId,
    { timeout, signal }: WaitOptions = {},
  ): Promise<unknown> {
    const timeoutMs = timeout === undefined ? undefined : durationOption('timeout', timeout);
    const until = untilOf(this.#clock, id, { timeoutMs, signal });
    try {
      return await resultOf(plan, id, await this.#engine.ending(id, until.signal));
    } finally {
      until.forget();
    }
  }
}

/** Opens the journal, takes up what was left unfinished, and is ready to start runs. */
export function createFleet(options: FleetOptions): Promise<Fleet> {
  return Fleet.open(options);
}

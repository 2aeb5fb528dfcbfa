/** What a fleet is opened with, and what it is made of. */
import type { ListenOptions } from './admin/index.ts';
import { DEFAULTS } from './config/defaults.ts';
import { countOption, durationOption } from './config/options.ts';
import { type Around, Caretaker, Engine, type EngineOptions, Inspector } from './engine/index.ts';
import type { ChangedMachines, Member, ScheduleDefinition } from './fleet/index.ts';
import { refuseOddListen, refuseUnknownFleetOptions } from './fleet-option-names.ts';
import {
  type Clock,
  type Duration,
  type Random,
  show,
  systemClock,
  systemRandom,
} from './ground/index.ts';
import type { Joining } from './join.ts';
import { type Codec, SqliteJournal } from './journal/index.ts';
import { isChore, type Machine, Registry, rehearse } from './machine/index.ts';
import type { Store } from './store/index.ts';
import { tell } from './telemetry/events.ts';
import type { Tracing } from './telemetry/tracing.ts';
import { type ThrottleDefinition, Throttles } from './throttle/index.ts';
import { aroundOf, type FleetTracing, tracingFor } from './tracing.ts';

export interface FleetOptions {
  readonly machines: readonly Machine[];
  /** Where the journal lives; './.fleetq' by default. One process holds it at a time. */
  readonly dataDir?: string | undefined;
  /** What is to run again and again, from `defineSchedule`: declared when the pod joins its fleet. */
  readonly schedules?: readonly ScheduleDefinition[] | undefined;
  /**
   * What pods share: 'postgres://…', 'sqlite:./fleet.db', or a store that was opened. Without one
   * there is no fleet, and runs are started here and stay here.
   */
  readonly store?: string | Store | undefined;
  /** Makes the store's tables, or brings them up to date; else `fleetq migrate up` does. */
  readonly migrates?: boolean | undefined;
  /** The way to the store goes through a pooler in transaction mode. */
  readonly isPooled?: boolean | undefined;
  /** A direct way to the same Postgres, for hints alone; without it a pooled pod finds tasks by looking. */
  readonly listenUrl?: string | undefined;
  /** A replica of the store, for what people ask of the HTTP API; claims and sweeps never read it. */
  readonly readStore?: string | undefined;
  readonly claimMode?: 'skip-locked' | 'cas' | undefined;
  /** Connections that calls to the store have at a time; its heart and its ear have one each besides. */
  readonly poolSize?: number | undefined;
  /**
   * What happens where the fleet knows another definition under the name and version of a machine:
   * 'refuse', the default, is an error; 'warn' goes on, for a machine that is being developed.
   */
  readonly changedMachines?: ChangedMachines | undefined;
  /** For people; the host's name by default. */
  readonly podName?: string | undefined;
  readonly heartbeat?: Duration | undefined;
  /** A pod that was silent for so long is taken for dead. */
  readonly silence?: Duration | undefined;
  /** How often records of runs in hand go to the store. */
  readonly archive?: Duration | undefined;
  /** Enqueues, asks and cancels, but claims nothing: for producers and tools. */
  readonly isClient?: boolean | undefined;
  /**
   * The files that export `machines`. With them, tasks whose owners have died twice get a process of
   * their own; without them this pod leaves such tasks to others.
   */
  readonly modules?: readonly string[] | undefined;
  /** Claims only tasks whose owners have died twice: for a process of their own. */
  readonly isSuspectsOnly?: boolean | undefined;
  /** How many runs are executed at once; 64 by default. */
  readonly slots?: number | undefined;
  /** How long ended runs keep their events, and keys their meaning; '7d' by default. */
  readonly retention?: Duration | undefined;
  /** How long the audit log keeps what people did, at least `retention`; for ever by default. */
  readonly auditRetention?: Duration | undefined;
  /** The largest JSON, in bytes, that a phase may return; 1 MiB by default. */
  readonly resultBytesMax?: number | undefined;
  /** How many unfinished runs may be in memory; 200,000 by default. */
  readonly activeRunsMax?: number | undefined;
  /** So many calls of each API at once, in each process by itself, and no more is tried. */
  readonly apis?: Readonly<Record<string, number>> | undefined;
  /** How calls of APIs are limited, from `defineThrottle`; one that is not named has the defaults. */
  readonly throttles?: readonly ThrottleDefinition[] | undefined;
  /** Wraps the call of every phase. */
  readonly around?: Around | undefined;
  /**
   * Every run as a trace: what `startTracing` of 'fleetq/otel' gives. Where nothing is said the
   * environment decides, by FLEETQ_OTEL or the standard variables; with `false` there are no traces.
   */
  readonly tracing?: Tracing | false | undefined;
  /** What payloads, results and errors pass through before they touch a disk or the store. */
  readonly codec?: Codec | undefined;
  /** Tasks whose payload nobody has sealed are dead letters; without it they are taken as they are. */
  readonly isSealedOnly?: boolean | undefined;
  /** Takes runs in and cancels them, and leaves executing them to the next process. */
  readonly isIdle?: boolean | undefined;
  /**
   * Whether the command line can reach this process, on a socket in the data directory. Unless
   * `isIdle` that is tried by default; with `true` it is an error where it cannot be.
   */
  readonly socket?: boolean | undefined;
  /**
   * An address to answer HTTP on, as the socket does: without tokens on loopback alone. Wants a socket
   * to be tried, too.
   */
  readonly listen?: ListenOptions | undefined;
  /** Names of properties that nobody is shown, wherever runs are looked at. */
  readonly redact?: readonly string[] | undefined;
  /**
   * Where another process holds the data directory: it is asked to drain, and may take so long to let
   * go, while this one is ready. Without it such a directory is refused.
   */
  readonly handover?: Duration | undefined;
  /** Called when somebody asks this process to drain: through the store, or on its socket. */
  readonly onDrainWanted?: (() => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

/** What a fleet stands on, opened and not yet started. */
export interface Parts {
  readonly throttles: Throttles;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly retentionMs: number;
  readonly resultBytesMax: number;
  readonly registry: Registry;
  readonly journal: SqliteJournal;
  readonly engine: Engine;
  readonly inspector: Inspector;
  readonly caretaker: Caretaker;
  readonly member: Member | undefined;
  readonly tracing: FleetTracing | undefined;
}

/** What does not depend on whether there is a store. */
export interface Base {
  readonly throttles: Throttles;
  readonly clock: Clock;
  readonly random: Random;
  readonly dataDir: string;
  readonly slots: number;
  readonly resultBytesMax: number;
  readonly activeRunsMax: number;
  readonly retentionMs: number;
  /** Undefined: for ever. */
  readonly auditMs: number | undefined;
}

export async function assemble(
  options: FleetOptions,
  ports: { readonly beforeClose: () => void; readonly onDrainWanted: () => void },
): Promise<Parts> {
  refuseUnknownFleetOptions(options);
  refuseOddListen(options.listen);
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const sizes = sizesOf(options);
  // Everything that can be wrong without looking at a disk or a database is found first.
  new Registry(options.machines);
  const dataDir = options.dataDir ?? DEFAULTS.dataDir;
  const isInFleet = options.store !== undefined && !options.isClient;
  const throttles = new Throttles({ ...options, isInFleet, clock, random });
  const base = { throttles, clock, random, dataDir, ...sizes };
  const tracing = await tracingFor(options);
  // A process without a store does not load what only a fleet needs.
  let joining: Joining | undefined;
  let opened: ReturnType<typeof openEngine> | undefined;
  try {
    if (options.store) joining = await (await import('./join.ts')).prepare(options, base);
    const registry = new Registry([...options.machines, ...(joining ? joining.machines : [])]);
    let member: Member | undefined;
    const open = () =>
      openEngine(options, base, registry, {
        around: aroundOf(options.around, tracing),
        beforeClose: ports.beforeClose,
        shadow: (run) => (options.isClient ? undefined : member?.shadow(run)),
      });
    opened =
      options.handover === undefined
        ? open()
        : await takeOver(options.handover, base, registry, joining, open);
    const { journal, engine } = opened;
    member = joining ? joining.join({ engine, journal, registry }, ports) : undefined;
    return {
      ...base,
      registry,
      journal,
      engine,
      inspector: new Inspector(journal, clock, engine),
      caretaker: new Caretaker(journal, clock, sizes.retentionMs, engine, joining !== undefined),
      member,
      tracing,
    };
  } catch (error) {
    opened?.engine.stopNow();
    await Promise.all([joining?.abandon(), tracing?.end()]);
    throw error;
  }
}

/** All that can be done before is done before, also what may be refused: the other goes on then. */
async function takeOver<T>(
  handover: Duration,
  base: Base,
  registry: Registry,
  joining: Joining | undefined,
  open: () => T,
): Promise<T> {
  const patienceMs = durationOption('handover', handover);
  const { openInTurn } = await import('./handover.ts');
  await Promise.all([joining?.warmUp(registry), import('./admin/index.ts')]);
  for (const { chart } of registry.all()) rehearse(chart);
  return openInTurn({ ...base, patienceMs }, open);
}

function sizesOf(options: FleetOptions): Omit<Base, 'clock' | 'random' | 'dataDir' | 'throttles'> {
  const {
    slots = DEFAULTS.slots,
    resultBytesMax = DEFAULTS.resultBytesMax,
    activeRunsMax = DEFAULTS.activeRunsMax,
    retention = DEFAULTS.retention,
  } = options;
  for (const [api, count] of Object.entries(options.apis ?? {}))
    countOption(`apis.${api}`, count, 1_000_000);
  return {
    slots: countOption('slots', slots, 100_000),
    resultBytesMax: countOption('resultBytesMax', resultBytesMax, 64 * 1024 * 1024),
    activeRunsMax: countOption('activeRunsMax', activeRunsMax, 10_000_000),
    retentionMs: durationOption('retention', retention),
    auditMs: auditMsOf(options.auditRetention, durationOption('retention', retention)),
  };
}

/** A request id is known by its row: whatever it was sent for must not be done again meanwhile. */
function auditMsOf(given: Duration | undefined, retentionMs: number): number | undefined {
  if (given === undefined) return undefined;
  const auditMs = durationOption('auditRetention', given);
  if (auditMs >= retentionMs) return auditMs;
  throw new TypeError(
    `auditRetention must be as long as retention (${retentionMs} ms) or longer, got ${show(given)}`,
  );
}

function openEngine(
  options: FleetOptions,
  of: Base,
  registry: Registry,
  ports: Pick<EngineOptions, 'around' | 'beforeClose' | 'shadow'>,
): { journal: SqliteJournal; engine: Engine } {
  const { clock, random } = of;
  const journal = SqliteJournal.open(of.dataDir, {
    clock,
    random,
    codec: options.codec,
    copies: options.store ? 'aside' : 'own',
    onStall: (error) =>
      tell('journal.stalled', () => ({ error: { name: error.name, message: error.message } })),
    onRecover: () => tell('journal.recovered', () => ({})),
    onCommit: (commit) => tell('journal.committed', () => commit),
  });
  const engine = new Engine({
    journal,
    registry,
    clock,
    random,
    slots: options.isIdle ? 0 : of.slots,
    isUrgent: isChore,
    resultBytesMax: of.resultBytesMax,
    activeRunsMax: of.activeRunsMax,
    retentionMs: of.retentionMs,
    throttles: of.throttles,
    ...ports,
  });
  return { journal, engine };
}

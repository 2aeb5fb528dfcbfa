/** Everything of the fleet in one process, put together: a store, a pod, its leader's duties, tasks. */
import {
  DrainingError,
  type Engine,
  type LiveRun,
  RunNotFoundError,
  type Shadow,
} from '../engine/index.ts';
import {
  assertNever,
  atMost,
  type Clock,
  type Json,
  type MintRunId,
  type Pressure,
  type Random,
  type RunId,
  runIdMint,
} from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { Chore, Registry } from '../machine/index.ts';
import { type JournalSeen, type Store, WHO_CHARS_MAX } from '../store/index.ts';
import type { Throttles } from '../throttle/index.ts';
import type { ChangedMachines } from './announce.ts';
import { type CensusSample, CensusWatch } from './census-watch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { MakeHeart } from './heart.ts';
import { isLeading, Leader } from './leader.ts';
import { Mirror } from './mirror.ts';
import type { PodLimits, PodTimes } from './options.ts';
import { Pod, type PodStatus } from './pod.ts';
import type { Recovery } from './recovery.ts';
import { Results } from './results.ts';
import { Routes } from './routes.ts';
import type { ScheduleDefinition } from './schedule/definition.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { type SuspectProcess, Suspects } from './suspects.ts';
import { Tasks } from './tasks.ts';

export interface MemberPorts {
  readonly store: Store;
  readonly engine: Engine;
  readonly journal: Journal;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly makeHeart: MakeHeart;
  readonly pressure: () => Pressure;
  readonly deadLetters: DeadLetters;
  readonly recovery: Recovery;
  readonly retentionMs: number;
  readonly name: string;
  readonly version: string;
  readonly times: PodTimes;
  readonly limits: PodLimits;
  readonly changedMachines: ChangedMachines;
  readonly isWarm?: (() => boolean) | undefined;
  readonly throttles?: Throttles | undefined;
  /** A process of its own for suspects: it claims nothing else. */
  readonly isSuspectsOnly: boolean;
  readonly beginSuspects: (() => SuspectProcess) | undefined;
  readonly onDrainWanted: () => void;
  /** Those of the program; undefined: schedules are left to other pods. */
  readonly schedules?: readonly ScheduleDefinition[] | undefined;
  /** How long the key of a tick outlives its run. */
  readonly keyMs?: number | undefined;
}

export interface MemberStatus extends PodStatus {
  /** Tasks of the fleet that no pod which is up can go on with; told by the pod that leads. */
  readonly blocked: number | undefined;
  /** What there is in the fleet; told by the pod that leads. */
  readonly census: CensusSample | undefined;
  readonly isLeader: boolean;
}

/** So far back a server that took over may have lost the runs that ended here. */
const REWIND_RECORDS_MAX = 20_000;
const RECONCILE_MS = 30_000;
const RETENTION_MS = 600_000;
const CENSUS_EVERY_MS = 15_000;
/** Later than three turns of its chore, retention is behind. */
const RETENTION_LATE_MS = 3 * RETENTION_MS;

export class Member {
  readonly store: Store;
  readonly pod: Pod;
  readonly tasks: Tasks;
  /** When the store has been let go of, after a drain. */
  closed: Promise<void> | undefined;
  readonly #leader: Leader;
  readonly #results: Results;
  readonly #journal: Journal;
  readonly #deadLetters: DeadLetters;
  readonly #clock: Clock;
  readonly #suspects: Suspects;
  readonly #mirror: Mirror;
  readonly #census: CensusWatch;
  readonly #scheduler: Scheduler | undefined;

  constructor(ports: MemberPorts) {
    const { store, registry, clock, random, limits } = ports;
    this.store = store;
    this.#journal = ports.journal;
    this.#deadLetters = ports.deadLetters;
    this.#clock = clock;
    this.#results = new Results({ store, clock, random });
    this.#leader = new Leader({
      clock,
      begin: (pod, term) => store.beginTerm(pod, term),
      run: (chore, pod) => runChore(ports, chore, pod),
      hasWork: (chore) => hasWork(ports.recovery, chore),
      reconcileMs: RECONCILE_MS,
      retentionMs: RETENTION_MS,
    });
    const routes = new Routes({ store, registry });
    this.#suspects = new Suspects({
      store,
      clock,
      routes: routes.own,
      self: () => this.pod.life?.id,
      begin: ports.beginSuspects,
    });
    this.#mirror = new Mirror({ ...ports, life: () => this.pod.life });
    const { silentMs } = ports.times;
    const { retentionMs } = ports;
    const everyMs = CENSUS_EVERY_MS;
    this.#census = new CensusWatch({ store, clock, everyMs, silentMs, retentionMs });
    this.pod = new Pod(
      {
        ...ports,
        routes,
        adoptLocal: (tasks) => this.#mirror.adopt(tasks),
        enqueued: () => this.tasks.recent(),
        reshow: (runs) => this.#reshow(runs),
        news: () => this.#news(),
      },
      {
        onDrainWanted: ports.onDrainWanted,
        onBeat: (life) => {
          // Also one for suspects: the oldest pod is everybody's leader, and somebody has to sweep.
          this.#leader.look(life);
          this.#census.look(life);
          if (!ports.isSuspectsOnly) this.#suspects.look();
          if (life.isReady && !life.isDraining) this.#scheduler?.look();
        },
        onEnded: () => this.#results.hint(),
        onDied: () => this.#mirror.forgetClaims(),
        onJoined: (seen) => this.#recall(seen),
      },
    );
    const mint = runIdMint(clock, random);
    this.#scheduler = schedulerOf(ports, mint, () => this.pod.hint());
    this.tasks = new Tasks({
      store,
      clock,
      results: this.#results,
      mint,
      mintRequest: mint,
      who: ports.name.slice(0, WHO_CHARS_MAX),
      via: 'library',
      payloadBytesMax: limits.payloadBytesMax,
      onEnqueued: () => this.pod.hint(),
    });
  }

  /** Whoever shows this local run to the fleet. */
  shadow(run: LiveRun): Shadow | undefined {
    this.pod.wake();
    return this.#mirror.shadow(run);
  }

  /** What the leader alone knows, for its heartbeat. */
  #news(): { readonly [key: string]: Json } {
    const lateMs = this.#census.sample(this.pod.life)?.retentionLateMs ?? 0;
    return lateMs > RETENTION_LATE_MS ? { retentionLateMs: Math.round(lateMs) } : {};
  }

  get status(): MemberStatus {
    const { life } = this.pod;
    const census = this.#census.sample(life);
    const isLeader = life !== undefined && isLeading(life);
    return { ...this.pod.status, census, blocked: census?.blocked, isLeader };
  }

  /** What ended before this journal had a store is nothing that the fleet has missed. */
  #recall({ boot, lsn }: JournalSeen): void {
    if (boot > 0) this.#mirror.recall(lsn);
  }

  #reshow(runs: readonly RunId[]): void {
    this.#mirror.reshow(runs);
    this.#mirror.recall(this.#journal.lsn - REWIND_RECORDS_MAX);
  }

  start(): Promise<void> {
    return this.pod.start();
  }

  async drain(budgetMs: number, quiesce: (budgetMs: number) => Promise<void>): Promise<void> {
    this.#leader.stop();
    this.#scheduler?.stop();
    this.#suspects.stop();
    this.#mirror.stop();
    const endMs = this.#clock.monotonicMs() + budgetMs;
    await this.pod.drain(budgetMs, quiesce);
    // Whoever waits for the store to have a task is answered, as long as there is time.
    const leftMs = Math.max(0, endMs - this.#clock.monotonicMs());
    await atMost(this.#clock, leftMs, this.tasks.idle());
    const error = new DrainingError();
    this.tasks.stop(error);
    this.#results.stop(error);
    this.#deadLetters.close();
    // The journal need not wait for that: somebody else may.
    this.closed = this.store.close();
    this.closed.catch(() => undefined);
  }

  abandon(): void {
    this.#leader.stop();
    this.#scheduler?.stop();
    this.#suspects.stop();
    this.#mirror.stop();
    this.pod.abandon();
    this.#deadLetters.close();
    this.tasks.stop(new Error('this process has stopped'));
    this.store.close().catch(() => undefined);
  }
}

function schedulerOf(
  { store, registry, clock, name, schedules, keyMs = 0, isSuspectsOnly }: MemberPorts,
  mint: MintRunId,
  onEnqueued: () => void,
): Scheduler | undefined {
  if (!schedules || isSuspectsOnly) return undefined;
  const who = name.slice(0, WHO_CHARS_MAX);
  const of = { store, registry, clock, mint, keyMs, who, onEnqueued };
  return new Scheduler({ ...of, definitions: schedules });
}

async function hasWork(recovery: Recovery, chore: Chore): Promise<boolean> {
  switch (chore) {
    case 'recovery/sweep':
      return (await recovery.worklist()).pods.length > 0;
    case 'recovery/reconcile':
      // This host's copy is a projection: to bring it up to date is nothing that others have to see.
      await recovery.refreshDeadLetters();
      return recovery.hasHopeless();
    case 'recovery/retention':
      return recovery.hasOld();
    default:
      return assertNever(chore);
  }
}

async function runChore(
  { engine, registry }: MemberPorts,
  chore: Chore,
  pod: string,
): Promise<boolean> {
  const plan = registry.newest(chore);
  const id = await engine.startRun(plan, { pod });
  try {
    const { output } = await engine.ending(id);
    return typeof output === 'object' && output !== null && 'isMore' in output && !!output.isMore;
  } catch (error) {
    if (!(error instanceof RunNotFoundError)) throw error;
    return false;
  }
}

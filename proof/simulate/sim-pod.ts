/**
 * A pod of the simulation: the engine, the journal's port and a member of the fleet, put together as a
 * process does it, on a disk and behind a link. A restart is another process on the same disk.
 */
import { recoveryMachines } from '../../machines/recovery/index.ts';
import { Caretaker, Engine } from '../../src/engine/index.ts';
import {
  inlineHeart,
  type MakeHeart,
  Member,
  type PodTimes,
  type Recovery,
  recoveryOf,
  SqliteDeadLetters,
} from '../../src/fleet/index.ts';
import { isChore, type Machine, Registry } from '../../src/machine/index.ts';
import type { Beat, BeatAnswer } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask } from '../../src/store/tasks.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Auditor, Told } from './auditor.ts';
import type { Disk } from './disk.ts';
import type { Deadlines, Ledger } from './ledger.ts';
import { endsAnyway } from './limited-shapes.ts';
import { Link, type Sent, storeFor } from './network.ts';
import { Process } from './process.ts';
import type { Schedule } from './schedule.ts';
import { SHAPES } from './shapes.ts';
import { SimJournal } from './sim-journal.ts';
import { type Code, machinesIn, planFor } from './versions.ts';
import type { World } from './world.ts';

/** What a drain may take beyond its budget. */
const DRAIN_LATE_MS = 1_500;
const RETENTION_MS = 7 * 86_400_000;

export interface Host {
  readonly world: World;
  readonly auditor: Auditor;
  readonly ledger: Ledger;
  readonly weather: Link;
  readonly times: PodTimes;
  readonly slots: number;
  /** The fleet is shown what its hosts do on their own. */
  readonly isMirrored?: boolean;
  /** What it can run besides the usual. */
  readonly moreShapes?: readonly Machine[];
}

export interface PodOptions {
  readonly name: string;
  readonly disk: Disk;
  readonly isSuspectsOnly: boolean;
  readonly process?: Process | undefined;
  /** Which of the machines that have versions it has; none where there are no deploys. */
  readonly code?: Code | undefined;
}

/** Defined once: each call goes to the pod whose turn it is. */
let turns: Schedule | undefined;
const shared = new Proxy({} as Recovery, {
  get: (_, name) => Reflect.get(pods.get(turns?.current ?? {})!.recovery, name) as unknown,
});
const RECOVERY_MACHINES = recoveryMachines(shared);
const pods = new WeakMap<object, SimPod>();

export class SimPod {
  readonly name: string;
  readonly process: Process;
  readonly disk: Disk;
  readonly link = new Link();
  readonly isSuspectsOnly: boolean;
  readonly journal: SimJournal;
  readonly engine: Engine;
  readonly member: Member;
  readonly recovery: Recovery;
  readonly #host: Host;
  readonly #own: readonly Machine[];
  readonly #caretaker: Caretaker;
  readonly #deadLetters: SqliteDeadLetters;
  /** By the id of each of its lives: when the last beat that was answered had been sent. */
  readonly #beats = new Map<string, Sent>();
  readonly code: Code | undefined;
  /** The program has its fleet. */
  #isOpen = false;
  isDraining = false;
  hasEnded = false;
  /** What is wrong with it lasts, and nothing else is done to it. */
  isFaulty = false;
  /** A deploy has ended it: the next process follows at once. */
  isReplaced = false;

  constructor(host: Host, { name, disk, isSuspectsOnly, process, code }: PodOptions) {
    const { world, auditor, ledger, weather, times, slots } = host;
    this.#host = host;
    this.name = name;
    this.disk = disk;
    this.code = code;
    this.isSuspectsOnly = isSuspectsOnly;
    this.process = process ?? new Process(world.schedule, name, world.seedOf());
    pods.set(this.process, this);
    auditor.disks.set(this.process, disk);
    const { clock, random } = this.process;
    this.journal = new SimJournal({
      world,
      disk,
      process: this.process,
      onDeath: (when) => {
        world.say(name, `dies inside a commit, ${when}`);
        world.count(when === 'half way' ? 'torn writes' : 'deaths in commits');
        this.#gone();
      },
      onAppend: (prepared) => {
        const run = this.engine?.liveRun(prepared.entry.run);
        ledger.appended(this.process, run, prepared);
      },
      onDurable: ({ entry }) => ledger.durable(entry),
    });
    auditor.journals.set(this.process, this.journal);
    const store = storeFor({
      world,
      auditor,
      process: this.process,
      link: this.link,
      store: weather,
      onAnswer: (told, answer, sent) => this.#heard(told, answer, sent),
    });
    this.#own = [...(host.moreShapes ?? []), ...machinesIn(code)];
    const registry = new Registry([...SHAPES, ...this.#own, ...RECOVERY_MACHINES]);
    const caller = () => ({
      process: this.process,
      engine: this.engine,
      disk,
      deadlines: () => this.#deadlines(),
    });
    this.engine = new Engine({
      journal: world.mutant?.changeJournal?.(this.journal) ?? this.journal,
      registry,
      clock,
      random,
      slots,
      isUrgent: isChore,
      resultBytesMax: 65_536,
      activeRunsMax: 10_000,
      retentionMs: RETENTION_MS,
      around: (of, call) => ledger.around(caller(), of, call),
      shadow: (run) => (host.isMirrored ? this.member.shadow(run) : undefined),
    });
    auditor.engines.set(this.process, this.engine);
    this.#caretaker = new Caretaker(this.journal, clock, RETENTION_MS, this.engine, true);
    this.#deadLetters = new SqliteDeadLetters(':memory:', store);
    const { silentMs } = times;
    const life = () => this.member.pod.life;
    const deadLetters = this.#deadLetters;
    const retentionMs = RETENTION_MS;
    this.recovery = recoveryOf({ store, clock, silentMs, retentionMs, life, deadLetters });
    this.member = new Member({
      store,
      engine: this.engine,
      journal: this.journal,
      registry,
      clock,
      random,
      makeHeart: this.#heartOf(store),
      pressure: () => ({ loop: 0, memory: 0 }),
      deadLetters,
      recovery: this.recovery,
      retentionMs,
      name,
      version: '0.0.0',
      times,
      limits: { slots, unflushedMax: 50_000, payloadBytesMax: 65_536 },
      changedMachines: 'refuse',
      isSuspectsOnly,
      // There is a pod for them, which is killed like any other.
      beginSuspects: undefined,
      onDrainWanted: () => this.drain(),
    });
  }

  #heartOf(store: Store): MakeHeart {
    const make = inlineHeart(store);
    return this.#host.world.mutant?.changeHeart?.(make) ?? make;
  }

  get lifeId(): string | undefined {
    return this.member.pod.life?.id;
  }

  /** As a process does it: the runs of its disk first, then the fleet. */
  start(): void {
    const { world } = this.#host;
    world.say(
      this.name,
      `starts, boot ${this.journal.boot} of journal ${this.disk.id.slice(0, 6)}`,
    );
    for (const { kind } of this.journal.alarms) {
      world.say(this.name, `alarm: ${kind}`);
      world.count(`alarm ${kind}`);
    }
    this.#act(async () => {
      await this.member.pod.alone();
      await this.engine.start();
      this.#isOpen = true;
      this.#caretaker.start();
      await this.member.start();
      world.say(this.name, 'has joined');
    });
  }

  /** SIGTERM. */
  drain(budgetMs = 8_000): void {
    if (this.isDraining || this.process.isDead) return;
    this.isDraining = true;
    const { world } = this.#host;
    world.say(this.name, 'drains');
    world.count('drains');
    this.#act(async () => {
      const begunMs = this.process.clock.monotonicMs();
      this.#caretaker.stop();
      await this.member.drain(budgetMs, async (leftMs) => {
        await this.engine.quiesce(leftMs);
      });
      const spentMs = this.process.clock.monotonicMs() - begunMs;
      await this.engine.drain(Math.max(0, budgetMs - spentMs));
      const ownMs = this.process.clock.monotonicMs() - begunMs - this.process.pausedMs;
      if (ownMs > budgetMs + DRAIN_LATE_MS) {
        world.violate('I39', `${this.name} took ${ownMs.toFixed(0)} ms to drain`);
      }
      world.say(this.name, 'has drained');
      this.process.kill();
      this.#gone();
    });
  }

  /** SIGKILL. */
  kill(): void {
    if (this.process.isDead) return;
    this.process.kill();
    this.#host.world.say(this.name, 'is killed');
    this.#host.world.count('kills');
    this.#gone();
  }

  #gone(): void {
    this.disk.isHeld = false;
    this.hasEnded = true;
    this.#deadLetters.close();
  }

  /** A start that fails is tried again by whoever looks after the process. */
  #act(act: () => Promise<void>): void {
    const { world } = this.#host;
    world.schedule.at(
      world.nowMs,
      () => {
        act().catch((error: unknown) => {
          world.say(this.name, `ends by ${(error as Error).message}`);
          if ((error as { code?: string }).code?.startsWith('FLEETQ_') !== true) {
            world.violate('defect', `${this.name}: ${(error as Error).stack ?? String(error)}`);
          }
          this.kill();
        });
      },
      this.process,
    );
  }

  #heard({ verb, given }: Told, answer: unknown, sent: Sent): void {
    if (verb === 'register') this.process.stoppedAt = undefined;
    if (verb === 'claim') {
      this.#host.ledger.versions.claimed(this.name, this.code, answer as ClaimedTask[]);
    }
    if (verb !== 'beat' || (answer as BeatAnswer).kind !== 'taken') return;
    this.#host.ledger.cancels.heard(answer as BeatAnswer, (task) => this.engine.liveRun(task));
    this.#beats.set((given[0] as Beat).pod, sent);
  }

  #deadlines(): Deadlines {
    const { heartbeatMs, silentMs } = this.#host.times;
    const sent = this.#beats.get(this.member.pod.life?.id ?? '');
    const never = Number.NEGATIVE_INFINITY;
    return {
      ownMs: (sent?.ownMs ?? never) + silentMs - heartbeatMs,
      sweptMs: (sent?.ms ?? never) + silentMs,
    };
  }

  /** A run that belongs to this host alone, and that the fleet is shown. */
  startLocal(n: number, pace = 2 + below(this.process.random, 250)): void {
    const { world } = this.#host;
    if (this.process.isDead || this.isDraining || !this.#isOpen) return;
    const { name, version } = world.pick([...SHAPES, ...this.#own.filter(endsAnyway)]);
    const plan = planFor(name, version);
    this.#atOnce(async () => {
      const id = await this.engine.startRun(plan, { n, pace });
      world.say(this.name, `starts ${plan.name} ${n} of its own as ${id.slice(-6)}`);
      world.count('local runs');
    });
  }

  /** Whatever comes of it: a start may be refused. */
  #atOnce(act: () => Promise<void>): void {
    const { world } = this.#host;
    world.schedule.at(world.nowMs, () => void act().catch(() => undefined), this.process);
  }
}

/** Machines are defined once, and simulations come one after the other. */
export function followTurns(schedule: Schedule): void {
  turns = schedule;
}

/**
 * What goes wrong, how often, and when: spread by a seed over the time of the run. Up to three faults
 * of processes, disks, the store and the ways to it are at work at once, on one pod or on several;
 * wrong clocks, lost answers, poison and people lie over them. Only what really happened is counted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import type { ChaosStore } from './cluster-store.ts';
import { ClockFaults } from './faults-clock.ts';
import { CloneFaults } from './faults-clones.ts';
import { DeployFaults } from './faults-deploys.ts';
import { DiskFaults } from './faults-disk.ts';
import { JoinFaults } from './faults-join.ts';
import { NetworkFaults } from './faults-network.ts';
import { PodFaults } from './faults-pod.ts';
import { SlotFaults } from './faults-slots.ts';
import { StoreFaults } from './faults-store.ts';
import type { PodHouse } from './pod-house.ts';
import type { Poisoner } from './poisoner.ts';
import type { StoreProxy } from './proxy.ts';
import type { Doses, Fault } from './sizes.ts';
import type { StoreClock } from './store-clock.ts';
import type { Storm } from './storm.ts';

export interface FaultPorts {
  readonly houses: readonly PodHouse[];
  /** With those that no other fault is aimed at. */
  readonly allHouses: readonly PodHouse[];
  /** The ways of producers and people to the store: their answers are lost too. */
  readonly ownProxies: readonly StoreProxy[];
  readonly postgres: ChaosStore;
  readonly random: Random;
  readonly doses: Doses;
  readonly seconds: number;
  readonly storeClock: StoreClock;
  readonly url: string;
  readonly poisoner: Poisoner;
  readonly storm: Storm;
  readonly clone: (house: PodHouse) => Promise<PodHouse>;
}

/** Whether it happened; it is tried again where it did not. */
export type Act = () => Promise<boolean>;

const LOOK_MS = 50;
const AT_ONCE_MAX = 3;
/** A slow machine may take so many times the time for the same doses. */
const PATIENCE = 8;
const STEADY_SHARE = 1 / 3;
/** These wait for nobody: they do not take a pod away, or not for long. */
const OVERLYING: readonly Fault[] = [
  'deploys',
  'inDoubt',
  'clockJumps',
  'storeClockJumps',
  'spins',
  'heapDeaths',
  'aborts',
  'exits',
  'adminCalls',
];
/**
 * Faults of one pod that last, and how long they take. They come beside those that do not, for one or two of
 * them would leave no room for any other; and so early that they are over when those are.
 */
const LASTING: Partial<Readonly<Record<Fault, number>>> = {
  longFullDisks: 20_000,
  damagedJournals: 10_000,
  fullSlots: 12_000,
  refusedRegistrations: 10_000,
  clonedVolumes: 10_000,
};
const LASTING_AT_ONCE_MAX = 2;
/** Of the time, in milliseconds a second. */
const LASTING_SHARE_MAX = 500;
/** Given by others in their own time, and counted by them. */
const ELSEWHERE: readonly Fault[] = ['adminCalls'];

export class Faults {
  readonly #ports: FaultPorts;
  readonly #acts: Readonly<Record<Fault, Act>>;
  readonly pods: PodFaults;
  readonly store: StoreFaults;
  readonly network: NetworkFaults;
  readonly #given = new Map<Fault, number>();
  readonly #joins: JoinFaults;
  readonly #clones: CloneFaults;
  #atWork = 0;
  #lasting = 0;
  atOnceMax = 0;
  #isOver = false;

  constructor(ports: FaultPorts) {
    this.#ports = ports;
    const { poisoner } = ports;
    const isOver = () => this.#isOver;
    this.pods = new PodFaults({ ...ports, isOver });
    this.store = new StoreFaults(ports);
    this.network = new NetworkFaults({ ...ports, isOver });
    const deploys = new DeployFaults({ houses: ports.allHouses, isOver });
    const slots = new SlotFaults({ ...ports, isOver });
    this.#joins = new JoinFaults({ ...ports, isOver });
    this.#clones = new CloneFaults({ ...ports, isOver });
    const disks = new DiskFaults({ ...ports, isOver });
    const clocks = new ClockFaults({ ...ports, isOver });
    this.#acts = {
      kills: () => this.pods.kill(),
      massKills: () => this.pods.killAll(),
      pauses: () => this.pods.pause(),
      drains: () => this.pods.drain(),
      deploys: () => deploys.roll(),
      roughDrains: () => this.pods.drainRoughly(),
      storeCrashes: () => this.store.crash(),
      failovers: () => this.store.failOver(),
      cutOffs: () => this.network.cutOff(),
      networkSwitches: () => this.network.turn(),
      inDoubt: () => this.network.dropAnswer(),
      fullDisks: () => disks.fill(),
      longFullDisks: () => disks.fillLong(),
      damagedJournals: () => disks.damage(),
      fullSlots: () => slots.hold(),
      refusedRegistrations: () => this.#joins.refuse(),
      clonedVolumes: () => this.#clones.start(),
      clockJumps: () => clocks.jump(),
      storeClockJumps: () => ports.storeClock.set(ports.url),
      spins: () => poisoner.poison('spin', isOver),
      heapDeaths: () => poisoner.poison('heap', isOver),
      aborts: () => poisoner.poison('abort', isOver),
      exits: () => poisoner.poison('exit', isOver),
      adminCalls: async () => true,
    };
  }

  /** How often each of them has happened. */
  get counts(): Record<Fault, number> {
    const { poisoner, storm } = this.#ports;
    const given = (fault: Fault) => this.#given.get(fault) ?? 0;
    const counts = Object.keys(this.#acts).map((fault) => [fault, given(fault as Fault)]);
    return {
      ...(Object.fromEntries(counts) as Record<Fault, number>),
      // Of these it counts that they took effect, and not that they were asked for.
      spins: poisoner.took('spin'),
      heapDeaths: poisoner.took('heap'),
      aborts: poisoner.took('abort'),
      exits: poisoner.took('exit'),
      adminCalls: storm.answered,
    };
  }

  /** In words: what pods did amid their own faults that they may not. */
  get wrongs(): string[] {
    return [...this.#joins.wrongs, ...this.#clones.wrongs];
  }

  /** Resolves when every dose was given, or there is no more time for it. */
  async rage(): Promise<void> {
    const { seconds, doses, storm } = this.#ports;
    const over = setTimeout(
      () => {
        this.#isOver = true;
      },
      seconds * 1_000 * PATIENCE,
    );
    const own = (Object.keys(doses) as Fault[]).filter((fault) => !ELSEWHERE.includes(fault));
    const giving = Promise.all([
      ...own.map((fault) => this.#spread(fault, doses[fault])),
      storm.rage(doses.adminCalls, seconds, () => this.#isOver),
    ]);
    await giving.finally(() => clearTimeout(over));
  }

  /** One kind of fault, evenly spread with jitter; one that did not come about is tried again. */
  async #spread(fault: Fault, dose: number): Promise<void> {
    const { random, seconds } = this.#ports;
    const begunMs = performance.now();
    const lastsMs = Math.min(LASTING[fault] ?? 0, seconds * LASTING_SHARE_MAX);
    const everyMs = (seconds * 1_000 * 0.92 - lastsMs) / dose;
    const once = async (atMs: number) => {
      await sleep(atMs);
      while (!this.#isOver && !(await this.#give(fault))) await sleep(LOOK_MS);
    };
    const places = Array.from(
      { length: dose },
      (_, index) => index + 0.1 + 0.8 * random.fraction(),
    );
    await Promise.all(places.map((place) => once(begunMs + place * everyMs - performance.now())));
  }

  /** Some of the pods work: a slow machine would else see nothing but processes that start. */
  get #canBreathe(): boolean {
    const { houses } = this.#ports;
    return houses.filter(({ isSteady }) => isSteady).length >= houses.length * STEADY_SHARE;
  }

  async #give(fault: Fault): Promise<boolean> {
    if (LASTING[fault] !== undefined) return this.#giveLasting(fault);
    const isCounted = !OVERLYING.includes(fault);
    if (isCounted && (this.#atWork >= AT_ONCE_MAX || !this.#canBreathe)) return false;
    if (isCounted) this.#atWork += 1;
    this.atOnceMax = Math.max(this.atOnceMax, this.#atWork);
    try {
      return await this.#act(fault);
    } finally {
      if (isCounted) this.#atWork -= 1;
    }
  }

  async #giveLasting(fault: Fault): Promise<boolean> {
    const isFull = this.#lasting >= LASTING_AT_ONCE_MAX || this.pods.isAllWanted;
    if (isFull || !this.#canBreathe) return false;
    this.#lasting += 1;
    try {
      return await this.#act(fault);
    } finally {
      this.#lasting -= 1;
    }
  }

  async #act(fault: Fault): Promise<boolean> {
    const hasHappened = await this.#acts[fault]();
    if (hasHappened) this.#given.set(fault, (this.#given.get(fault) ?? 0) + 1);
    return hasHappened;
  }
}

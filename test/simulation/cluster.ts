/**
 * The pods of a simulation and whoever looks after them: a process that has ended is started again
 * after a while, on its disk or on an empty one. At the end everything is healed.
 */
import type { PodTimes } from '../../src/fleet/index.ts';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../support/seeded-random.ts';
import type { Auditor } from './auditor.ts';
import { Disk } from './disk.ts';
import { chooseFault } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { Link } from './network.ts';
import { BEGIN_MS, Process } from './process.ts';
import { SimPod } from './sim-pod.ts';
import type { World } from './world.ts';

const WATCH_MS = 250;
const FULL_LOSS = 0.35;

export interface ClusterOptions {
  readonly podCount: number;
  readonly slots: number;
  readonly times: PodTimes;
}

interface Seat {
  readonly name: string;
  readonly isSuspectsOnly: boolean;
  pod: SimPod;
  /** When whoever looks after it starts it again. */
  restartMs: number | undefined;
}

export class Cluster {
  readonly weather = new Link();
  readonly #world: World;
  readonly #auditor: Auditor;
  readonly #ledger: Ledger;
  readonly #options: ClusterOptions;
  readonly #seats: Seat[] = [];
  readonly #clones: SimPod[] = [];
  readonly #pending = new Set<() => void>();
  #isHealed = false;

  constructor(world: World, auditor: Auditor, ledger: Ledger, options: ClusterOptions) {
    this.#world = world;
    this.#auditor = auditor;
    this.#ledger = ledger;
    this.#options = options;
    for (let index = 0; index < options.podCount; index++) {
      this.#seat(`pod-${index + 1}`, false);
    }
    this.#seat('suspects', true);
    this.#watch();
  }

  #seat(name: string, isSuspectsOnly: boolean): void {
    const pod = this.#start(name, isSuspectsOnly, this.#newDisk());
    this.#seats.push({ name, isSuspectsOnly, pod, restartMs: undefined });
  }

  #newDisk(): Disk {
    return new Disk(this.#world.fork().hex(16), BEGIN_MS + this.#world.nowMs);
  }

  #start(name: string, isSuspectsOnly: boolean, disk: Disk, process?: Process): SimPod {
    const pod = new SimPod(
      {
        world: this.#world,
        auditor: this.#auditor,
        ledger: this.#ledger,
        weather: this.weather,
        ...this.#options,
      },
      { name, disk, isSuspectsOnly, process },
    );
    pod.start();
    return pod;
  }

  alive(): SimPod[] {
    return this.#seats.map(({ pod }) => pod).filter((pod) => !pod.hasEnded);
  }

  /** Puts a fault right again, at its time or when everything is healed. */
  later(ms: number, act: () => void): void {
    const once = () => {
      if (this.#pending.delete(once)) act();
    };
    this.#pending.add(once);
    this.#world.schedule.at(this.#world.nowMs + ms, once);
  }

  /** Faults until then, at a pace of their own for each seed. */
  storm(untilMs: number): void {
    const meanMs = this.#world.within(600, 6_000);
    const next = () => {
      if (this.#world.nowMs >= untilMs || this.#isHealed) return;
      chooseFault(this.#world)(this, this.#world);
      this.#world.schedule.at(this.#world.nowMs + this.#world.within(0, 2 * meanMs), next);
    };
    this.#world.schedule.at(this.#world.nowMs + this.#world.within(0, 2 * meanMs), next);
  }

  heal(): void {
    this.#isHealed = true;
    this.#world.say('world', 'is healed');
    for (const act of [...this.#pending]) act();
    for (const pod of this.#clones) pod.kill();
    for (const seat of this.#seats) {
      if (seat.restartMs !== undefined) seat.restartMs = this.#world.nowMs;
    }
  }

  /** Starts again what has ended. */
  #watch(): void {
    const { schedule } = this.#world;
    for (const seat of this.#seats) {
      if (!seat.pod.hasEnded) continue;
      if (seat.restartMs === undefined) {
        const waitMs = this.#isHealed ? 0 : this.#world.within(0, 9_000);
        seat.restartMs = schedule.nowMs + waitMs;
      }
      if (schedule.nowMs >= seat.restartMs) this.#restart(seat);
    }
    schedule.at(schedule.nowMs + WATCH_MS, () => this.#watch());
  }

  #restart(seat: Seat): void {
    const { disk: before } = seat.pod;
    const isLost = this.#world.random.fraction() < FULL_LOSS;
    if (isLost) this.#world.count('lost disks');
    before.isFull = false;
    before.nextFate = 'fine';
    const disk = isLost ? this.#newDisk() : before;
    seat.restartMs = undefined;
    seat.pod = this.#start(seat.name, seat.isSuspectsOnly, disk);
  }

  /** Another process that takes itself for this pod: same id, same nonce. */
  clone(pod: SimPod): void {
    const { life } = pod.member.pod;
    const birth = life && pod.births.get(life.id);
    if (!birth) return;
    this.#world.say(pod.name, 'is cloned');
    this.#world.count('clones');
    const name = `${pod.name}'`;
    const seed = this.#world.seedOf();
    const random = replaying(birth.drawn, this.#world.fork());
    const process = new Process(this.#world.schedule, name, seed, random);
    process.skewMs = birth.nowMs - (BEGIN_MS + this.#world.nowMs);
    const copy = this.#start(name, pod.isSuspectsOnly, this.#newDisk(), process);
    this.#clones.push(copy);
  }
}

/** Draws what somebody else has drawn, and then for itself. */
export function replaying(drawn: readonly number[], after: Random): Random {
  let next = 0;
  const fraction = () => (next < drawn.length ? drawn[next++]! : after.fraction());
  const byte = () => below({ ...after, fraction }, 256);
  const hex = (count: number) =>
    Array.from({ length: count }, () => byte().toString(16).padStart(2, '0')).join('');
  return { fraction, hex };
}

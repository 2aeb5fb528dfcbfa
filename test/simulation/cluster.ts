/**
 * The pods of a simulation and whoever looks after them: a process that has ended is started again
 * after a while, on its disk or on an empty one. At the end everything is healed.
 */
import { decodeTime } from 'ulid';
import type { PodTimes } from '../../src/fleet/index.ts';
import type { Random } from '../../src/ground/index.ts';
import type { PodBirth } from '../../src/store/pods.ts';
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
    const meanMs = this.#world.within(300, 4_000);
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

  /** Once all is quiet, no journal keeps what the store has, and no pod holds anything. */
  judge(): void {
    for (const { name, disk, process, member } of this.alive()) {
      if (process.isDead) continue;
      const { pod } = member;
      if (!pod.status.isReady) this.#world.violate('I37', `${name} has not joined again`);
      if (pod.status.held > 0) this.#world.violate('I38', `${name} still holds ${pod.status.held}`);
      const kept = [...disk.runs.values()].filter(({ generation }) => generation !== null);
      if (kept.length > 0) this.#world.violate('holds', `${name} keeps run ${kept[0]!.id}`);
    }
  }

  end(): void {
    for (const pod of [...this.alive(), ...this.#clones]) pod.kill();
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
    const birth = this.#auditor.births.get(pod.member.pod.life?.id ?? '');
    if (!birth) return;
    this.#world.say(pod.name, 'is cloned');
    this.#world.count('clones');
    const name = `${pod.name}'`;
    const random = asBorn(birth, this.#world.fork());
    const process = new Process(this.#world.schedule, name, this.#world.seedOf(), random);
    process.stoppedAt = decodeTime(birth.pod);
    this.#clones.push(this.#start(name, pod.isSuspectsOnly, this.#newDisk(), process));
  }
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 10;

/** Chance that gives a process the nonce and the id of another, and then goes its own way. */
function asBorn({ pod, nonce }: PodBirth, after: Random): Random {
  let isNamed = false;
  // An id is drawn from its last digit to its first.
  const digits = [...pod.slice(TIME_LENGTH)];
  return {
    fraction: () => {
      const digit = isNamed ? digits.pop() : undefined;
      return digit === undefined ? after.fraction() : (DIGITS.indexOf(digit) + 0.5) / 32;
    },
    hex: (count) => {
      if (isNamed) return after.hex(count);
      isNamed = true;
      return nonce;
    },
  };
}

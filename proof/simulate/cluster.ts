/**
 * The pods of a simulation and whoever looks after them: a process that has ended is started again
 * after a while, on its disk or on an empty one. At the end everything is healed.
 */
import { decodeTime } from 'ulid';
import type { PodTimes } from '../../src/fleet/index.ts';
import type { Random, RunId } from '../../src/ground/index.ts';
import type { RawRunRow } from '../../src/journal/run-row.ts';
import type { Machine } from '../../src/machine/index.ts';
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { PodBirth } from '../../src/store/pods.ts';
import { Admin } from './admin.ts';
import type { Auditor } from './auditor.ts';
import { Deploys, REPLACED_MS_MAX } from './deploys.ts';
import { Disk } from './disk.ts';
import { chooseFault } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { LIMITED } from './limited-shapes.ts';
import { LONELY } from './lonely-shapes.ts';
import { Link } from './network.ts';
import { BEGIN_MS, Process } from './process.ts';
import { SimPod } from './sim-pod.ts';
import type { World } from './world.ts';

const WATCH_MS = 250;
const FULL_LOSS = 0.35;
/** So many transactions are on the pages that cannot be read. */
const LOST_MAX = 5;
/** Nobody here sleeps for so long, unless a clock was set meanwhile. */
const FAR_OFF_MS = 60_000;

export interface ClusterOptions {
  readonly podCount: number;
  readonly slots: number;
  readonly times: PodTimes;
  /** Pods have code of their own, and the fleet is rolled from one to the other. */
  readonly hasDeploys?: boolean;
  /** There are runs with deadlines. */
  readonly hasDeadlines?: boolean;
  /** There are runs that may go on without the store. */
  readonly hasIslands?: boolean;
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
  readonly admin: Admin;
  readonly #world: World;
  readonly #auditor: Auditor;
  readonly #ledger: Ledger;
  readonly #options: ClusterOptions;
  readonly #seats: Seat[] = [];
  readonly #clones: SimPod[] = [];
  /** By name. */
  readonly #refused = new Set<string>();
  readonly #pending = new Set<() => void>();
  readonly #deploys: Deploys | undefined;
  #isHealed = false;

  constructor(world: World, auditor: Auditor, ledger: Ledger, options: ClusterOptions) {
    this.#world = world;
    this.#auditor = auditor;
    this.#ledger = ledger;
    this.#options = options;
    this.#deploys = options.hasDeploys ? new Deploys(world) : undefined;
    this.admin = new Admin(world, auditor, this.weather, options.times.silentMs);
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

  #start(
    name: string,
    isSuspectsOnly: boolean,
    disk: Disk,
    process?: Process,
    code = this.#deploys?.nextCode(),
  ): SimPod {
    const pod = new SimPod(
      {
        world: this.#world,
        auditor: this.#auditor,
        ledger: this.#ledger,
        weather: this.weather,
        isMirrored: true,
        moreShapes: this.#shapes(),
        ...this.#options,
      },
      { name, disk, isSuspectsOnly, process, code },
    );
    pod.link.refusesPods = this.#refused.has(name);
    pod.start();
    return pod;
  }

  #shapes(): readonly Machine[] {
    const { hasDeadlines, hasIslands } = this.#options;
    return [...(hasDeadlines ? LIMITED : []), ...(hasIslands ? LONELY : [])];
  }

  alive(): SimPod[] {
    return this.#seats.map(({ pod }) => pod).filter((pod) => !pod.hasEnded);
  }

  /** Nobody starts it again for so long. */
  killFor(pod: SimPod, ms: number): void {
    const seat = this.#seats.find((one) => one.pod === pod);
    if (!seat) return;
    pod.kill();
    seat.restartMs = this.#world.nowMs + ms;
  }

  /** With those that are copies of others. */
  all(): SimPod[] {
    return [...this.alive(), ...this.#clones.filter(({ hasEnded }) => !hasEnded)];
  }

  /** Whether the store refuses whatever this pod registers. */
  refuse({ name }: SimPod, isRefused: boolean): void {
    if (isRefused) this.#refused.add(name);
    else this.#refused.delete(name);
    for (const { pod } of this.#seats) pod.link.refusesPods = this.#refused.has(pod.name);
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
    this.#deploys?.storm(untilMs, () => this.alive());
  }

  heal(): void {
    this.#isHealed = true;
    this.#world.healedMs = this.#world.nowMs;
    this.#world.say('world', 'is healed');
    // What is put right may have something else to be put right.
    for (const act of this.#pending) act();
    for (const pod of this.#clones) if (!pod.isFaulty) pod.kill();
    for (const seat of this.#seats) {
      if (seat.restartMs !== undefined) seat.restartMs = this.#world.nowMs;
    }
    this.#deploys?.heal(this.alive());
  }

  /** Once all is quiet, no journal keeps what the store has, and no pod holds anything. */
  judge(): void {
    for (const { name, disk, process, member } of this.alive()) {
      if (process.isDead) continue;
      const { pod } = member;
      if (!pod.status.isReady) this.#world.violate('I37', `${name} has not joined again`);
      const now = process.clock.now();
      // It shows the fleet what sleeps on, and so holds it.
      const asleep = [...disk.timers.keys()].filter((run) => isFarOff(disk, run, now)).length;
      const held = pod.status.held - asleep - this.#heldOn(pod.life?.id);
      if (held > 0) this.#world.violate('I38', `${name} still holds ${held}`);
      const [kept] = this.#keptOn(disk);
      if (kept) this.#world.violate('holds', `${name} keeps run ${kept.id}`);
      const local = unfinished(disk, now);
      if (local) this.#world.violate('I37', `${name} has not ended its own run ${local.id}`);
    }
  }

  /** How many tasks this pod holds until a deadline that is far off. */
  #heldOn(pod: string | undefined): number {
    const { tables } = this.#world;
    return tables.tasksWhere((task) => task.claimedBy === pod && this.hasTime(task)).length;
  }

  #isHeldOn(run: string): boolean {
    const task = this.#world.tables.tasks.get(run as RunId);
    return task !== undefined && this.hasTime(task);
  }

  hasTime(task: TaskRecord): boolean {
    return this.#auditor.deadlines.isFarOff(task);
  }

  /** The disk of this journal is in use: whoever waits for it waits for somebody. */
  hasDisk(journal: string): boolean {
    return this.#seats.some(({ pod }) => pod.disk.id === journal);
  }

  /** A run of a host whose clock was set back sleeps until that clock says that it is time. */
  isFarOff(journal: string, run: string): boolean {
    const pod = this.#seats.find((seat) => seat.pod.disk.id === journal)?.pod;
    return pod !== undefined && isFarOff(pod.disk, run, pod.process.clock.now());
  }

  /** Whether the disk of this journal has ever lost what it had acknowledged. */
  isLossy(journal: string): boolean {
    return this.#seats.some(({ pod: { disk } }) => disk.id === journal && disk.lossCount > 0);
  }

  /** Every process that is up has joined the fleet. */
  get isReady(): boolean {
    return this.alive().every(({ process, member }) => process.isDead || member.pod.status.isReady);
  }

  /** Nobody has anything of runs that are the store's. */
  get hasLetGo(): boolean {
    return this.alive().every(({ disk }) => this.#keptOn(disk).length === 0);
  }

  #keptOn(disk: Disk): RawRunRow[] {
    const isKept = ({ id, generation }: RawRunRow) => generation !== null && !this.#isHeldOn(id);
    return [...disk.runs.values()].filter(isKept);
  }

  /** No host has runs of its own left to end. */
  get isIdle(): boolean {
    return this.#seats.every(({ pod }) => !unfinished(pod.disk, pod.process.clock.now()));
  }

  end(): void {
    for (const pod of this.all()) pod.kill();
  }

  /** Starts again what has ended. */
  #watch(): void {
    const { schedule } = this.#world;
    for (const seat of this.#seats) {
      if (!seat.pod.hasEnded) continue;
      if (seat.restartMs === undefined) {
        seat.restartMs = schedule.nowMs + this.#restartsAfter(seat.pod);
      }
      if (schedule.nowMs >= seat.restartMs) this.#restart(seat);
    }
    schedule.at(schedule.nowMs + WATCH_MS, () => this.#watch());
  }

  #restartsAfter({ isReplaced }: SimPod): number {
    if (this.#isHealed) return 0;
    if (isReplaced) return (this.#deploys?.chance.fraction() ?? 0) * REPLACED_MS_MAX;
    return this.#world.within(0, 9_000);
  }

  #restart(seat: Seat): void {
    const { disk: before } = seat.pod;
    const isLost = this.#world.random.fraction() < FULL_LOSS;
    if (isLost) this.#world.count('lost disks');
    if (before.isDamaged) before.putAside(Math.floor(this.#world.within(0, LOST_MAX)));
    if (!seat.pod.isFaulty) before.isFull = false;
    before.nextFate = 'fine';
    before.failingSyncs = 0;
    before.diesOfSync = false;
    const disk = isLost ? this.#newDisk() : before;
    seat.restartMs = undefined;
    const { isFaulty } = seat.pod;
    seat.pod = this.#start(seat.name, seat.isSuspectsOnly, disk);
    seat.pod.isFaulty = isFaulty && !isLost;
  }

  /** A process on a clone of this pod's volume; it goes on until everything is healed, or to the end. */
  cloneVolume({ name, disk, isSuspectsOnly, code }: SimPod): SimPod {
    const clone = this.#start(`${name}"`, isSuspectsOnly, disk.cloned(), undefined, code);
    clone.isFaulty = true;
    this.#clones.push(clone);
    return clone;
  }

  /** A process that was copied while it ran: it takes itself for this pod, until it is told. */
  clone(pod: SimPod): void {
    const birth = this.#auditor.births.get(pod.member.pod.life?.id ?? '');
    if (!birth) return;
    this.#world.say(pod.name, 'is cloned');
    this.#world.count('clones');
    // The copy answers for what the original held, and has none of its records.
    pod.disk.hasLostMark = true;
    const name = `${pod.name}'`;
    const random = asBorn(birth, this.#world.fork());
    const process = new Process(this.#world.schedule, name, this.#world.seedOf(), random);
    process.stoppedAt = decodeTime(birth.pod);
    process.bornAs = birth;
    this.#clones.push(this.#start(name, pod.isSuspectsOnly, this.#newDisk(), process, pod.code));
  }
}

function isFarOff({ timers }: Disk, run: string, now: number): boolean {
  return (timers.get(run) ?? now) > now + FAR_OFF_MS;
}

function unfinished(disk: Disk, now: number): RawRunRow | undefined {
  for (const row of disk.runs.values()) {
    const isOwn = row.generation === null && !row.machine.startsWith('recovery/');
    if (isOwn && row.finished_at === null && !isFarOff(disk, row.id, now)) return row;
  }
  return undefined;
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

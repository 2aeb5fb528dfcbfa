/**
 * One course of a story: a small fleet goes through it, is struck at the points it was told, comes to
 * rest, and is judged as any simulation is.
 */
import { assertNever } from '../../src/ground/index.ts';
import { isEnded } from '../../src/store/memory/tables.ts';
import type { Wanted } from '../simulate/client.ts';
import { judge } from '../simulate/judge.ts';
import type { Mutant } from '../simulate/mutants.ts';
import { Link } from '../simulate/network.ts';
import { BEGIN_MS, type Process } from '../simulate/process.ts';
import { enter, MENDED, type Outside } from '../simulate/shapes.ts';
import { followTurns, SimPod } from '../simulate/sim-pod.ts';
import { World } from '../simulate/world.ts';
import { type Point, Points, type Strike, type Way } from './points.ts';
import type { Story } from './stories.ts';
import { type Striker, StrikingAuditor, StrikingDisk, StrikingLedger } from './striking.ts';
import { Wanting, wantedOf } from './wanting.ts';

const SEED = 11;
const HEARTBEAT_MS = 500;
const SILENT_MS = 1_500;
const WATCH_MS = 200;
const RETURN_MS = 400;
/** By then others have swept it. */
const LATE_RETURN_MS = 3 * SILENT_MS;
/** Long enough for others to judge, who have to have been heard for twice the silence. */
const PAUSE_MS = 2 * SILENT_MS + 500;
const FULL_MS = 1_500;
/** After this everything that was left has had time to be found, swept, claimed and ended. */
const REST_MS_MAX = 120_000;
/** And by then everybody knows that what it held has ended. */
const LET_GO_MS_MAX = 8_000;
const QUIET_MS = 1_500;

export interface CourseOptions {
  readonly story: Story;
  readonly strikes?: readonly Strike[] | undefined;
  readonly mutant?: Mutant | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface CourseReport {
  readonly violations: readonly string[];
  readonly points: readonly Point[];
  readonly struck: readonly Point[];
  /** The number of the first point at which everything that was held went on, after the last strike. */
  readonly recoveredAt: number;
  readonly virtualMs: number;
  readonly events: number;
  readonly trace: string;
}

interface Seat {
  readonly name: string;
  readonly isSuspectsOnly: boolean;
  pod: SimPod;
  disk: StrikingDisk;
  comesBack: Way;
  endedMs: number | undefined;
}

export class Course implements Striker {
  readonly world: World;
  readonly points: Points;
  readonly #story: Story;
  readonly #auditor: StrikingAuditor;
  readonly #ledger: StrikingLedger;
  readonly #weather = new Link();
  readonly #outside: Outside;
  readonly #seats: Seat[] = [];
  readonly #wanted: Wanted[];
  #client: Wanting;
  #clientEndedMs: number | undefined;
  #healing = 0;

  constructor({ story, strikes = [], mutant, onLine }: CourseOptions) {
    this.#story = story;
    this.world = new World({ seed: SEED, mutant, onLine });
    const { schedule } = this.world;
    this.points = new Points(this.world, strikes);
    this.#auditor = new StrikingAuditor(this);
    this.#ledger = new StrikingLedger(this, this.#auditor);
    this.#outside = {
      here: () => schedule.current as Process,
      published: new Map(),
      postponed: new Set(),
      mended: new Set(),
    };
    enter(this.#outside);
    followTurns(schedule);
    this.#wanted = story.tasks.map(wantedOf);
    this.#client = this.#newClient();
  }

  async run(): Promise<CourseReport> {
    const { world, points } = this;
    const { schedule } = world;
    const heard = (error: unknown) =>
      world.violate('unhandled', `${(error as Error)?.stack ?? String(error)}`);
    process.on('unhandledRejection', heard);
    try {
      this.#begin();
      const isBroken = () => world.violations.length > 0;
      await schedule.run(REST_MS_MAX, () => {
        this.#noteRecovery();
        return isBroken() || this.#isAtRest();
      });
      // An answer that was lost is waited for, and asked for again.
      await schedule.run(schedule.nowMs + LET_GO_MS_MAX, () => isBroken() || this.#hasLetGo());
      await schedule.run(schedule.nowMs + QUIET_MS, isBroken);
      if (!isBroken() && !points.isOver) throw new Error('the course missed a point');
      const client = { wanted: this.#wanted };
      if (!isBroken()) judge(world, this.#auditor, client, this.#outside, this.#ledger);
      if (!isBroken()) this.#judgePods();
    } finally {
      process.off('unhandledRejection', heard);
    }
    for (const { pod } of this.#seats) pod.kill();
    const [violations, trace] = [[...world.violations], world.traceHash()];
    const { nowMs: virtualMs, eventCount: events } = schedule;
    const { all, struck } = points;
    const recoveredAt = this.#recoveredAt ?? all.length;
    return { violations, points: all, struck, recoveredAt, virtualMs, events, trace };
  }

  strike(process: Process, way: Way): void {
    const seat = this.#seats.find(({ pod }) => pod.process === process);
    switch (way) {
      case 'kept':
      case 'late':
      case 'lost':
      case 'torn':
        this.foresee(process, way);
        if (seat) seat.pod.kill();
        else process.kill();
        return;
      case 'pause':
        process.pause();
        this.#healLater(PAUSE_MS, () => process.resume());
        return;
      case 'full':
        if (!seat) return;
        seat.disk.isFull = true;
        this.#healLater(FULL_MS, () => {
          seat.disk.isFull = false;
        });
        return;
      case 'cut':
      case 'refused':
        // That is for the call; its process is left alone.
        return;
      default:
        assertNever(way);
    }
  }

  foresee(process: Process, way: Way): void {
    const seat = this.#seats.find(({ pod }) => pod.process === process);
    if (seat) seat.comesBack = way;
  }

  #healLater(ms: number, heal: () => void): void {
    this.#healing += 1;
    this.world.schedule.at(this.world.nowMs + ms, () => {
      this.#healing -= 1;
      heal();
    });
  }

  #begin(): void {
    const { podCount, tasks, turns } = this.#story;
    const { schedule } = this.world;
    for (let index = 0; index < podCount; index++) this.#seat(`pod-${index + 1}`, false);
    this.#seat('suspects', true);
    this.#client.begin(tasks, this.#wanted);
    for (const { atMs, pod: name, how } of turns) {
      this.#healing += 1;
      schedule.at(atMs, () => {
        this.#healing -= 1;
        const pod = this.#seats.find((seat) => seat.name === name)!.pod;
        if (how === 'drain') pod.drain();
        else if (!pod.process.isDead) this.strike(pod.process, how);
      });
    }
    this.#watch();
  }

  #newClient(): Wanting {
    const ports = { world: this.world, auditor: this.#auditor, outside: this.#outside };
    return new Wanting({ ...ports, weather: this.#weather });
  }

  #newDisk(): StrikingDisk {
    return new StrikingDisk(this, this.world.fork().hex(16), BEGIN_MS + this.world.nowMs);
  }

  #seat(name: string, isSuspectsOnly: boolean): void {
    const disk = this.#newDisk();
    const pod = this.#start(name, isSuspectsOnly, disk);
    this.#seats.push({ name, isSuspectsOnly, pod, disk, comesBack: 'kept', endedMs: undefined });
    pod.start();
  }

  #start(name: string, isSuspectsOnly: boolean, disk: StrikingDisk): SimPod {
    const times = {
      heartbeatMs: HEARTBEAT_MS,
      silentMs: SILENT_MS,
      archiveMs: 300,
      idlePollMs: 2_000,
    };
    const { world } = this;
    const [auditor, ledger, weather] = [this.#auditor, this.#ledger, this.#weather];
    const host = { world, auditor, ledger, weather, times, slots: 4, moreShapes: [MENDED] };
    disk.holder = undefined;
    const pod = new SimPod(host, { name, disk, isSuspectsOnly });
    disk.holder = pod.process;
    return pod;
  }

  #watch(): void {
    const { schedule } = this.world;
    for (const seat of this.#seats) if (seat.pod.hasEnded) this.#lookAfter(seat);
    if (this.#client.process.isDead) this.#lookAfterClient();
    schedule.at(schedule.nowMs + WATCH_MS, () => this.#watch());
  }

  #lookAfter(seat: Seat): void {
    seat.endedMs ??= this.world.nowMs;
    const waitMs = seat.comesBack === 'late' ? LATE_RETURN_MS : RETURN_MS;
    if (this.world.nowMs < seat.endedMs + waitMs) return;
    if (seat.comesBack === 'lost') seat.disk = this.#newDisk();
    seat.disk.isFull = false;
    Object.assign(seat, { comesBack: 'kept', endedMs: undefined });
    seat.pod = this.#start(seat.name, seat.isSuspectsOnly, seat.disk);
    seat.pod.start();
  }

  #lookAfterClient(): void {
    this.#clientEndedMs ??= this.world.nowMs;
    if (this.world.nowMs < this.#clientEndedMs + RETURN_MS) return;
    this.#clientEndedMs = undefined;
    this.#client = this.#newClient();
    this.#client.begin(this.#story.tasks, this.#wanted);
  }

  #recoveredAt: number | undefined;

  #noteRecovery(): void {
    if (this.#recoveredAt !== undefined || !this.points.isOver) return;
    if (this.#isRecovered()) this.#recoveredAt = this.points.all.length;
  }

  /** Nobody is missing, and whoever holds a task has written so. */
  #isRecovered(): boolean {
    if (this.#healing > 0 || this.#client.process.isDead) return false;
    if (!this.#seats.every(({ pod }) => !pod.hasEnded && pod.member.pod.status.isReady))
      return false;
    return [...this.world.tables.tasks.values()].every(
      ({ status, taskId, claimedBy, claimEpoch }) => {
        if (status !== 'claimed') return status !== 'pending';
        const owner = this.#seats.find(({ pod }) => pod.member.pod.life?.id === claimedBy);
        return owner?.disk.events.get(taskId)?.at(-1)?.epoch === claimEpoch;
      },
    );
  }

  #isAtRest(): boolean {
    if (!this.points.isOver || this.#healing > 0 || this.#client.process.isDead) return false;
    if (!this.#client.isContent) return false;
    const areUp = this.#seats.every(({ pod }) => !pod.hasEnded && pod.member.pod.status.isReady);
    return areUp && [...this.world.tables.tasks.values()].every(isEnded);
  }

  #hasLetGo(): boolean {
    return this.#seats.every(({ pod, disk }) => pod.member.pod.status.held === 0 && !keptBy(disk));
  }

  /** Once all is quiet, no journal keeps what the store has, and no pod holds anything. */
  #judgePods(): void {
    for (const { name, disk, pod } of this.#seats) {
      const { status } = pod.member.pod;
      if (!status.isReady) this.world.violate('I37', `${name} has not joined again`);
      if (status.held > 0) this.world.violate('I38', `${name} still holds ${status.held}`);
      const kept = keptBy(disk);
      if (kept) this.world.violate('holds', `${name} keeps run ${kept}`);
    }
  }
}

/** A run of the fleet that the disk still has. */
function keptBy(disk: StrikingDisk): string | undefined {
  return [...disk.runs.values()].find(({ generation }) => generation !== null)?.id;
}

export function runCourse(options: CourseOptions): Promise<CourseReport> {
  return new Course(options).run();
}

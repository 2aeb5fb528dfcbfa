/** The ports of a simulated pod, each telling of the points it comes to: store, handlers, disk. */
import type { EventRow } from '../../src/journal/index.ts';
import type { OfPhase } from '../../src/telemetry/events.ts';
import { Auditor, type Told } from '../simulate/auditor.ts';
import { type CommitFate, Disk } from '../simulate/disk.ts';
import { type Caller, Ledger } from '../simulate/ledger.ts';
import type { CallFate } from '../simulate/network.ts';
import type { Process } from '../simulate/process.ts';
import type { World } from '../simulate/world.ts';
import { FATES, type Kind, type Moment, type Point, type Points, type Way } from './points.ts';

export interface Striker {
  readonly world: World;
  readonly points: Points;
  /** Does it to the process, at once. */
  strike(process: Process, way: Way): void;
  /** The process is about to die by itself: it comes back in this way. */
  foresee(process: Process, way: Way): void;
}

/** Clients only look, over and over, but for these. */
const CLIENT_VERBS = ['enqueue', 'act'];
/** A handler that takes its time is half way then. */
const HALF_MS = 0.4;

function reach(by: Striker, process: Process, kind: Kind, what: string, moment: Moment) {
  return process.isDead ? undefined : by.points.reach(process.name, kind, what, moment);
}

export class StrikingAuditor extends Auditor {
  readonly #by: Striker;
  readonly #before = new WeakMap<Told, Point>();

  constructor(by: Striker) {
    super(by.world);
    this.#by = by;
  }

  override sent(told: Told): CallFate | undefined {
    super.sent(told);
    const { all } = this.#by.points;
    const count = all.length;
    const way = this.#reach(told, 'before');
    if (all.length > count) this.#before.set(told, all[count]!);
    if (way === undefined) return undefined;
    this.#by.strike(told.process, way);
    return FATES[way];
  }

  override watch<A extends { readonly answer: unknown } | { readonly error: unknown }>(
    told: Told,
    act: () => A,
  ): A {
    const answered = super.watch(told, act);
    const before = this.#before.get(told);
    if (before && 'answer' in answered) before.what = whatOf(told, answered.answer);
    const way = this.#reach(told, 'committed');
    if (way !== undefined) this.#by.strike(told.process, way);
    return answered;
  }

  /** Struck when it has done about the answer whatever it does at once. */
  override heard(told: Told): void {
    const way = this.#reach(told, 'answered');
    if (way === undefined) return;
    const { schedule } = this.#by.world;
    schedule.at(schedule.nowMs, () => this.#by.strike(told.process, way));
  }

  #reach(told: Told, moment: Moment): Way | undefined {
    const { process, verb } = told;
    if (process.name === 'client' && !CLIENT_VERBS.includes(verb)) return undefined;
    const what = moment === 'before' ? verb : (this.#before.get(told)?.what ?? verb);
    return reach(this.#by, process, 'call', what, moment);
  }
}

/** A call that came to nothing is none of the points that matter most. */
function whatOf({ verb }: Told, answer: unknown): string {
  const isNothing = (Array.isArray(answer) && answer.length === 0) || answer === false;
  return isNothing ? `${verb} of nothing` : verb;
}

export class StrikingLedger extends Ledger {
  readonly #by: Striker;

  constructor(by: Striker, auditor: Auditor) {
    super(by.world, auditor);
    this.#by = by;
  }

  override around<T>(caller: Caller, of: OfPhase, call: () => T): T {
    const { process } = caller;
    const { schedule } = this.#by.world;
    const at = (moment: Moment) => {
      const name = `${of.machine} ${of.step}.${of.phase}`;
      const way = reach(this.#by, process, 'phase', name, moment);
      if (way !== undefined) this.#by.strike(process, way);
    };
    at('begun');
    // The dead call nobody, and nobody hears of it.
    if (process.isDead) return new Promise(() => undefined) as T;
    let isOver = false;
    schedule.at(schedule.nowMs + HALF_MS, () => isOver || at('half'));
    const done = () => {
      isOver = true;
      at('done');
    };
    const answer = super.around(caller, of, call);
    if (answer instanceof Promise) return answer.finally(done) as T;
    done();
    return answer;
  }
}

/** A disk that tells of every transaction, before and after. */
export class StrikingDisk extends Disk {
  readonly #by: Striker;
  /** The process that has it. */
  holder: Process | undefined;
  #written: string[] = [];

  constructor(by: Striker, id: string, createdAt: number) {
    super(id, createdAt);
    this.#by = by;
    Object.defineProperty(this, 'nextFate', { get: () => this.#fate(), set: () => undefined });
  }

  /** Asked once for every transaction, before it is made. */
  #fate(): CommitFate {
    const process = this.holder;
    if (!process || process.isDead) return 'fine';
    const { points } = this.#by;
    const ways = (['before', 'after'] as const).map((moment) =>
      points.reach(process.name, 'record', '', moment),
    );
    this.#isCounted = true;
    const way = ways[0] ?? ways[1];
    if (way === undefined) return 'fine';
    if (way === 'pause' || way === 'full') {
      this.#by.strike(process, way);
      return 'fine';
    }
    this.#by.foresee(process, way);
    if (way === 'torn') return 'tears';
    return ways[0] ? 'diesBefore' : 'diesAfter';
  }

  #isCounted = false;

  override transact(act: () => void): void {
    this.#written = [];
    super.transact(act);
    if (!this.#isCounted) return;
    this.#isCounted = false;
    const what = this.#written.join('+') || 'removal';
    for (const point of this.#by.points.all.slice(-2)) point.what = what;
  }

  override addEvent(row: EventRow): void {
    super.addEvent(row);
    this.#written.push(`${row.event}>${row.state}`);
  }
}

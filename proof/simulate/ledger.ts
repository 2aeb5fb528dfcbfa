/**
 * Every call of a handler, with who made it and when. It knows what no table shows: that a phase began
 * after its pod's deadline, before its record was durable, twice under one epoch, or again although its
 * record had reached the store.
 */
import type { Engine } from '../../src/engine/index.ts';
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { RunId } from '../../src/ground/index.ts';
import type { Entry, EventRow } from '../../src/journal/index.ts';
import type { Prepared } from '../../src/journal/record.ts';
import type { Plan } from '../../src/machine/index.ts';
import type { OfPhase } from '../../src/telemetry/events.ts';
import type { Effect } from '../history/evidence.ts';
import type { Auditor, Snapshot } from './auditor.ts';
import { CancelJudge } from './cancel-judge.ts';
import type { DeadlineJudge } from './deadline-judge.ts';
import type { Disk } from './disk.ts';
import { ended } from './ended.ts';
import type { Process } from './process.ts';
import { VersionJudge } from './version-judge.ts';
import type { WaitJudge } from './wait-judge.ts';
import type { World } from './world.ts';

/** What is to be known of a pod when it calls a handler. */
export interface Caller {
  readonly process: Process;
  readonly engine: Engine;
  readonly disk: Disk;
  readonly deadlines: () => Deadlines;
}

/** Counted from when the last heartbeat that was answered had been sent. */
export interface Deadlines {
  /** By its own monotonic clock: from then on it may begin nothing. */
  readonly ownMs: number;
  /** By the simulation's clock, whatever its own may show: from then on it may be swept. */
  readonly sweptMs: number;
}

interface Execution {
  readonly phase: string;
  readonly attempt: number;
  /** The last record before it. */
  readonly seq: number;
  readonly epoch: number;
  readonly process: Process;
  readonly disk: Disk;
  readonly lossCount: number;
  /** How often the store had lost something of it by then. */
  readonly rewinds: number;
  /** The store had its claim. */
  readonly isOwner: boolean;
  /** Past its pod's deadline, as its machine allows. */
  readonly isAlone: boolean;
  /** When it ended, by an answer or a throw. */
  isOver: boolean;
}

export class Ledger {
  readonly #world: World;
  readonly #auditor: Auditor;
  readonly #executions = new Map<string, Execution[]>();
  /** By task and epoch: whose handlers it was that were called. */
  readonly #callers = new Map<string, Process>();
  readonly #waits: WaitJudge;
  readonly #deadlines: DeadlineJudge;
  readonly cancels: CancelJudge;
  readonly versions: VersionJudge;
  /** By task: what the history checker wants to know of calls. */
  readonly #effects = new Map<string, (Effect & { readonly disk: Disk })[]>();
  /** By task and epoch: the last record of it that was ever durable anywhere. */
  readonly #reached = new Map<string, number>();
  /** By task and epoch: how many phases were done again that had been done before. */
  readonly #repeats = new Map<string, number>();

  constructor(world: World, auditor: Auditor) {
    this.#world = world;
    this.#auditor = auditor;
    this.#waits = auditor.waits;
    this.#deadlines = auditor.deadlines;
    this.cancels = new CancelJudge(world);
    this.versions = new VersionJudge(world);
  }

  /** A record is on its way to the disk of this process; `run` is what it was before. */
  appended(process: Process, run: LiveRun | undefined, prepared: Prepared): void {
    if (run?.plan.name.startsWith('recovery/')) return;
    this.#waits.appended(process, run, prepared);
    this.#deadlines.appended(process, run, prepared);
    if (!this.#world.rewound.has(prepared.entry.run)) this.cancels.appended(prepared.entry);
  }

  /** A record has reached a disk. */
  durable({ run, seq }: Entry): void {
    this.#reached.set(run, Math.max(seq, this.#reached.get(run) ?? -1));
  }

  /** Wraps a call: the engine's own port for it. */
  around<T>(caller: Caller, of: OfPhase, call: () => T): T {
    if (of.machine.startsWith('recovery/')) return call();
    const run = caller.engine.liveRun(of.run);
    const { tie } = run ?? {};
    if (run) {
      this.#waits.begins(caller.process, of.run, run.hash, brief(of));
      this.#deadlines.begins(caller.process, run, brief(of));
      this.versions.begins(caller.process.name, run, caller.disk.events.get(of.run) ?? []);
    }
    if (run && !tie && caller.disk.runs.get(of.run)?.generation === null) {
      return this.#aroundLocal(caller, of, run.seq, call);
    }
    if (!run || !tie) {
      this.#world.violate(
        'I2',
        `${caller.process.name} executes ${of.run}, which it does not hold`,
      );
      return call();
    }
    this.#world.count(of.phase === 'probe' ? 'probes' : 'phases');
    this.#world.say(caller.process.name, `begins ${brief(of)} of ${short(of.run)} e${tie.epoch}`);
    const isAlone = this.#judge(caller, of, run, tie.epoch);
    const { process, disk } = caller;
    const { lossCount } = disk;
    const [{ phase, attempt }, { epoch }] = [of, tie];
    const { seq } = run;
    const rewinds = this.#auditor.rewinds.lossesOf(of.run);
    const isOwner = this.#world.tables.tasks.get(of.run)?.claimEpoch === epoch;
    const by = { process, disk, lossCount, rewinds, isOwner, isAlone, isOver: false };
    const execution = { phase, attempt, seq, epoch, ...by };
    const place = `${of.run} ${tie.generation} ${of.step}`;
    this.cancels.begins(of.run, epoch, brief(of));
    this.#auditor.flow.begins(of.run, epoch, brief(of));
    this.#note(of, execution);
    if (!isAlone) this.#probeFirst(place, of, run);
    this.#boundRepeats(place, of, execution);
    const before = this.#executions.get(place);
    if (before) before.push(execution);
    else this.#executions.set(place, [execution]);
    return ended(call, () => {
      execution.isOver = true;
      this.#world.say(caller.process.name, `ends ${brief(of)} of ${short(of.run)}`);
    });
  }

  /** A run of the host's own: nobody else has a word in it, and its records come first all the same. */
  #aroundLocal<T>({ process, disk }: Caller, of: OfPhase, seq: number, call: () => T): T {
    this.#world.count('local phases');
    this.#world.say(process.name, `begins ${brief(of)} of its own ${short(of.run)}`);
    if ((disk.events.get(of.run)?.length ?? 0) - 1 !== seq) {
      const name = `${brief(of)} of its own ${of.run}`;
      this.#world.violate('I12', `${process.name} began ${name} before record ${seq} was durable`);
    }
    return call();
  }

  /** Answers whether it was begun without the store. */
  #judge(caller: Caller, of: OfPhase, { seq, plan }: LiveRun, epoch: number): boolean {
    const { process, disk } = caller;
    const name = `${brief(of)} of ${of.run}`;
    const fault = (promise: string, how: string) =>
      this.#world.violate(promise, `${process.name} began ${name} ${how}`);
    const { autonomousMs } = plan;
    const { ownMs, sweptMs } = caller.deadlines();
    const ownLateMs = process.clock.monotonicMs() - ownMs;
    // Whoever may go on alone does so beside whoever has taken the run from it.
    const lateMs =
      autonomousMs === undefined
        ? Math.max(ownLateMs, this.#world.nowMs - sweptMs)
        : ownLateMs - autonomousMs;
    const isAlone = autonomousMs !== undefined && ownLateMs >= 0;
    if (isAlone) this.#world.count('phases on an island');
    if (lateMs >= 0) fault('I10', `${lateMs.toFixed(0)} ms after its deadline`);
    if ((disk.events.get(of.run)?.length ?? 0) - 1 !== seq) {
      fault('I12', `before record ${seq} was durable`);
    }
    const claim = `${of.run} ${epoch}`;
    const other = this.#callers.get(claim);
    if (other && other !== process) fault('I9', `under epoch ${epoch}, as did ${other.name}`);
    this.#callers.set(claim, process);
    const snapshot = this.#auditor.claims.get(claim);
    if (!snapshot) fault('I21', `under epoch ${epoch}, which nobody was given`);
    const why = snapshot && repeats(snapshot, { ...of, epoch }, disk, planPlaces(plan));
    if (why) fault('I19', why);
    return isAlone;
  }

  #note({ run: task, step }: OfPhase, { phase, attempt, epoch, process, disk }: Execution): void {
    const unasked = { subject: '', idempotencyKey: '', outcome: '' };
    const [at, pod] = [this.#world.tables.now(), process.name];
    const effect = { task, step, phase, attempt, fencingToken: epoch, pod, at, disk, ...unasked };
    const before = this.#effects.get(task);
    if (before) before.push(effect);
    else this.#effects.set(task, [effect]);
  }

  /** What handlers were called for, on hosts whose disks can tell all that they were told. */
  effectsOf(task: string): readonly Effect[] {
    const effects = this.#effects.get(task) ?? [];
    return effects.filter(({ disk }) => disk.lossCount === 0 && !disk.hasLostMark);
  }

  /**
   * I19: what had been done before is done again only as far as the store did not have its records,
   * and the one phase that had none. One owner does one attempt once.
   */
  #boundRepeats(place: string, of: OfPhase, { phase, attempt, seq, epoch }: Execution): void {
    if (phase === 'probe') return;
    const fault = (promise: string, how: string) =>
      this.#world.violate(promise, `${brief(of)} of ${of.run} ${how}`);
    const same = (this.#executions.get(place) ?? []).filter(
      (one) => one.phase === phase && one.attempt === attempt,
    );
    const isTwice = same.some((one) => one.epoch === epoch && one.seq === seq);
    if (isTwice) fault('I12', `was begun twice by epoch ${epoch}`);
    const claim = `${of.run} ${epoch}`;
    const had = this.#auditor.claims.get(claim)?.seq ?? -1;
    // What came of it would be on record by now, were it to count.
    if (!same.some((one) => one.isOver && one.epoch !== epoch && one.seq >= had)) return;
    const count = (this.#repeats.get(claim) ?? 0) + 1;
    this.#repeats.set(claim, count);
    this.#world.count('phases repeated');
    const unflushed = Math.max(0, (this.#reached.get(of.run) ?? -1) - had);
    if (count <= unflushed + 1) return;
    fault('I19', `is the ${count}th phase again, and ${unflushed} records had not been flushed`);
  }

  /** I41: what was interrupted inside work or persist asks `check` first, where there is one. */
  #probeFirst(place: string, of: OfPhase, { plan, epoch }: LiveRun): void {
    if (of.phase !== 'work' && of.phase !== 'persist') return;
    if (!hasCheck(plan, of.step)) return;
    // One that does not know yet that a server of the store is lost goes on beside those of the next.
    const all = this.#executions.get(place) ?? [];
    const executions = all.filter((one) => one.epoch <= epoch);
    // Whoever is alone goes on beside the others: they cannot know of it.
    const last = executions.findLastIndex(({ phase, isAlone }) => phase === of.phase && !isAlone);
    const before = executions[last];
    if (!before || before.isOver) return;
    // Where the disk has lost that the phase was entered, nobody can know that it had begun.
    if (before.disk.lossCount !== before.lossCount) return;
    // So it is where the store has lost that somebody had been given the run.
    if (before.rewinds !== this.#auditor.rewinds.lossesOf(of.run)) return;
    // It had begun when that had happened, and before it knew; a copy and its original do so, too.
    const isCopied = before.process.bornAs !== undefined || before.disk.hasLostMark;
    if (!before.isOwner && (before.rewinds > 0 || isCopied)) return;
    const asked = /check|probe/;
    const hasAsked = executions.slice(last + 1).some(({ phase }) => asked.test(phase));
    if (!hasAsked) this.#world.violate('I41', `${brief(of)} of ${of.run} was not probed`);
  }
}

/** Why the phase should not begin, where what was on record when it was claimed is beyond it. */
function repeats(
  { seq, hash, state, epoch }: Snapshot,
  of: OfPhase & { readonly epoch: number },
  disk: Disk,
  places: readonly string[],
): string | undefined {
  if (seq < 0) return undefined;
  const rows = disk.events.get(of.run) ?? [];
  if (rows[seq]?.hash !== hash) {
    // What an owner after that one had recorded came in between the claim and the look at the history.
    const before = rows.findLast((row) => row.epoch < of.epoch);
    if (before && before.epoch > epoch) return undefined;
    return `without record ${seq}, which the store had`;
  }
  if (of.phase === 'probe') return undefined;
  const at = upgradedTo(rows, seq) ?? state;
  const [from, to] = [places.indexOf(at), places.indexOf(`${of.step}.${of.phase}`)];
  if (from < 0) return `although it had ended as ${at}`;
  // A validation that rejects sends the run back to work.
  const isRejected = at.endsWith('.validate') && to === places.indexOf(workOf(at));
  return to >= from || isRejected ? undefined : `although it was recorded up to ${at}`;
}

/** Where an upgrade after this record has begun the run anew: what was before is of another line. */
function upgradedTo(rows: readonly EventRow[], seq: number): string | undefined {
  return rows.slice(seq + 1).findLast(({ event }) => event === 'UPGRADED')?.state;
}

function workOf(state: string): string {
  return `${state.slice(0, state.lastIndexOf('.'))}.work`;
}

const placesOf = new Map<Plan, readonly string[]>();

function planPlaces(plan: Plan): readonly string[] {
  let places = placesOf.get(plan);
  if (!places) {
    places = plan.chart.transitions.map(({ step, phase }) => `${step}.${phase}`);
    placesOf.set(plan, places);
  }
  return places;
}

function hasCheck(plan: Plan, step: string): boolean {
  return planPlaces(plan).includes(`${step}.check`);
}

function brief({ step, phase, attempt }: OfPhase): string {
  return `${step}.${phase}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
}

function short(run: RunId): string {
  return run.slice(-6);
}

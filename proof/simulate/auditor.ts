/**
 * Looks at the shared tables after every call that was carried out, and at what is sent. Whatever may
 * never be, in any snapshot and in any change from one to the next, is a violation here.
 */

import type { Engine } from '../../src/engine/index.ts';
import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import type { EventRow, Journal } from '../../src/journal/index.ts';
import type { Act, ActAnswer } from '../../src/store/acts.ts';
import type { Beat, BeatAnswer, PodBirth, Worklist } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type {
  ClaimedTask,
  ClaimRequest,
  EnqueueAnswer,
  MirroredRun,
  Segment,
  SettleAnswer,
  Settlement,
  Taking,
} from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { DeadlineJudge } from './deadline-judge.ts';
import type { Disk } from './disk.ts';
import { FlowJudge } from './flow-judge.ts';
import type { CallFate } from './network.ts';
import type { Process } from './process.ts';
import { RewindJudge } from './rewind-judge.ts';
import { brief } from './seen.ts';
import { type Fencing, SweepJudge } from './sweep-judge.ts';
import { TableAudit } from './table-audit.ts';
import { POD, TASKS } from './touched.ts';
import { WaitJudge } from './wait-judge.ts';
import type { World } from './world.ts';

export interface Told {
  readonly process: Process;
  readonly verb: keyof Store;
  readonly given: readonly unknown[];
}

/** What was on record of a run when somebody became its owner. */
export interface Snapshot {
  readonly pod: string;
  readonly seq: number;
  readonly hash: string;
  readonly state: string;
  /** Of whoever had recorded it. */
  readonly epoch: number;
}

/** All rows are looked at this often; those a call has named right after it. */
const LOOK_AT_ALL_EVERY = 40;

export class Auditor {
  readonly #world: World;
  readonly rows: TableAudit;
  /** By task and epoch. */
  readonly claims = new Map<string, Snapshot>();
  readonly disks = new Map<Process, Disk>();
  readonly births = new Map<string, PodBirth>();
  readonly engines = new Map<Process, Pick<Engine, 'liveRun'>>();
  readonly journals = new Map<Process, Pick<Journal, 'stalledBy'>>();
  readonly waits: WaitJudge;
  readonly sweeps: SweepJudge;
  readonly deadlines: DeadlineJudge;
  readonly flow: FlowJudge;
  readonly rewinds: RewindJudge;
  #calls = 0;
  /** Tasks the store has taken in. */
  taskCount = 0;

  constructor(world: World) {
    this.#world = world;
    this.rows = new TableAudit(world);
    this.waits = new WaitJudge(world);
    this.sweeps = new SweepJudge(world);
    this.deadlines = new DeadlineJudge(world);
    this.flow = new FlowJudge(world);
    this.rewinds = new RewindJudge(world);
  }

  watch<A extends { readonly answer: unknown } | { readonly error: unknown }>(
    told: Told,
    act: () => A,
  ): A {
    const { verb, given } = told;
    const fenced = verb === 'fence' ? this.#fenceBefore(told) : undefined;
    const settled = verb === 'settle' ? this.#standBefore(given) : undefined;
    const mirrored = verb === 'mirror' ? this.#mirroredBefore(given) : undefined;
    const answered = act();
    fenced?.();
    settled?.();
    mirrored?.();
    if ('error' in answered) {
      this.#world.say(told.process.name, `${verb} failed`);
      this.lookAtAll(verb);
      return answered;
    }
    this.#answered(told, answered.answer);
    this.#look(told, answered.answer);
    return answered;
  }

  #answered({ process, verb, given }: Told, answer: unknown): void {
    if (verb === 'enqueue') {
      const added = (answer as EnqueueAnswer[]).filter(({ isNew }) => isNew);
      this.taskCount += added.length;
      for (const { id } of added) this.deadlines.given(id, 'enqueued');
    }
    if (verb === 'settle') {
      this.#settledBehind(given[1] as Settlement[], answer as SettleAnswer[]);
      this.deadlines.left(process, given[1] as Settlement[]);
      const parked = (given[1] as Settlement[]).filter((one) => one.to === 'waiting');
      const blocked = parked.filter(({ waitFor }) => waitFor === 'version').length;
      if (blocked > 0) this.#world.count('waits for a version', blocked);
    }
    if (verb === 'register') this.#born(given[0] as PodBirth);
    if (verb === 'act' && (answer as ActAnswer).kind === 'done') this.#acted(given[0] as Act);
    if (verb === 'claim') {
      this.deadlines.answered(given[0] as ClaimRequest, (answer as ClaimedTask[]).length);
      for (const task of answer as ClaimedTask[]) {
        this.#inHand(process, task);
        const hasBegun = this.#own(process, task);
        if (hasBegun && task.interruption) this.#world.count('take-overs');
      }
    }
    if (verb === 'take') this.#taken(process, given[0] as Taking, answer as ClaimedTask[]);
    if (verb === 'held') {
      for (const { task } of answer as ClaimedTask[]) {
        this.deadlines.told(this.#world.tables.tasks.get(task)!);
      }
    }
    const isQuiet = verb === 'beat' || verb === 'find' || (Array.isArray(answer) && !answer[0]);
    if (!isQuiet) this.#world.say(process.name, `${verb} ${brief(answer)}`);
    else if (this.#world.isTold) this.#world.tell(process.name, `${verb} ${brief(answer)}`);
  }

  /** I23: what a pod has in hand is restored to it on another server, and not begun again from there. */
  #inHand(process: Process, { task, epoch }: ClaimedTask): void {
    const live = this.engines.get(process)?.liveRun(task);
    if (!this.#world.rewound.has(task) || !live?.tie || live.isLost) return;
    const how = `under ${epoch}, and has it in hand under ${live.epoch}`;
    this.#world.violate('I23', `${process.name} claims ${task} ${how}`);
  }

  /** I16: what stands has its history there, from its beginning on, whichever server it came to. */
  #settledBehind(settlements: readonly Settlement[], answers: readonly SettleAnswer[]): void {
    if (this.rewinds.count === 0) return;
    answers.forEach(({ kind }, index) => {
      const { task, generation, lastSeq } = settlements[index]!;
      if (kind === 'stood' && lastSeq >= 0) this.acceptedRows(task, generation);
    });
  }

  #acted({ task, deed }: Act): void {
    if (deed.what === 'reschedule') this.deadlines.given(task, 'put off');
    if (deed.what === 'reschedule' || deed.what === 'retry') this.waits.rescheduled(task);
    if (deed.what === 'redrive') this.deadlines.given(task, 'redriven');
  }

  #taken(process: Process, taking: Taking, tasks: readonly ClaimedTask[]): void {
    const { to, from } = taking;
    const isWilling = this.#world.tables.pods.get(from)?.deadBy === from;
    if (tasks.length > 0) this.sweeps.taken(process, taking, isWilling);
    this.#world.count(to === 'taker' ? 'adoptions' : 'sweeps', tasks.length);
    if (to === 'taker') for (const task of tasks) this.#own(process, task, true);
  }

  #born(birth: PodBirth): void {
    if (!this.births.has(birth.pod)) this.births.set(birth.pod, birth);
  }

  /** I25: whoever is fresh by the store's clock is never swept. */
  #fenceBefore({ process, given: [pod, , because] }: Told): () => void {
    const { tables } = this.#world;
    const row = tables.pods.get(pod as PodId);
    const silentMs = row ? tables.now() - row.lastHeartbeat : 0;
    const before = row?.status;
    const heardAt = row?.lastHeartbeat ?? 0;
    return () => {
      if (because === 'proved' || row?.status === before) return;
      const { silentMs: max } = because as { silentMs: number };
      this.sweeps.fenced(process, pod as string, heardAt);
      if (silentMs <= max) this.#world.violate('I25', `${pod} was swept after ${silentMs} ms`);
    };
  }

  /** I8: a settlement of a claim that does not stand changes nothing. */
  #standBefore([pod, settlements]: readonly unknown[]): () => void {
    const { tables } = this.#world;
    const isLive = tables.isPod(pod as PodId, 'up', 'draining');
    const stands = ({ task, generation, epoch }: Settlement) => {
      const row = tables.tasks.get(task);
      return (
        isLive &&
        row?.status === 'claimed' &&
        row.claimedBy === pod &&
        row.claimEpoch === epoch &&
        row.generation === generation
      );
    };
    const all = settlements as Settlement[];
    // One of an older claim may travel with one that stands: that one may change the row.
    const standing = new Set(all.filter(stands).map(({ task }) => task));
    const lost = all.flatMap(({ task }) => {
      const row = tables.tasks.get(task);
      return standing.has(task) || !row ? [] : [{ row, before: JSON.stringify(row) }];
    });
    return () => {
      for (const { row, before } of lost) {
        if (JSON.stringify(row) === before) continue;
        this.#world.violate('I8', `${pod} settled ${row.taskId}, which was not its own`);
      }
    };
  }

  #mirroredBefore([, runs]: readonly unknown[]): () => void {
    const { tasks } = this.#world.tables;
    const unknown = (runs as MirroredRun[]).filter(({ id }) => !tasks.has(id));
    return () => {
      this.taskCount += unknown.filter(({ id }) => tasks.has(id)).length;
    };
  }

  /**
   * I14: what reaches the store of a run is on its owner's disk before. Whoever wants a call to fare
   * in a certain way says so here.
   */
  sent({ process, verb, given }: Told): CallFate | undefined {
    if (verb === 'claim') this.#claims(process);
    if (verb === 'fence' && given[2] !== 'proved') {
      this.sweeps.fenceSent(process, given as unknown as Fencing);
    }
    const disk = this.disks.get(process);
    if (!disk || (verb !== 'archive' && verb !== 'settle')) return undefined;
    const segments =
      verb === 'archive'
        ? (given[0] as Segment[])
        : (given[1] as Settlement[]).flatMap(({ tail }) => tail ?? []);
    for (const { task, generation, lastSeq, lastHash } of segments) {
      // Sent again, for want of an answer, when a redrive has brought the task back to the same disk.
      if ((disk.runs.get(task)?.generation ?? generation) > generation) continue;
      if (disk.events.get(task)?.[lastSeq]?.hash === lastHash) continue;
      // What another server is to be told again, or what came of a run that others have taken, may be off
      // this disk by the time that it is sent once more; it was on it before.
      if (disk.hadRecord(task, lastHash)) continue;
      // Or it was read in the store, from which it is lost: then whoever wrote it had it.
      if (this.#world.rewound.has(task) && this.#wasWritten(task, lastHash)) continue;
      this.#world.violate('I14', `${process.name} sent record ${lastSeq} of ${task} too early`);
    }
    return undefined;
  }

  #wasWritten(task: RunId, hash: string): boolean {
    return [...this.disks.values()].some((disk) => disk.hadRecord(task, hash));
  }

  /** I36: whoever cannot write anything down takes nothing in. */
  #claims(process: Process): void {
    this.#world.count('judged claims');
    if (!this.journals.get(process)?.stalledBy) return;
    this.#world.violate('I36', `${process.name} claims, and its journal cannot be written`);
  }

  /** What becomes of a call on its way. */
  fared({ verb, given }: Told, fate: CallFate, isStoreAway: boolean): void {
    if (verb === 'beat') this.sweeps.beatSent(given[0] as Beat, fate, isStoreAway);
  }

  /** An answer is about to reach its process. */
  delivered({ process, verb, given }: Told, answer: unknown): void {
    if (verb === 'beat') this.sweeps.beatHeard(process, given[0] as Beat, answer as BeatAnswer);
    if (verb === 'settle') {
      this.rewinds.settled(process, given[1] as Settlement[], answer as SettleAnswer[]);
    }
    if (verb === 'worklist') this.sweeps.looked(process, answer as Worklist);
  }

  /** An answer has reached its process: nothing to look at, and a point to be struck at. */
  heard(_told: Told): void {}

  /** Remembers what it was given; answers whether anything of it is on record. */
  #own(process: Process, task: ClaimedTask, isAdopted = false): boolean {
    const row = this.#world.tables.tasks.get(task.task);
    if (row?.status !== 'claimed' || row.claimEpoch !== task.epoch) return false;
    if (!this.#world.tables.isPod(row.claimedBy!, 'up')) {
      this.#world.violate('fence', `${row.claimedBy} was given ${task.task} and is not up`);
    }
    this.deadlines.claimed(row);
    const stored = this.acceptedRows(task.task, task.generation);
    const disk = this.disks.get(process);
    // What is still there of an earlier generation is no part of this one; nor is what is left of a hold
    // that was lost with a server of the store. Whoever adopts goes on from its own disk all the same.
    const isLeft = !isAdopted && this.#world.rewound.has(task.task);
    const isOwn = !isLeft && disk?.runs.get(task.task)?.generation === task.generation;
    const last = furthest(stored, (isOwn && disk?.events.get(task.task)) || []);
    this.claims.set(`${task.task} ${task.epoch}`, {
      pod: row.claimedBy ?? '',
      seq: last?.seq ?? -1,
      hash: last?.hash ?? '',
      state: last?.state ?? '',
      epoch: last?.epoch ?? 0,
    });
    return stored.length > 0;
  }

  /** What counts of a run's history, as the store has it. */
  acceptedRows(task: RunId, generation: number): EventRow[] {
    const segments = this.#world.tables.events
      .of(task)
      .filter((segment) => segment.generation === generation);
    if (segments.length === 0) return [];
    const row = this.#world.tables.tasks.get(task);
    try {
      return rowsOf(task, segments, row?.generation === generation ? row.lastHash : undefined);
    } catch (error) {
      this.#world.violate('I13', `${task}: ${(error as Error).message}`);
      return [];
    }
  }

  #look(told: Told, answer: unknown): void {
    const { verb, given } = told;
    const pod = POD[verb]?.(given);
    if (pod !== undefined) this.rows.lookAtPod(pod);
    const tasks = this.flow.called(told, answer, TASKS[verb](given, answer));
    if (tasks.length > 0) this.rows.lookAt(tasks, verb);
    if (++this.#calls % LOOK_AT_ALL_EVERY === 0) this.lookAtAll(verb);
    const { size } = this.#world.tables.tasks;
    if (size === this.taskCount) return;
    this.#world.violate('I3', `there are ${size} tasks, and ${this.taskCount} were enqueued`);
  }

  /** The store has lost commits, among them some of these. */
  rewound(tasks: ReadonlySet<string>): void {
    this.rewinds.rewound(tasks);
    this.rows.rewound();
    this.taskCount = this.#world.tables.tasks.size;
  }

  /** Every row: what no call has named must be as it was. */
  lookAtAll(when: string): void {
    this.rows.lookAtAll(when);
  }
}

/** The owner's own records, where they go on from what the store has; else the store's. */
function furthest(stored: readonly EventRow[], own: readonly EventRow[]): EventRow | undefined {
  const last = stored.at(-1);
  const goesOn = own.length >= stored.length && own[stored.length - 1]?.hash === last?.hash;
  return goesOn ? own.at(-1) : last;
}

/**
 * Looks at the shared tables after every call that was carried out, and at what is sent. Whatever may
 * never be, in any snapshot and in any change from one to the next, is a violation here.
 */

import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import type { EventRow } from '../../src/journal/index.ts';
import { violations } from '../../src/store/memory/rules.ts';
import { isEnded, type MemoryTables, type TaskRecord } from '../../src/store/memory/tables.ts';
import type { PodBirth } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClaimedTask, EnqueueAnswer, Segment, Settlement } from '../../src/store/tasks.ts';
import type { PodId, PodStatus } from '../../src/store/words.ts';
import type { Disk } from './disk.ts';
import type { Process } from './process.ts';
import { brief, endingOf, isSame, type Seen, seenOf } from './seen.ts';
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
}

const RANK: Record<PodStatus, number> = { up: 0, draining: 1, dead: 2, down: 3 };
/** What leaves the tasks as they are; whether it really does is looked at now and then. */
const READING: readonly (keyof Store)[] = [
  'beat',
  'find',
  'list',
  'held',
  'heads',
  'histories',
  'archive',
  'worklist',
  'leftovers',
  'hasSuspects',
];
const READING_EVERY = 20;
/** The rules that concern all tasks together are asked this often; those of changed ones always. */
const ALL_RULES_EVERY = 200;

export class Auditor {
  readonly #world: World;
  readonly #seen = new Map<string, Seen>();
  readonly #pods = new Map<string, { readonly rank: number; readonly seq: number }>();
  readonly #owners = new Map<string, string>();
  /** By task and epoch. */
  readonly claims = new Map<string, Snapshot>();
  readonly disks = new Map<Process, Disk>();
  readonly births = new Map<string, PodBirth>();
  #changes = 0;
  #readings = 0;
  /** Tasks the store has taken in. */
  taskCount = 0;

  constructor(world: World) {
    this.#world = world;
  }

  watch<A extends { readonly answer: unknown } | { readonly error: unknown }>(
    told: Told,
    act: () => A,
  ): A {
    const { verb, given } = told;
    const fenced = verb === 'fence' ? this.#fenceBefore(given) : undefined;
    const settled = verb === 'settle' ? this.#standBefore(given) : undefined;
    const answered = act();
    if ('error' in answered) this.#world.say(told.process.name, `${verb} failed`);
    else this.#answered(told, answered.answer);
    fenced?.();
    settled?.();
    const isEmptyClaim =
      verb === 'claim' && 'answer' in answered && (answered.answer as unknown[]).length === 0;
    this.#look(told, isEmptyClaim || READING.includes(verb));
    return answered;
  }

  #answered({ process, verb, given }: Told, answer: unknown): void {
    if (verb === 'enqueue') {
      this.taskCount += (answer as EnqueueAnswer[]).filter(({ isNew }) => isNew).length;
    }
    if (verb === 'register') this.#born(given[0] as PodBirth);
    if (verb === 'claim') for (const task of answer as ClaimedTask[]) this.#own(process, task);
    if (verb === 'take' && (given[0] as { to: string }).to === 'taker') {
      for (const task of answer as ClaimedTask[]) this.#own(process, task);
    }
    const isQuiet = verb === 'beat' || verb === 'find' || (Array.isArray(answer) && !answer[0]);
    if (!isQuiet || this.#world.isTold) this.#world.say(process.name, `${verb} ${brief(answer)}`);
  }

  #born(birth: PodBirth): void {
    if (!this.births.has(birth.pod)) this.births.set(birth.pod, birth);
  }

  /** I25: whoever is fresh by the store's clock is never swept. */
  #fenceBefore([pod, , because]: readonly unknown[]): () => void {
    const { tables } = this.#world;
    const row = tables.pods.get(pod as PodId);
    const silentMs = row ? tables.now() - row.lastHeartbeat : 0;
    const before = row?.status;
    return () => {
      if (because === 'proved' || row?.status === before) return;
      const { silentMs: max } = because as { silentMs: number };
      if (silentMs <= max) this.#world.violate('I25', `${pod} was swept after ${silentMs} ms`);
    };
  }

  /** I8: a settlement of a claim that does not stand changes nothing. */
  #standBefore([pod, settlements]: readonly unknown[]): () => void {
    const { tables } = this.#world;
    const isLive = tables.isPod(pod as PodId, 'up', 'draining');
    const lost = (settlements as Settlement[]).flatMap((settlement) => {
      const row = tables.tasks.get(settlement.task);
      const { generation, epoch } = settlement;
      const stands =
        isLive &&
        row?.status === 'claimed' &&
        row.claimedBy === pod &&
        row.claimEpoch === epoch &&
        row.generation === generation;
      return stands || !row ? [] : [{ row, before: JSON.stringify(row) }];
    });
    return () => {
      for (const { row, before } of lost) {
        if (JSON.stringify(row) === before) continue;
        this.#world.violate('I8', `${pod} settled ${row.taskId}, which was not its own`);
      }
    };
  }

  /** I14: what reaches the store of a run is on its owner's disk before. */
  sent({ process, verb, given }: Told): void {
    const disk = this.disks.get(process);
    if (!disk || (verb !== 'archive' && verb !== 'settle')) return;
    const segments =
      verb === 'archive'
        ? (given[0] as Segment[])
        : (given[1] as Settlement[]).flatMap(({ tail }) => tail ?? []);
    for (const { task, lastSeq, lastHash } of segments) {
      if (disk.events.get(task)?.[lastSeq]?.hash === lastHash) continue;
      this.#world.violate('I14', `${process.name} sent record ${lastSeq} of ${task} too early`);
    }
  }

  #own(process: Process, task: ClaimedTask): void {
    const row = this.#world.tables.tasks.get(task.task);
    if (row?.status !== 'claimed' || row.claimEpoch !== task.epoch) return;
    if (!this.#world.tables.isPod(row.claimedBy!, 'up')) {
      this.#world.violate('fence', `${row.claimedBy} was given ${task.task} and is not up`);
    }
    const stored = this.acceptedRows(task.task, task.generation);
    const last = furthest(stored, this.disks.get(process)?.events.get(task.task) ?? []);
    this.claims.set(`${task.task} ${task.epoch}`, {
      pod: row.claimedBy ?? '',
      seq: last?.seq ?? -1,
      hash: last?.hash ?? '',
      state: last?.state ?? '',
    });
  }

  /** What counts of a run's history, as the store has it. */
  acceptedRows(task: RunId, generation: number): EventRow[] {
    const segments: Segment[] = [];
    for (const segment of this.#world.tables.events.values()) {
      if (segment.task === task && segment.generation === generation) segments.push(segment);
    }
    try {
      return rowsOf(task, segments);
    } catch (error) {
      this.#world.violate('I13', `${task}: ${(error as Error).message}`);
      return [];
    }
  }

  #look(told: Told, isIdle: boolean): void {
    this.#lookAtPods();
    if (isIdle && ++this.#readings % READING_EVERY !== 0) return;
    const { tables } = this.#world;
    const changed: TaskRecord[] = [];
    for (const task of tables.tasks.values()) {
      const before = this.#seen.get(task.taskId);
      if (before && isSame(before, task)) continue;
      changed.push(task);
      this.#seen.set(task.taskId, seenOf(task));
      if (before) this.#compare(before, task);
      this.#ownOnce(task);
    }
    if (tables.tasks.size !== this.taskCount) {
      const counted = `${tables.tasks.size} tasks, and ${this.taskCount} were enqueued`;
      this.#world.violate('I3', `there are ${counted}`);
    }
    if (changed.length === 0) return;
    const isForAll = ++this.#changes % ALL_RULES_EVERY === 0;
    const broken = violations(isForAll ? tables : only(tables, changed));
    for (const { rule, examples } of broken) {
      this.#world.violate('structure', `${rule}: ${examples[0]}, after ${told.verb}`);
    }
  }

  #compare(before: Seen, task: TaskRecord): void {
    const { taskId, claimEpoch, generation, claimedBy } = task;
    const fault = (promise: string, how: string) =>
      this.#world.violate(promise, `${taskId} ${how}`);
    if (claimEpoch < before.claimEpoch) {
      fault('I7', `fell from epoch ${before.claimEpoch} to ${claimEpoch}`);
    }
    const hasNewOwner = claimedBy !== undefined && claimedBy !== before.claimedBy;
    if (hasNewOwner && claimEpoch <= before.claimEpoch) {
      fault('I7', `went from ${before.claimedBy} to ${claimedBy} under epoch ${claimEpoch}`);
    }
    const hadEnded = ['completed', 'failed', 'cancelled'].includes(before.status);
    if (hadEnded && generation === before.generation && endingOf(before) !== endingOf(task)) {
      fault('I4', `ended as ${endingOf(before)}, and then as ${endingOf(task)}`);
    }
    if (generation < before.generation) fault('I4', 'went back to an earlier generation');
    if (before.claimedBy !== undefined && claimedBy === undefined && !isEnded(task)) {
      if (claimEpoch <= before.claimEpoch) fault('I7', `was let go of under epoch ${claimEpoch}`);
    }
  }

  /** I7, I9: each epoch of a task has one owner, ever. */
  #ownOnce({ taskId, claimEpoch, claimedBy }: TaskRecord): void {
    if (claimedBy === undefined) return;
    const claim = `${taskId} ${claimEpoch}`;
    const owner = this.#owners.get(claim);
    if (owner !== undefined && owner !== claimedBy) {
      this.#world.violate('I9', `${claim} belonged to ${owner}, and now to ${claimedBy}`);
    }
    this.#owners.set(claim, claimedBy);
  }

  #lookAtPods(): void {
    for (const { podId, status, beatSeq } of this.#world.tables.pods.values()) {
      const before = this.#pods.get(podId);
      const rank = RANK[status];
      if (before?.rank === rank && before.seq === beatSeq) continue;
      this.#pods.set(podId, { rank, seq: beatSeq });
      if (before && rank < before.rank) this.#world.violate('pods', `${podId} is ${status} again`);
      if (before && beatSeq < before.seq) this.#world.violate('pods', `${podId} beats backwards`);
      if (before && before.rank >= RANK.dead && beatSeq > before.seq) {
        this.#world.violate('pods', `${podId} beats though it is dead`);
      }
    }
  }
}

/** The owner's own records, where they go on from what the store has; else the store's. */
function furthest(stored: readonly EventRow[], own: readonly EventRow[]): EventRow | undefined {
  const last = stored.at(-1);
  const goesOn = own.length >= stored.length && own[stored.length - 1]?.hash === last?.hash;
  return goesOn ? own.at(-1) : last;
}

/** The tables with these tasks only: whatever is wrong with the others was told when they changed. */
function only(tables: MemoryTables, tasks: readonly TaskRecord[]): MemoryTables {
  const isPod: MemoryTables['isPod'] = (pod, ...statuses) => tables.isPod(pod, ...statuses);
  const tasksWhere: MemoryTables['tasksWhere'] = (is) => tasks.filter(is);
  return { tasksWhere, isPod, events: tables.events } as unknown as MemoryTables;
}

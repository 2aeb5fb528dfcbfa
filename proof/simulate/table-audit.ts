/**
 * Compares the shared tables with what they were: rows that a call named right after it, all rows now
 * and then. So a change is judged at once, and one that no call had named is a violation by itself.
 */
import { hasToldItsEnd } from '../../src/store/memory/archive.ts';
import { violations } from '../../src/store/memory/rules.ts';
import {
  isEnded,
  type MemoryTables,
  type PodRecord,
  type TaskRecord,
} from '../../src/store/memory/tables.ts';
import type { PodId, PodStatus } from '../../src/store/words.ts';
import type { Change } from '../history/evidence.ts';
import { changeOf, endingOf, isSame, type Seen, seenOf } from './seen.ts';
import type { World } from './world.ts';

const RANK: Record<PodStatus, number> = { up: 0, draining: 1, dead: 2, down: 3 };

/** Every so many looks at all rows, all rules are asked of all of them; of changed ones always. */
const ALL_RULES_EVERY = 5;

interface SeenPod {
  readonly rank: number;
  readonly seq: number;
}

export class TableAudit {
  readonly #world: World;
  readonly #tables: MemoryTables;
  readonly #seen = new Map<string, Seen>();
  readonly #pods = new Map<string, SeenPod>();
  #looks = 0;
  readonly #owners = new Map<string, string>();
  /** When each pod that has died was first seen to be dead, by the true time. */
  readonly deaths = new Map<string, number>();
  /** All that was ever seen of each task, by the true time. */
  readonly changes = new Map<string, Change[]>();

  constructor(world: World) {
    this.#world = world;
    this.#tables = world.tables;
  }

  /** What this call has named. */
  lookAt(tasks: readonly string[], verb: string): void {
    const changed: TaskRecord[] = [];
    for (const id of tasks) {
      const task = this.#tables.tasks.get(id);
      if (task && this.#see(task)) changed.push(task);
    }
    if (changed.length > 0) this.#judge(only(this.#tables, changed), verb);
  }

  lookAtPod(id: string): void {
    const pod = this.#tables.pods.get(id);
    if (pod) this.#seePod(pod);
  }

  /** The tables are as they were some time ago: what comes from now on is judged from there. */
  rewound(): void {
    this.#seen.clear();
    this.#pods.clear();
    for (const task of this.#tables.tasks.values()) this.#seen.set(task.taskId, seenOf(task));
    for (const [podId, { status, beatSeq: seq }] of this.#tables.pods) {
      this.#pods.set(podId, { rank: RANK[status], seq });
      if (RANK[status] < RANK.dead) this.deaths.delete(podId);
    }
  }

  /** Everything. What was named has been looked at: nothing is new by now. */
  lookAtAll(verb: string): void {
    for (const task of this.#tables.tasks.values()) {
      if (!this.#see(task)) continue;
      this.#world.violate('stray', `${task.taskId} was changed, and no call had named it`);
    }
    for (const pod of this.#tables.pods.values()) this.#seePod(pod);
    if (this.#looks++ % ALL_RULES_EVERY === 0) this.#judge(this.#tables, verb);
  }

  #judge(tables: MemoryTables, verb: string): void {
    for (const { rule, examples } of violations(tables)) {
      this.#world.violate('structure', `${rule}: ${examples[0]}, after ${verb}`);
    }
  }

  /** Whether it has changed. */
  #see(task: TaskRecord): boolean {
    const before = this.#seen.get(task.taskId);
    if (before && isSame(before, task)) return false;
    const seen = seenOf(task);
    this.#seen.set(task.taskId, seen);
    // Whoever has lost it may have died by this very call.
    if (before?.claimedBy !== undefined) this.lookAtPod(before.claimedBy);
    const change = changeOf(before, seen, this.#world.nowMs);
    const changes = this.changes.get(task.taskId);
    if (changes) changes.push(change);
    else this.changes.set(task.taskId, [change]);
    if (before) this.#compare(before, task);
    this.#ownOnce(task);
    return true;
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
    if (generation > before.generation && (!hadEnded || generation !== before.generation + 1)) {
      fault('I30', `went from generation ${before.generation} to ${generation}`);
    }
    if (before.claimedBy !== undefined && claimedBy === undefined && !isEnded(task)) {
      if (claimEpoch <= before.claimEpoch) fault('I7', `was let go of under epoch ${claimEpoch}`);
    }
    if (before.control === 'pause') this.#compareOwners(before, task);
  }

  /** I40: nobody is given what is to pause, unless there is nothing left of it but to tell its end. */
  #compareOwners({ claimedBy: before }: Seen, task: TaskRecord): void {
    const { taskId, claimedBy, control, generation } = task;
    if (before === undefined || before === claimedBy) return;
    if (this.#tables.isPod(before as PodId, 'dead')) this.#world.count('pauses at rescues');
    if (claimedBy === undefined || control !== 'pause') return;
    if (hasToldItsEnd(this.#tables, task)) return;
    const whose = `${claimedBy}, which took it from ${before}`;
    this.#world.violate('I40', `${taskId} (${generation}) is to pause, and is given to ${whose}`);
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

  #seePod({ podId, status, beatSeq }: PodRecord): void {
    const before = this.#pods.get(podId);
    const rank = RANK[status];
    if (before?.rank === rank && before.seq === beatSeq) return;
    this.#pods.set(podId, { rank, seq: beatSeq });
    if (rank >= RANK.dead && !this.deaths.has(podId)) this.deaths.set(podId, this.#world.nowMs);
    if (!before) return;
    if (rank < before.rank) this.#world.violate('pods', `${podId} is ${status} again`);
    if (beatSeq < before.seq) this.#world.violate('pods', `${podId} beats backwards`);
    if (before.rank >= RANK.dead && beatSeq > before.seq) {
      this.#world.violate('pods', `${podId} beats though it is dead`);
    }
  }
}

/** The tables with these tasks only: whatever is wrong with the others was told when they changed. */
function only(tables: MemoryTables, tasks: readonly TaskRecord[]): MemoryTables {
  const isPod: MemoryTables['isPod'] = (pod, ...statuses) => tables.isPod(pod, ...statuses);
  const tasksWhere: MemoryTables['tasksWhere'] = (is) => tasks.filter(is);
  return { tasksWhere, isPod, events: tables.events } as unknown as MemoryTables;
}

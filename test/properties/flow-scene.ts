/**
 * Eight claimers on tables in memory, and whatever people and deaths do to tasks with serial keys and to
 * queues with limits. Every step is looked at from both sides: the tables before it, and after it.
 */
import { expect } from 'vitest';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { MemoryTables, type TaskRecord } from '../../src/store/memory/tables.ts';
import type { FlowDeed } from '../../src/store/queues.ts';
import type { ClaimedTask, Settlement } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { doTo } from '../store/acts.ts';
import {
  birthOf,
  claimRequest,
  completed,
  failed,
  newTask,
  parked,
  podOf,
  released,
} from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

export const CLAIMER_COUNT = 8;
export const KEYS = [undefined, 'a', 'b', 'c'] as const;
export const QUEUES = ['default', 'tight', 'wide'] as const;

export type Step =
  | {
      readonly do: 'enqueue';
      readonly key: number;
      readonly queue: number;
      readonly afterMs: number;
    }
  | { readonly do: 'claim'; readonly pod: number; readonly count: number }
  | { readonly do: 'settle'; readonly nth: number; readonly how: number }
  | { readonly do: 'die'; readonly pod: number }
  | { readonly do: 'act'; readonly nth: number; readonly what: number }
  | { readonly do: 'limit'; readonly queue: number; readonly limit: number }
  | { readonly do: 'stand'; readonly queue: number; readonly isPaused: boolean }
  | { readonly do: 'pass'; readonly ms: number };

interface Held {
  readonly pod: PodId;
  readonly claim: ClaimedTask;
}

const SETTLEMENTS: readonly ((claim: ClaimedTask) => Settlement)[] = [
  (claim) => completed(claim),
  (claim) => failed(claim),
  (claim) => released(claim),
  (claim) => parked(claim, 'sleep', 500),
  (claim) => parked(claim, 'retry', 0, { retriesAdd: 1 }),
];
const ACTS = [
  { what: 'cancel', reason: 'enough' },
  { what: 'pause' },
  { what: 'resume' },
  { what: 'reschedule', due: { afterMs: 300 } },
  { what: 'reschedule', due: { afterMs: 0 } },
  { what: 'redrive', isFresh: true },
] as const;

export class FlowScene {
  readonly #clock = new FakeClock();
  readonly #tables = new MemoryTables({ clock: this.#clock, random: seededRandom(1) });
  readonly #store = new MemoryStore(this.#tables);
  readonly #lives = Array.from({ length: CLAIMER_COUNT }, () => 0);
  #held: Held[] = [];
  #changeCount = 0;

  async begin(): Promise<void> {
    for (let pod = 0; pod < CLAIMER_COUNT; pod += 1) await this.#born(pod);
  }

  async take(step: Step): Promise<void> {
    const before = new Map([...this.#tables.tasks].map(([id, task]) => [id, { ...task }]));
    await this.#perform(step);
    this.#expectTurns(before);
    this.#expectLimits(before);
  }

  /** Everything may go on from here, and does: nothing is stuck. */
  async finish(): Promise<void> {
    for (const queue of QUEUES) {
      await this.#change({ what: 'queue.limit', queue, limit: 2 });
      await this.#change({ what: 'queue.resume', queue });
    }
    for (const { taskId } of this.#open()) {
      if (this.#tables.tasks.get(taskId)!.paused)
        await doTo(this.#store, taskId, { what: 'resume' });
    }
    const roundCountMax = 3 * this.#tables.tasks.size + 20;
    for (let round = 0; round < roundCountMax && this.#open().length > 0; round += 1) {
      this.#clock.pass(1_000);
      for (let pod = 0; pod < CLAIMER_COUNT; pod += 1) {
        for (const head of ['ready', 'suspect'] as const) {
          await this.#claim(pod, 4, head);
        }
      }
      for (const held of this.#held.splice(0)) {
        await this.#store.settle(held.pod, [completed(held.claim)]);
      }
    }
    expect(
      this.#open().map(({ taskId, status, waitFor }) => ({ taskId, status, waitFor })),
    ).toEqual([]);
  }

  #open(): TaskRecord[] {
    return this.#tables.tasksWhere(({ finishedAt }) => finishedAt === undefined);
  }

  async #perform(step: Step): Promise<void> {
    switch (step.do) {
      case 'enqueue': {
        const [serialKey, queue] = [KEYS[step.key], QUEUES[step.queue]!];
        await this.#store.enqueue([newTask({ serialKey, queue, due: { afterMs: step.afterMs } })]);
        return;
      }
      case 'claim':
        return this.#claim(step.pod, step.count, 'ready');
      case 'settle': {
        const [held] = this.#held.splice(step.nth % (this.#held.length || 1), 1);
        if (held) await this.#store.settle(held.pod, [SETTLEMENTS[step.how]!(held.claim)]);
        return;
      }
      case 'die':
        return this.#die(step.pod);
      case 'act': {
        const tasks = this.#tables.tasksWhere(() => true);
        const task = tasks[step.nth % (tasks.length || 1)];
        if (task) await doTo(this.#store, task.taskId, ACTS[step.what]!);
        return;
      }
      case 'limit':
        return this.#change({ what: 'queue.limit', queue: QUEUES[step.queue]!, limit: step.limit });
      case 'stand': {
        const what = step.isPaused ? 'queue.pause' : 'queue.resume';
        return this.#change({ what, queue: QUEUES[step.queue]! });
      }
      case 'pass':
        this.#clock.pass(step.ms);
    }
  }

  async #claim(pod: number, countMax: number, head: 'ready' | 'suspect'): Promise<void> {
    const id = this.#podOf(pod);
    const claims = await this.#store.claim(claimRequest(id, { countMax, head }));
    this.#held.push(...claims.map((claim) => ({ pod: id, claim })));
  }

  async #change(deed: FlowDeed): Promise<void> {
    this.#changeCount += 1;
    const requestId = `change-${this.#changeCount}`;
    await this.#store.changeFlow({ requestId, who: 'ann', via: 'test', deed });
  }

  #podOf(pod: number): PodId {
    return podOf(`${pod}-${this.#lives[pod]}`);
  }

  async #born(pod: number): Promise<void> {
    await this.#store.register(birthOf(`${pod}-${this.#lives[pod]}`));
  }

  /** Its late settlements are refused; the next life of it comes with another id. */
  async #die(pod: number): Promise<void> {
    const [from, by] = [this.#podOf(pod), podOf('sweeper')];
    await this.#store.fence(from, by, 'proved');
    const crashed = { crashed: 'all', spreadMs: 100 } as const;
    await this.#store.take({ from, by, to: 'pool', countMax: 100, ...crashed });
    this.#lives[pod]! += 1;
    await this.#born(pod);
  }

  #expectTurns(before: ReadonlyMap<string, TaskRecord>): void {
    const holders = this.#tables.tasksWhere(({ serialHeld }) => serialHeld);
    const names = holders.map(({ queue, serialKey }) => `${queue} ${serialKey}`);
    expect(new Set(names).size, 'one task of a key has the turn').toBe(names.length);
    for (const task of this.#tables.tasksWhere(({ serialKey }) => serialKey !== undefined)) {
      const isActive = task.status === 'claimed' || task.status === 'pending';
      if (isActive) expect(task.serialHeld, 'what may run has the turn').toBe(true);
    }
    const now = this.#clock.now();
    for (const holder of holders) {
      if (before.get(holder.taskId)?.serialHeld) continue;
      const dueAt = before.get(holder.taskId)?.runAt ?? holder.createdAt;
      const passedOver = this.#tables.tasksWhere(
        (task) =>
          task.queue === holder.queue &&
          task.serialKey === holder.serialKey &&
          task.waitFor === 'turn' &&
          !task.paused &&
          task.runAt <= now &&
          (task.runAt < Math.min(dueAt, now) ||
            (task.runAt === Math.min(dueAt, now) && task.taskId < holder.taskId)),
      );
      expect(
        passedOver.map(({ taskId }) => taskId),
        'the first that is due is next',
      ).toEqual([]);
    }
  }

  #expectLimits(before: ReadonlyMap<string, TaskRecord>): void {
    for (const [queue, { limit, isPaused }] of this.#tables.flow.queues) {
      const isHere = (task: TaskRecord) => task.queue === queue && task.status === 'claimed';
      const claimed = this.#tables.tasksWhere(isHere).length;
      const earlier = [...before.values()].filter(isHere).length;
      const most = isPaused ? 0 : (limit ?? Number.POSITIVE_INFINITY);
      // What was claimed before a limit came stays so; nothing is added to it.
      expect(claimed, `${queue} is within its limit`).toBeLessThanOrEqual(Math.max(most, earlier));
    }
  }
}

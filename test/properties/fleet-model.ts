/**
 * What the shared tables promise, as a model of a few lines for each verb: who holds what under which
 * epoch, how often its owners died, and what was archived. It knows nothing of how a store does it.
 */
import type { SettleAnswer } from '../../src/store/tasks.ts';
import { type Claim, CRASHES_MAX, type PodId, SUSPECT_CRASHES } from '../../src/store/words.ts';

export const SILENT_MS = 15_000;

export interface ModelTask {
  readonly id: string;
  readonly key: string | undefined;
  status: 'pending' | 'waiting' | 'claimed' | 'completed' | 'failed' | 'cancelled';
  generation: number;
  epoch: number;
  owner: PodId | undefined;
  dueMs: number;
  crashes: number;
  retries: number;
  isCancelWanted: boolean;
  endedMs: number | undefined;
  /** Of each generation and epoch, the last record that was archived. */
  readonly archived: Map<string, number>;
}

export interface ModelPod {
  status: 'up' | 'draining' | 'dead' | 'down';
  seq: number;
  beatMs: number;
}

export type Way = 'completed' | 'failed' | 'cancelled' | 'released' | 'parked' | 'retry';
export const WAYS: readonly Way[] = [
  ...(['completed', 'failed', 'cancelled', 'released', 'parked', 'retry'] as const),
];

export class FleetModel {
  nowMs = 0;
  readonly tasks = new Map<string, ModelTask>();
  readonly pods = new Map<PodId, ModelPod>();
  /** Every claim that was ever given out, with whom it was given to. */
  readonly claims: { readonly pod: PodId; readonly claim: Claim }[] = [];

  isLive(pod: PodId): boolean {
    return ['up', 'draining'].includes(this.pods.get(pod)?.status ?? '');
  }

  enqueue(id: string, key: string | undefined): { readonly id: string; readonly isNew: boolean } {
    const there = [...this.tasks.values()].find((task) => key !== undefined && task.key === key);
    if (there) return { id: there.id, isNew: false };
    this.tasks.set(id, {
      id,
      key,
      status: 'pending',
      generation: 1,
      epoch: 0,
      owner: undefined,
      dueMs: this.nowMs,
      crashes: 0,
      retries: 0,
      isCancelWanted: false,
      endedMs: undefined,
      archived: new Map(),
    });
    return { id, isNew: true };
  }

  /** Those a pod is given, in order. Suspects are for processes of their own. */
  claim(pod: PodId, countMax: number, isForSuspects: boolean): Claim[] {
    if (this.pods.get(pod)?.status !== 'up') return [];
    return [...this.tasks.values()]
      .filter(({ status }) => status === 'pending' || status === 'waiting')
      .filter(({ dueMs }) => dueMs <= this.nowMs)
      .filter(({ crashes }) => crashes >= SUSPECT_CRASHES === isForSuspects)
      .sort((a, b) => a.dueMs - b.dueMs || (a.id < b.id ? -1 : 1))
      .slice(0, countMax)
      .map((task) => {
        task.status = 'claimed';
        return this.#give(task, pod);
      });
  }

  #give(task: ModelTask, pod: PodId): Claim {
    task.epoch += 1;
    task.owner = pod;
    const claim = { task: task.id as never, generation: task.generation, epoch: task.epoch };
    this.claims.push({ pod, claim });
    return claim;
  }

  settle(pod: PodId, claim: Claim, way: Way, waitMs: number): SettleAnswer['kind'] {
    const task = this.tasks.get(claim.task);
    if (task?.generation !== claim.generation || task.epoch !== claim.epoch) return 'lost';
    if (task.endedMs !== undefined) return 'done';
    if (task.owner !== pod || !this.isLive(pod)) return 'lost';
    if (way === 'retry') task.retries += 1;
    if (way === 'completed' || way === 'failed' || way === 'cancelled') {
      this.#end(task, way);
    } else if (task.isCancelWanted) {
      this.#end(task, 'cancelled');
    } else {
      this.#letGo(task);
      task.epoch += 1;
      task.status = way === 'released' ? 'pending' : 'waiting';
      if (way !== 'released') task.dueMs = this.nowMs + waitMs;
    }
    return 'stood';
  }

  archive(claim: Claim, lastSeq: number): void {
    const task = this.tasks.get(claim.task);
    const name = `${claim.generation} ${claim.epoch}`;
    task?.archived.set(name, Math.max(lastSeq, task.archived.get(name) ?? -1));
  }

  #end(task: ModelTask, status: 'completed' | 'failed' | 'cancelled'): void {
    this.#letGo(task);
    task.status = status;
    task.endedMs = this.nowMs;
  }

  #letGo(task: ModelTask): void {
    task.owner = undefined;
    task.isCancelWanted = false;
  }

  /** Whoever was silent for too long is dead, and what it held is taken once; then it is down. */
  sweep(): void {
    for (const pod of this.pods.values()) {
      const isSilent = this.nowMs - pod.beatMs > SILENT_MS;
      if ((pod.status === 'up' || pod.status === 'draining') && isSilent) pod.status = 'dead';
    }
    for (const [id, pod] of this.pods) {
      if (pod.status !== 'dead') continue;
      for (const task of this.#heldBy(id)) this.#take(task, 'pool', true);
      pod.status = 'down';
    }
  }

  /** The successor of a pod on its disk goes on with what it held; suspects it does not run itself. */
  adopt(from: PodId, by: PodId): void {
    const pod = this.pods.get(from);
    if (pod && this.isLive(from)) pod.status = 'dead';
    if (pod?.status !== 'dead') return;
    for (const task of this.#heldBy(from)) this.#take(task, by, true);
    pod.status = 'down';
  }

  /** It leaves by itself: what it still holds goes back and costs nothing. */
  drain(pod: PodId): void {
    const row = this.pods.get(pod);
    if (!row || !this.isLive(pod)) return;
    for (const task of this.#heldBy(pod)) this.#take(task, 'pool', false);
    row.status = 'down';
  }

  #heldBy(pod: PodId): ModelTask[] {
    return [...this.tasks.values()].filter(({ owner }) => owner === pod);
  }

  #take(task: ModelTask, to: PodId | 'pool', isCrash: boolean): void {
    if (isCrash) task.crashes += 1;
    const isGiven = to !== 'pool' && task.crashes < SUSPECT_CRASHES && !task.isCancelWanted;
    if (isGiven) {
      this.#give(task, to);
      return;
    }
    task.epoch += 1;
    if (task.isCancelWanted) return this.#end(task, 'cancelled');
    if (isCrash && task.crashes >= CRASHES_MAX) return this.#end(task, 'failed');
    this.#letGo(task);
    task.status = 'pending';
    task.dueMs = this.nowMs;
  }

  cancel(id: string): string {
    const task = this.tasks.get(id);
    if (!task) return 'unknown';
    if (task.endedMs !== undefined) return task.status === 'cancelled' ? 'done' : 'tooLate';
    if (task.status === 'claimed') {
      task.isCancelWanted = true;
      return 'requested';
    }
    task.epoch += 1;
    this.#end(task, 'cancelled');
    return 'done';
  }

  redrive(id: string, seen: number): number | undefined {
    const task = this.tasks.get(id);
    if (!task || task.endedMs === undefined || task.generation !== seen) return undefined;
    // There is nothing to go on from: only a fresh one would begin again.
    if (task.status === 'completed') return undefined;
    const { generation, epoch } = task;
    Object.assign(task, { generation: generation + 1, epoch: epoch + 1, status: 'pending' });
    Object.assign(task, { dueMs: this.nowMs, crashes: 0, retries: 0, endedMs: undefined });
    return task.generation;
  }

  reschedule(id: string, afterMs: number): string {
    const task = this.tasks.get(id);
    if (!task) return 'unknown';
    if (task.status !== 'pending' && task.status !== 'waiting') return 'tooLate';
    task.dueMs = this.nowMs + afterMs;
    task.status = afterMs > 0 ? 'waiting' : 'pending';
    return 'done';
  }

  /** Those that ended longer ago; a key keeps its task for a while. */
  prune(olderMs: number, keyMs: number): number {
    const old = [...this.tasks.values()].filter(({ endedMs = this.nowMs, key }) => {
      const isKept = key !== undefined && this.nowMs - endedMs <= keyMs;
      return this.nowMs - endedMs > olderMs && !isKept;
    });
    for (const { id } of old) this.tasks.delete(id);
    return old.length;
  }
}

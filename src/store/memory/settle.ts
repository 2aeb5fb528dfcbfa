/** Tasks on their way out of their owners' hands, under the fences of the task and of the pod. */
import { COUNT_MAX, raised } from '../bounds.ts';
import { cancelledBecause, RETRIES_SPENT } from '../reasons.ts';
import type { SettleAnswer, Settlement } from '../tasks.ts';
import type { EndStatus, PodId } from '../words.ts';
import { forkIn, put } from './archive.ts';
import { by, isEnded, type MemoryTables, type TaskRecord, unstorable } from './tables.ts';
import { noteServed } from './turns.ts';

export interface Ending {
  readonly to: EndStatus;
  readonly outcome: string;
  readonly result: string | undefined;
  readonly error: string | undefined;
}

/** What ends a task is the same whoever ends it; whether the epoch rises is not. */
export function end(tables: MemoryTables, task: TaskRecord, ending: Ending): void {
  const now = tables.now();
  if (tables.flow.queues.has(task.queue)) tables.hint('ready');
  letGo(task, now);
  task.serialHeld = false;
  task.status = ending.to;
  task.outcome = ending.outcome;
  task.result = ending.result;
  task.error = ending.error;
  task.finishedAt = now;
  task.keyUntil = task.key === undefined ? undefined : now + task.keyMs;
  tables.hint('ended');
}

/** Nobody's any more, and free of what was asked of its owner. */
export function letGo(task: TaskRecord, now: number): void {
  task.waitFor = undefined;
  task.claimedBy = undefined;
  task.claimToken = undefined;
  task.claimedAt = undefined;
  task.control = undefined;
  task.controlReason = undefined;
  task.lastUpdate = now;
}

/** Its owner lets go of it, one way or another: what it was asked to is so from now on. */
export function keepPause(task: TaskRecord): void {
  if (task.control === 'pause') task.paused = true;
}

export function cancelledEnding(task: TaskRecord): Ending {
  const error = cancelledBecause(task.controlReason ?? 'it was asked for');
  return { to: 'cancelled', outcome: 'cancelled', result: undefined, error };
}

export function settle(
  tables: MemoryTables,
  pod: PodId,
  settlements: readonly Settlement[],
): SettleAnswer[] {
  const answers = new Map<Settlement, SettleAnswer>();
  for (const settlement of settlements.toSorted(by(({ task }) => task))) {
    answers.set(settlement, settleOne(tables, pod, settlement));
  }
  return settlements.map((settlement) => answers.get(settlement)!);
}

function settleOne(tables: MemoryTables, pod: PodId, settlement: Settlement): SettleAnswer {
  const { task: id, generation, epoch } = settlement;
  const reason = refusal(settlement);
  if (reason !== undefined) return { task: id, kind: 'refused', reason };
  const task = tables.tasks.get(id);
  if (!task || task.generation !== generation || task.claimEpoch !== epoch) {
    return { task: id, kind: 'lost' };
  }
  // A terminal settle keeps the epoch and everybody else raises it, so this end is of our making.
  if (isEnded(task)) return { task: id, kind: 'done' };
  if (task.claimedBy !== pod || !tables.isPod(pod, 'up', 'draining')) {
    return { task: id, kind: 'lost' };
  }
  const fork = settlement.tail && forkIn(tables, settlement.tail);
  if (fork !== undefined) {
    return { task: id, kind: 'refused', reason: `the history has forked: ${fork}` };
  }
  apply(tables, task, settlement);
  return { task: id, kind: 'stood' };
}

function refusal(settlement: Settlement): string | undefined {
  const { tail, lastHash } = settlement;
  const texts = [lastHash, tail?.state, tail?.events, tail?.prevHash, tail?.lastHash];
  if (settlement.to === 'pending' || settlement.to === 'waiting') return unstorable(...texts);
  const { outcome, result, error } = settlement;
  if (settlement.to === 'failed' && error === undefined) return 'a failed task has no error';
  return unstorable(...texts, outcome, result, error);
}

function apply(tables: MemoryTables, task: TaskRecord, settlement: Settlement): void {
  const now = tables.now();
  task.lastSeq = settlement.lastSeq;
  task.lastHash = settlement.lastHash;
  task.version = settlement.version ?? task.version;
  task.retryCount = Math.min(task.retryCount + settlement.retriesAdd, COUNT_MAX);
  if (settlement.hasCompletedStep) task.crashes = 0;
  if (!('isUntouched' in settlement && settlement.isUntouched)) task.interrupted = undefined;
  if (settlement.tail) put(tables, settlement.tail);
  const ending = endingOf(task, settlement);
  if (ending) {
    noteServed(tables, task);
    end(tables, task, ending);
    return;
  }
  keepPause(task);
  letGo(task, now);
  task.claimEpoch = raised(task.claimEpoch);
  if (settlement.to === 'waiting') {
    task.status = 'waiting';
    task.waitFor = settlement.waitFor;
    task.runAt = Math.min(now + settlement.afterMs, task.deadlineAt ?? Number.POSITIVE_INFINITY);
  } else if (settlement.to === 'pending') {
    task.status = 'pending';
    tables.hint('ready');
  }
}

/** How this settlement ends the task, by its own word or by what was asked or allowed before. */
function endingOf(task: TaskRecord, settlement: Settlement): Ending | undefined {
  if (settlement.to !== 'pending' && settlement.to !== 'waiting') return settlement;
  if (task.control === 'cancel') return cancelledEnding(task);
  const isRetry = settlement.to === 'waiting' && settlement.waitFor === 'retry';
  if (isRetry && task.retryCount > (task.retriesMax ?? Number.POSITIVE_INFINITY)) {
    return { to: 'failed', outcome: 'exhausted', result: undefined, error: RETRIES_SPENT };
  }
  return undefined;
}

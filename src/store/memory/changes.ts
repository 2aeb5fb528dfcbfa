/** What people change and see: cancel, reschedule, redrive, discard; find and list. */

import { assert, isoTime, type RunId } from '../../ground/index.ts';
import { boundedSpan, boundedTime, raised } from '../bounds.ts';
import type { ChangeAnswer, Due, TaskFilter, TaskRow } from '../tasks.ts';
import type { WaitFor } from '../words.ts';
import { hasToldItsEnd, histories, OUTCOME_STATE, put } from './archive.ts';
import { dueAt } from './claims.ts';
import { taskRowOf } from './rows.ts';
import { cancelledEnding, end } from './settle.ts';
import { by, isEnded, type MemoryTables, refuseUnstorable, type TaskRecord } from './tables.ts';

interface Seen {
  readonly generation: number;
}

export function cancel(tables: MemoryTables, id: RunId, reason: string): ChangeAnswer {
  refuseUnstorable(reason);
  const task = tables.tasks.get(id);
  if (!task) return 'unknown';
  if (isEnded(task)) return task.status === 'cancelled' ? 'done' : 'tooLate';
  if (task.status !== 'claimed' && hasToldItsEnd(tables, task)) return 'tooLate';
  if (task.control !== 'cancel') {
    task.control = 'cancel';
    task.controlReason = reason;
    task.lastUpdate = tables.now();
  }
  if (task.status === 'claimed') return 'requested';
  task.claimEpoch = raised(task.claimEpoch);
  end(tables, task, cancelledEnding(task));
  return 'done';
}

/** The others are woken by something else than time. */
const TIMED: readonly (WaitFor | undefined)[] = ['time', 'retry', 'sleep'];

export function reschedule(tables: MemoryTables, id: RunId, due: Due): ChangeAnswer {
  const task = tables.tasks.get(id);
  if (!task) return 'unknown';
  const isTimed = task.status === 'waiting' && TIMED.includes(task.waitFor);
  if (task.status !== 'pending' && !isTimed) return 'tooLate';
  const now = tables.now();
  const runAt = dueAt(due, now);
  if (task.deadlineAt !== undefined) {
    // What is put off has as long as before once it is due.
    const laterMs = Math.max(0, runAt - Math.max(task.runAt, now));
    task.deadlineAt = boundedTime(task.deadlineAt + laterMs);
  }
  task.runAt = runAt;
  const isLater = runAt > now;
  task.status = isLater ? 'waiting' : 'pending';
  task.waitFor = isLater ? (task.waitFor ?? 'time') : undefined;
  task.lastUpdate = now;
  tables.hint('ready');
  return 'done';
}

export function redrive(
  tables: MemoryTables,
  id: RunId,
  { generation }: Seen,
  { isFresh }: { readonly isFresh: boolean },
): number | undefined {
  const task = tables.tasks.get(id);
  if (!task || !isEnded(task) || task.generation !== generation) return undefined;
  // A run of a host is in that host's journal, and has ended there.
  if (task.pinnedTo !== undefined) return undefined;
  const begun = hasBegun(tables, task) ? generation : task.carryFrom;
  keepOutcome(tables, task);
  const now = tables.now();
  task.generation += 1;
  task.claimEpoch = raised(task.claimEpoch);
  task.status = 'pending';
  task.runAt = now;
  task.retryCount = 0;
  task.crashes = 0;
  task.interrupted = undefined;
  task.cutEpoch = undefined;
  task.paused = false;
  task.outcome = undefined;
  task.result = undefined;
  task.error = undefined;
  task.finishedAt = undefined;
  task.discardedAt = undefined;
  task.keyUntil = undefined;
  task.lastSeq = -1;
  task.lastHash = undefined;
  task.carryFrom = isFresh ? undefined : begun;
  task.keyGeneration += isFresh ? 1 : 0;
  if (task.deadlineAt !== undefined) {
    task.deadlineAt = now + boundedSpan(task.deadlineAt - task.begunAt);
  }
  task.begunAt = now;
  task.recordedAt = undefined;
  task.lastUpdate = now;
  tables.hint('ready');
  return task.generation;
}

/** One that ended before anybody had begun it has nothing to go on from but what it was to go on from. */
function hasBegun(
  tables: MemoryTables,
  { taskId: task, generation, lastSeq }: TaskRecord,
): boolean {
  return lastSeq >= 0 || histories(tables, [{ task, generation }]).length > 0;
}

/** The row forgets how this generation ended, so the history has to know. */
function keepOutcome(tables: MemoryTables, task: TaskRecord): void {
  const { taskId, generation, claimEpoch, status, outcome, error, lastHash = '' } = task;
  const finishedAt = isoTime(task.finishedAt!);
  // Behind whatever was flushed in this epoch: a segment that is there is never written over.
  const flushed = histories(tables, [{ task: taskId, generation }])
    .filter(({ epoch }) => epoch === claimEpoch)
    .map(({ lastSeq }) => lastSeq);
  const seq = Math.max(task.lastSeq, ...flushed) + 1;
  const fork = put(tables, {
    task: taskId,
    generation,
    epoch: claimEpoch,
    firstSeq: seq,
    lastSeq: seq,
    prevHash: lastHash,
    lastHash,
    state: OUTCOME_STATE,
    events: JSON.stringify([{ type: 'OUTCOME', status, outcome, error, finishedAt }]),
  });
  assert(fork === undefined, 'an outcome stands where another record is');
}

export function discard(tables: MemoryTables, id: RunId, { generation }: Seen): boolean {
  const task = tables.tasks.get(id);
  if (task?.status !== 'failed' || task.generation !== generation) return false;
  task.discardedAt ??= tables.now();
  return true;
}

export function find(tables: MemoryTables, ids: readonly RunId[]): TaskRow[] {
  const found = [...new Set(ids)].flatMap((id) => tables.tasks.get(id) ?? []);
  return found.sort(by((task) => task.taskId)).map(taskRowOf);
}

export function list(tables: MemoryTables, filter: TaskFilter): TaskRow[] {
  const { status, machine, claimedBy, isDeadLetter, isInFlight, before, countMax } = filter;
  // The sort is stable: of those enqueued at one instant, the greater id stays first.
  const all = tables
    .tasksWhere(() => true)
    .reverse()
    .sort(by((task) => -task.createdAt));
  const from = before === undefined ? 0 : all.findIndex(({ taskId }) => taskId === before) + 1;
  if (before !== undefined && from === 0) return [];
  return all
    .slice(from)
    .filter(
      (task) =>
        (status === undefined || task.status === status) &&
        (machine === undefined || task.machine === machine) &&
        (claimedBy === undefined || task.claimedBy === claimedBy) &&
        (!isInFlight || !isEnded(task)) &&
        (!isDeadLetter || (task.status === 'failed' && task.discardedAt === undefined)),
    )
    .slice(0, countMax)
    .map(taskRowOf);
}

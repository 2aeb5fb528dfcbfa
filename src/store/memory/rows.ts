/** Records as the interface shows them: always copies, so that no caller holds a row in its hands. */
import type { PodGlimpse, PodRow } from '../pods.ts';
import type { ClaimedTask, TakenTask, TaskRow } from '../tasks.ts';
import type { MemoryTables, PodRecord, TaskRecord } from './tables.ts';

export function claimedTaskOf(task: TaskRecord, now: number): ClaimedTask {
  return {
    task: task.taskId,
    generation: task.generation,
    epoch: task.claimEpoch,
    machine: task.machine,
    version: task.version,
    payload: task.payload,
    key: task.key,
    keyGeneration: task.keyGeneration,
    carriesFrom: task.carryFrom,
    retryCount: task.retryCount,
    retriesMax: task.retriesMax,
    crashes: task.crashes,
    wasInterrupted: task.interrupted,
    lastSeq: task.lastSeq,
    control: task.control,
    deadlineMs: task.deadlineAt === undefined ? undefined : task.deadlineAt - now,
    traceParent: task.traceParent,
    pinnedTo: task.pinnedTo,
    token: task.claimToken,
  };
}

export function takenTaskOf(task: TaskRecord, previousEpoch: number, now: number): TakenTask {
  const { status, outcome, error } = task;
  return { ...claimedTaskOf(task, now), previousEpoch, status, outcome, error };
}

export function taskRowOf(task: TaskRecord): TaskRow {
  return {
    id: task.taskId,
    generation: task.generation,
    machine: task.machine,
    version: task.version,
    queue: task.queue,
    priority: task.priority,
    runAt: task.runAt,
    status: task.status,
    waitFor: task.waitFor,
    epoch: task.claimEpoch,
    claimedBy: task.claimedBy,
    retryCount: task.retryCount,
    retriesMax: task.retriesMax,
    crashes: task.crashes,
    claims: task.claims,
    control: task.control,
    isPaused: task.paused,
    key: task.key,
    pinnedTo: task.pinnedTo,
    deadlineAt: task.deadlineAt,
    payload: task.payload,
    outcome: task.outcome,
    result: task.result,
    error: task.error,
    lastSeq: task.lastSeq,
    createdAt: task.createdAt,
    updatedAt: task.lastUpdate,
    finishedAt: task.finishedAt,
    discardedAt: task.discardedAt,
  };
}

export function glimpseOf(pod: PodRecord, now: number): PodGlimpse {
  return {
    pod: pod.podId,
    name: pod.name,
    status: pod.status,
    seq: pod.beatSeq,
    silentMs: Math.max(0, now - pod.lastHeartbeat),
    deadBy: pod.deadBy,
  };
}

export function podRowOf(tables: MemoryTables, pod: PodRecord): PodRow {
  return {
    ...glimpseOf(pod, tables.now()),
    journal: pod.journalId,
    boot: pod.boot,
    lsn: pod.journalLsn,
    bornAt: pod.birthTimestamp,
    beatAt: pod.lastHeartbeat,
    desired: pod.desired,
    routes: [...pod.routes],
    report: JSON.parse(pod.report),
    deadAt: pod.deadAt,
    claimCount: tables.tasksWhere((task) => task.claimedBy === pod.podId).length,
  };
}

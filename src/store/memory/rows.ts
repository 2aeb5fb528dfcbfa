/** Records as the interface shows them: always copies, so that no caller holds a row in its hands. */
import { PAYLOAD_BYTES_MAX } from '../bounds.ts';
import { type PodGlimpse, type PodRow, STALLED_IN_REPORT } from '../pods.ts';
import type { ClaimedTask, TakenTask, TaskRow } from '../tasks.ts';
import type { MemoryTables, PodRecord, TaskRecord } from './tables.ts';

export function claimedTaskOf(
  task: TaskRecord,
  now: number,
  bytesMax: number = PAYLOAD_BYTES_MAX,
): ClaimedTask {
  const bytes = Buffer.byteLength(task.payload ?? '');
  const isOversize = task.payload !== undefined && bytes > bytesMax;
  return {
    task: task.taskId,
    generation: task.generation,
    epoch: task.claimEpoch,
    machine: task.machine,
    version: task.version,
    queue: task.queue,
    priority: task.priority,
    payload: isOversize ? undefined : task.payload,
    oversizeBytes: isOversize ? bytes : undefined,
    key: task.key,
    keyGeneration: task.keyGeneration,
    carriesFrom: task.carryFrom,
    retryCount: task.retryCount,
    retriesMax: task.retriesMax,
    crashes: task.crashes,
    interruption: task.interrupted,
    cutEpoch: task.cutEpoch,
    lastSeq: task.lastSeq,
    lastHash: task.lastHash,
    control: task.control,
    deadlineMs: task.deadlineAt === undefined ? undefined : task.deadlineAt - now,
    ageMs: task.deadlineAt === undefined ? ageOf(task, now) : undefined,
    waitedMs: task.claimedAt === undefined ? undefined : Math.max(0, task.claimedAt - task.runAt),
    traceParent: task.traceParent,
    pinnedTo: task.pinnedTo,
    token: task.claimToken,
  };
}

function ageOf({ recordedAt, createdAt, runAt }: TaskRecord, now: number): number {
  return Math.max(0, now - (recordedAt ?? Math.max(createdAt, runAt)));
}

export function takenTaskOf(
  task: TaskRecord,
  before: TaskRecord,
  now: number,
  bytesMax?: number,
): TakenTask {
  const { status, outcome, error } = task;
  return {
    ...claimedTaskOf(task, now, bytesMax),
    // Requeued, it is due later: that makes it no younger.
    ageMs: task.deadlineAt === undefined ? ageOf(before, now) : undefined,
    previousEpoch: before.claimEpoch,
    status,
    outcome,
    error,
  };
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
    acts: task.acts,
    claimedBy: task.claimedBy,
    retryCount: task.retryCount,
    retriesMax: task.retriesMax,
    crashes: task.crashes,
    claims: task.claims,
    control: task.control,
    isPaused: task.paused,
    key: task.key,
    serialKey: task.serialKey,
    hasTurn: task.serialHeld || undefined,
    follows: task.follows,
    pinnedTo: task.pinnedTo,
    deadlineAt: task.deadlineAt,
    payload: task.payload,
    outcome: task.outcome,
    result: task.result,
    error: task.error,
    lastSeq: task.lastSeq,
    lastHash: task.lastHash,
    carriesFrom: task.carryFrom,
    interruption: task.interrupted,
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
    silenceMs: pod.silenceMs,
    isStalled: pod.report.includes(STALLED_IN_REPORT),
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

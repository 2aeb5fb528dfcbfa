/** Tasks on their way in: enqueued, claimed from the heads of the queue, or shown by their host. */
import type { StartNote } from '../acts.ts';
import { boundedSpan, boundedTime, COUNT_MAX } from '../bounds.ts';
import { FOLLOWER_DUE_MS } from '../follow.ts';
import { refuseNotRunnable } from '../runnable.ts';
import { type InLine, inShares } from '../shares.ts';
import type { CheckAnswers, MirrorAnswer } from '../store.ts';
import type {
  ClaimedTask,
  ClaimRequest,
  Due,
  EnqueueAnswer,
  MirroredRun,
  NewTask,
} from '../tasks.ts';
import { type PodId, routeOf, SUSPECT_CRASHES } from '../words.ts';
import { note as putNote } from './act.ts';
import { roomIn } from './flow.ts';
import { claimedTaskOf } from './rows.ts';
import { by, isEnded, type MemoryTables, refuseUnstorable, type TaskRecord } from './tables.ts';

export function enqueue(
  tables: MemoryTables,
  tasks: readonly NewTask[],
  check?: CheckAnswers,
  note?: StartNote,
): EnqueueAnswer[] {
  // All of them are looked at before the first is put in: all or nothing.
  refuseNotRunnable(tasks);
  for (const { id, machine, queue, payload, key, serialKey, follows, traceParent } of tasks) {
    refuseUnstorable(id, machine, queue, payload, key, serialKey, follows?.run, traceParent);
  }
  const answers = tasks.map((task) => {
    const there = tables.tasks.get(task.id) ?? keeper(tables, task);
    const row = there ?? insert(tables, task);
    const { taskId, status, payload } = row;
    return { id: taskId, isNew: row !== there, status, payload: payload ?? '' };
  });
  try {
    check?.(answers);
    if (note) putNote(tables, { ...note, task: answers[0]?.id });
  } catch (error) {
    for (const { id, isNew } of answers) if (isNew) tables.tasks.delete(id);
    throw error;
  }
  return answers;
}

function insert(tables: MemoryTables, task: NewTask): TaskRecord {
  const now = tables.now();
  const { follows } = task;
  const runAt = dueAt(follows ? { afterMs: FOLLOWER_DUE_MS } : task.due, now);
  const isSerial = task.serialKey !== undefined;
  const isLater = runAt > now;
  return tables.insert({
    taskId: task.id,
    machine: task.machine,
    version: task.version,
    queue: task.queue,
    priority: task.priority,
    runAt,
    // Apart from what is ready, so that no scan for ready tasks has to step over it.
    status: isSerial || isLater ? 'waiting' : 'pending',
    waitFor: follows ? 'run' : isSerial ? 'turn' : isLater ? 'time' : undefined,
    payload: task.payload,
    serialKey: task.serialKey,
    follows,
    key: task.key,
    keyMs: boundedSpan(task.keyMs),
    retriesMax: task.retriesMax,
    deadlineAt:
      task.deadlineMs === undefined
        ? undefined
        : boundedTime(Math.max(runAt, now) + boundedSpan(task.deadlineMs)),
    putOffMs: task.deadlineMs === undefined ? 0 : Math.max(0, runAt - now),
    traceParent: task.traceParent,
  });
}

export function dueAt(due: Due | undefined, now: number): number {
  if (!due) return now;
  return boundedTime('at' in due ? due.at : now + boundedSpan(due.afterMs));
}

/** The task that the key stands for. A key that has outlived its task is free. */
function keeper(tables: MemoryTables, { machine, key }: NewTask): TaskRecord | undefined {
  if (key === undefined) return undefined;
  const [found] = tables.tasksWhere((task) => task.machine === machine && task.key === key);
  if (!found || !hasStaleKey(found, tables.now())) return found;
  found.key = undefined;
  return undefined;
}

export function hasStaleKey(task: TaskRecord, now: number): boolean {
  return task.key !== undefined && isEnded(task) && (task.keyUntil ?? now) < now;
}

const byDueTime = by<TaskRecord>(
  (task) => task.runAt,
  (task) => task.taskId,
);

export function claim(tables: MemoryTables, request: ClaimRequest): ClaimedTask[] {
  const { pod, countMax, token } = request;
  if (!tables.isPod(pod, 'up') || !tables.isMeant(request.timeline)) return [];
  refuseUnstorable(token);
  const now = tables.now();
  const ready: TaskRecord[] = [];
  const woken: TaskRecord[] = [];
  for (const task of tables.tasks.values()) {
    if (isFor(request, task, now)) (task.status === 'pending' ? ready : woken).push(task);
  }
  woken.sort(byDueTime);
  const hasRoom = roomIn(tables);
  // Without limits only the head of sleepers matters; with them, what lies behind what has no room, too.
  const hasLimits = tables.flow.queues.size + tables.flow.machines.size > 0;
  const heads = [...ready, ...woken.slice(0, hasLimits ? woken.length : countMax)];
  return inShares(heads, inLine, request.behind)
    .filter(hasRoom)
    .slice(0, countMax)
    .map((task) => {
      task.status = 'claimed';
      task.waitFor = undefined;
      task.serialHeld = task.serialKey !== undefined;
      task.claimEpoch = tables.ownerEpoch(task.claimEpoch);
      task.claimedBy = pod;
      task.claimToken = token;
      task.claimedAt = now;
      task.claims = Math.min(task.claims + 1, COUNT_MAX);
      task.lastUpdate = now;
      return claimedTaskOf(task, now, request.payloadBytesMax);
    });
}

function inLine(task: TaskRecord): InLine {
  const { taskId: id, queue, priority, runAt } = task;
  return { id, route: routeOf(task), queue, priority, runAt };
}

function isFor({ routes, journal, head }: ClaimRequest, task: TaskRecord, now: number): boolean {
  const isOpen =
    task.status === 'pending' || (task.status === 'waiting' && task.waitFor !== 'turn');
  const isSuspect = task.crashes >= SUSPECT_CRASHES;
  return (
    isOpen &&
    !task.paused &&
    task.runAt <= now &&
    isSuspect === (head === 'suspect') &&
    (task.pinnedTo === undefined || task.pinnedTo === journal) &&
    routes.includes(routeOf(task))
  );
}

export function held(
  tables: MemoryTables,
  pod: PodId,
  after: string,
  countMax: number,
  payloadBytesMax?: number,
): ClaimedTask[] {
  const now = tables.now();
  return tables
    .tasksWhere(({ claimedBy, taskId }) => claimedBy === pod && taskId > after)
    .slice(0, countMax)
    .map((task) => claimedTaskOf(task, now, payloadBytesMax));
}

export function hasSuspects(tables: MemoryTables, routes: readonly string[]): boolean {
  const now = tables.now();
  const isOpen = ({ status, waitFor }: TaskRecord) =>
    status === 'pending' || (status === 'waiting' && waitFor !== 'turn');
  return tables
    .tasksWhere((task) => task.crashes >= SUSPECT_CRASHES && isOpen(task) && !task.paused)
    .some((task) => routes.includes(routeOf(task)) && task.runAt <= now);
}

export function mirror(
  tables: MemoryTables,
  pod: PodId,
  runs: readonly MirroredRun[],
): MirrorAnswer[] {
  for (const { id, machine, payload, journal } of runs) {
    refuseUnstorable(id, machine, payload, journal);
  }
  return runs.map((run) => {
    const row = tables.tasks.get(run.id) ?? insertMirrored(tables, pod, run);
    if (row?.claimedBy !== pod || row.pinnedTo !== run.journal) {
      return { task: run.id, kind: 'foreign' };
    }
    const { taskId, generation, claimEpoch } = row;
    return { kind: 'held', task: taskId, generation, epoch: claimEpoch };
  });
}

function insertMirrored(
  tables: MemoryTables,
  pod: PodId,
  run: MirroredRun,
): TaskRecord | undefined {
  if (!tables.isPod(pod, 'up')) return undefined;
  const now = tables.now();
  const createdAt = now - run.startedAgoMs;
  return tables.insert({
    taskId: run.id,
    machine: run.machine,
    version: run.version,
    payload: run.payload,
    status: 'claimed',
    claimEpoch: tables.ownerEpoch(0),
    claimedBy: pod,
    claimedAt: now,
    claims: 1,
    pinnedTo: run.journal,
    deadlineAt: run.deadlineMs === undefined ? undefined : createdAt + run.deadlineMs,
    createdAt,
    runAt: createdAt,
    begunAt: createdAt,
  });
}

/** Limits of queues, and queues and machines that stand still. */
import { alreadyNote, answeredBefore, refuseLongNote } from '../audit.ts';
import {
  changesFlow,
  type FlowAnswer,
  type FlowChange,
  type FlowDeed,
  type FlowState,
  GATE_PODS_MAX,
  type Gate,
  type Gated,
  noteOfFlow,
  type PausedMachine,
  type QueueRow,
} from '../queues.ts';
import type { PodId } from '../words.ts';
import { note as putNote } from './act.ts';
import { by, isEnded, type MemoryTables, refuseUnstorable, type TaskRecord } from './tables.ts';

/** How many tasks of each queue may still be claimed; asked task by task, the most urgent first. */
export function roomIn(tables: MemoryTables): (task: TaskRecord) => boolean {
  const { queues, machines } = tables.flow;
  if (queues.size === 0 && machines.size === 0) return () => true;
  const claimed = claimedIn(tables);
  return (task) => {
    // A local run is its host's affair.
    if (task.pinnedTo !== undefined) return true;
    if (machines.has(task.machine)) return false;
    const { limit, isPaused } = queues.get(task.queue) ?? { limit: undefined, isPaused: false };
    const count = claimed.get(task.queue) ?? 0;
    if (isPaused || count >= (limit ?? Number.POSITIVE_INFINITY)) return false;
    claimed.set(task.queue, count + 1);
    return true;
  };
}

function claimedIn(tables: MemoryTables): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { queue, pinnedTo } of tables.tasksWhere(({ status }) => status === 'claimed')) {
    if (pinnedTo === undefined) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  }
  return counts;
}

export function queues(tables: MemoryTables): QueueRow[] {
  const open = tables.tasksWhere((task) => !isEnded(task));
  const names = new Set([...tables.flow.queues.keys(), ...open.map(({ queue }) => queue)]);
  const rows = [...names].map((queue): QueueRow => {
    const { limit, isPaused = false, pausedBy, pausedAt } = tables.flow.queues.get(queue) ?? {};
    const own = open.filter((task) => task.queue === queue);
    const count = (is: (task: TaskRecord) => boolean) => own.filter(is).length;
    const pending = own.filter(({ status }) => status === 'pending');
    return {
      queue,
      pending: pending.length,
      waiting: count(({ status }) => status === 'waiting'),
      claimed: count(({ status, pinnedTo }) => status === 'claimed' && pinnedTo === undefined),
      dueAt: pending.reduce<number | undefined>(
        (first, { runAt }) => Math.min(first ?? runAt, runAt),
        undefined,
      ),
      ...{ limit, isPaused, pausedBy, pausedAt },
    };
  });
  return rows.sort(by(({ queue }) => queue));
}

export function pausedMachines(tables: MemoryTables): PausedMachine[] {
  const rows = [...tables.flow.machines].map(([machine, paused]) => ({ machine, ...paused }));
  return rows.sort(by(({ machine }) => machine));
}

export function gateOf(tables: MemoryTables, task: Gated): Gate {
  const row = tables.flow.queues.get(task.queue);
  const claimed = tables.tasksWhere(
    ({ status, queue, pinnedTo }) =>
      status === 'claimed' && queue === task.queue && pinnedTo === undefined,
  );
  const counts = new Map<PodId, number>();
  for (const { claimedBy } of claimed) counts.set(claimedBy!, (counts.get(claimedBy!) ?? 0) + 1);
  const paused = tables.flow.machines.get(task.machine);
  const [holder] = tables.tasksWhere(
    (other) =>
      other.serialHeld &&
      other.queue === task.queue &&
      other.serialKey === task.serialKey &&
      other.taskId !== task.id,
  );
  return {
    queue: row && { queue: task.queue, claimed: claimed.length, ...row },
    claimedBy: row?.limit === undefined ? [] : mostFirst(counts),
    pausedMachine: paused && { machine: task.machine, ...paused },
    holder: holder && { id: holder.taskId, status: holder.status },
  };
}

function mostFirst(counts: ReadonlyMap<PodId, number>): Gate['claimedBy'] {
  const rows = [...counts].map(([pod, count]) => ({ pod, count }));
  return rows
    .sort(
      by(
        ({ count }) => -count,
        ({ pod }) => pod,
      ),
    )
    .slice(0, GATE_PODS_MAX);
}

export function changeFlow(tables: MemoryTables, change: FlowChange): FlowAnswer {
  const { who, via, deed, isDryRun = false } = change;
  const note = refuseLongNote(noteOfFlow(change));
  refuseUnstorable(note.requestId, who, 'queue' in deed ? deed.queue : deed.machine, via);
  const logged = tables.audit.get(note.requestId);
  const answered = answeredBefore(note, logged && { ...logged, task: logged.taskId });
  if (answered) return answered;
  const kind = changesFlow(deed, stateOf(tables, deed)) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  putNote(tables, kind === 'done' ? note : alreadyNote(note));
  if (kind === 'done') {
    write(tables, deed, who);
    tables.hint('ready');
  }
  return { kind, isRepeated: false };
}

function stateOf({ flow }: MemoryTables, deed: FlowDeed): FlowState {
  if ('machine' in deed) return { limit: undefined, isPaused: flow.machines.has(deed.machine) };
  return flow.queues.get(deed.queue) ?? { limit: undefined, isPaused: false };
}

function write(tables: MemoryTables, deed: FlowDeed, who: string): void {
  const { queues, machines } = tables.flow;
  const pausedAt = tables.now();
  if ('machine' in deed) {
    if (deed.what === 'machine.pause') machines.set(deed.machine, { pausedBy: who, pausedAt });
    else machines.delete(deed.machine);
    return;
  }
  const none = { limit: undefined, isPaused: false, pausedBy: undefined, pausedAt: undefined };
  const row = { ...(queues.get(deed.queue) ?? none) };
  if (deed.what === 'queue.limit') row.limit = deed.limit;
  else if (deed.what === 'queue.pause') {
    Object.assign(row, { isPaused: true, pausedBy: who, pausedAt });
  } else Object.assign(row, { isPaused: false, pausedBy: undefined, pausedAt: undefined });
  if (row.limit === undefined && !row.isPaused) queues.delete(deed.queue);
  else queues.set(deed.queue, row);
}

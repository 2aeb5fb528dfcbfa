/** What people see: find and list. */
import type { RunId } from '../../ground/index.ts';
import type { TaskFilter, TaskRow } from '../tasks.ts';
import { taskRowOf } from './rows.ts';
import { by, isEnded, type MemoryTables } from './tables.ts';

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

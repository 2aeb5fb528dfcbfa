/** What live views look at. */
import type { RunId } from '../../ground/index.ts';
import { glanceOf, type Watch, type WatchQuery, watchOf } from '../watch.ts';
import { heads } from './archive.ts';
import { taskRowOf } from './rows.ts';
import { by, type MemoryTables, type TaskRecord } from './tables.ts';

export function watch(tables: MemoryTables, query: WatchQuery): Watch {
  const { followed, others, sinceMs } = query;
  const [wanted, asked] = [new Set(followed), new Set(others)];
  // Whoever changes these tables has changed them: nothing is committed later than it says.
  for (const { taskId, at } of sinceMs === undefined ? [] : tables.audit.values()) {
    if (taskId !== undefined && at >= sinceMs!) asked.add(taskId as RunId);
  }
  const hasChanged = (task: TaskRecord) =>
    sinceMs !== undefined &&
    (((asked.has(task.taskId) || task.claimedBy !== undefined) && task.lastUpdate >= sinceMs) ||
      (task.finishedAt ?? Number.NEGATIVE_INFINITY) >= sinceMs ||
      (task.finishedAt === undefined && task.claimedBy === undefined && task.createdAt >= sinceMs));
  const found = tables.tasksWhere((task) => wanted.has(task.taskId) || hasChanged(task));
  const runs = found
    .filter(({ taskId }) => wanted.has(taskId))
    .map(({ taskId, generation }) => ({ task: taskId, generation }));
  const tasks = found.sort(by(({ taskId }) => taskId)).map((task) => glanceOf(taskRowOf(task)));
  return watchOf(query, tables.now(), tasks, heads(tables, runs));
}

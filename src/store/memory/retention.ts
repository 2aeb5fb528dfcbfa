/** What can never run is failed with a reason; what ended long ago is removed. */
import { DEADLINE_PASSED, ID_MALFORMED, MACHINE_UNKNOWN, TASK_ID_PATTERN } from '../reasons.ts';
import type { TaskRow } from '../tasks.ts';
import { routeOf } from '../words.ts';
import { hasStaleKey } from './claims.ts';
import { taskRowOf } from './rows.ts';
import { end } from './settle.ts';
import { by, isEnded, type MemoryTables, type TaskRecord } from './tables.ts';

const TASK_ID = new RegExp(TASK_ID_PATTERN);

export function failHopeless(tables: MemoryTables, graceMs: number, countMax: number): TaskRow[] {
  const judge = judgeOf(tables, graceMs);
  return tables
    .tasksWhere((task) => judge(task) !== undefined)
    .slice(0, countMax)
    .map((task) => {
      const { outcome, error } = judge(task)!;
      task.claimEpoch += 1;
      end(tables, task, { to: 'failed', outcome, result: undefined, error });
      return taskRowOf(task);
    });
}

function judgeOf(tables: MemoryTables, graceMs: number) {
  const now = tables.now();
  const known = new Set([...tables.registry.values()].map(({ machine }) => machine));
  const live = tables.podsWhere(({ status }) => status === 'up' || status === 'draining');
  const routes = new Set(live.flatMap((pod) => pod.routes));
  return (task: TaskRecord): { outcome: string; error: string } | undefined => {
    if (task.status !== 'pending' && task.status !== 'waiting') return undefined;
    if (!TASK_ID.test(task.taskId)) return { outcome: 'aborted', error: ID_MALFORMED };
    if (!known.has(task.machine) && task.createdAt < now - graceMs) {
      return { outcome: 'aborted', error: MACHINE_UNKNOWN };
    }
    const isLate = task.deadlineAt !== undefined && task.deadlineAt < now;
    if (isLate && (task.waitFor === 'host' || !routes.has(routeOf(task)))) {
      return { outcome: 'timedOut', error: DEADLINE_PASSED };
    }
    return undefined;
  };
}

export function prune(tables: MemoryTables, finishedBeforeMs: number, countMax: number): number {
  const now = tables.now();
  const before = now - finishedBeforeMs;
  for (const task of tables.tasksWhere((task) => hasStaleKey(task, now))) task.key = undefined;
  const parents = new Set(tables.tasksWhere(() => true).map(({ parentId }) => parentId));
  const old = tables
    .tasksWhere(
      (task) =>
        isEnded(task) &&
        task.finishedAt! < before &&
        task.key === undefined &&
        !parents.has(task.taskId),
    )
    .sort(
      by(
        ({ finishedAt }) => finishedAt!,
        ({ taskId }) => taskId,
      ),
    )
    .slice(0, countMax);
  const gone = new Set<string>(old.map(({ taskId }) => taskId));
  for (const [key, { task }] of tables.events) if (gone.has(task)) tables.events.delete(key);
  for (const id of gone) tables.tasks.delete(id);
  const laid = tables.podsWhere(({ status, deadAt }) => status === 'down' && deadAt! < before);
  for (const { podId } of laid) tables.pods.delete(podId);
  return gone.size;
}

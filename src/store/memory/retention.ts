/** What can never run is failed with a reason; what ended long ago is removed. */
import { raised } from '../bounds.ts';
import type { Pruned } from '../pods.ts';
import { DEADLINE_PASSED, ID_MALFORMED, MACHINE_UNKNOWN, TASK_ID_PATTERN } from '../reasons.ts';
import type { TaskRow } from '../tasks.ts';
import { routeOf, SUSPECT_CRASHES } from '../words.ts';
import { oldBulks } from './bulk.ts';
import { hasStaleKey } from './claims.ts';
import { followersOf } from './followers.ts';
import { taskRowOf } from './rows.ts';
import { end } from './settle.ts';
import { by, isEnded, type MemoryTables, type PodRecord, type TaskRecord } from './tables.ts';
import { standingPin } from './throttles.ts';

const TASK_ID = new RegExp(TASK_ID_PATTERN);

export function failHopeless(tables: MemoryTables, graceMs: number, countMax: number): TaskRow[] {
  const judge = judgeOf(tables, graceMs);
  return tables
    .tasksWhere((task) => judge(task) !== undefined)
    .slice(0, countMax)
    .map((task) => {
      const { outcome, error } = judge(task)!;
      task.claimEpoch = raised(task.claimEpoch);
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
    if (!known.has(task.machine) && hasWaitedFor(task, now - graceMs)) {
      return { outcome: 'aborted', error: MACHINE_UNKNOWN };
    }
    const lateMs = task.deadlineAt === undefined ? Number.NEGATIVE_INFINITY : now - task.deadlineAt;
    const isNobodys = task.waitFor === 'host' || !routes.has(routeOf(task));
    // Whoever could have ended it has had the time: it may be pinned, paused, or a suspect.
    if (lateMs > 0 && (isNobodys || lateMs > graceMs)) {
      return { outcome: 'timedOut', error: DEADLINE_PASSED };
    }
    return undefined;
  };
}

/** Whether a pod could have claimed it since then, if there was one that has its machine. */
function hasWaitedFor(task: TaskRecord, since: number): boolean {
  const isFree = !task.paused && task.crashes < SUSPECT_CRASHES && task.pinnedTo === undefined;
  const isDue = task.status === 'waiting' ? task.waitFor !== 'turn' : task.runAt < since;
  return isFree && isDue && task.createdAt < since;
}

export function hasHopeless(tables: MemoryTables, graceMs: number): boolean {
  const judge = judgeOf(tables, graceMs);
  return tables.tasksWhere((task) => judge(task) !== undefined).length > 0;
}

export function hasOld(
  tables: MemoryTables,
  finishedBeforeMs: number,
  auditedBeforeMs?: number,
): boolean {
  const now = tables.now();
  const before = now - finishedBeforeMs;
  return (
    tables.tasksWhere((task) => hasStaleKey(task, now)).length > 0 ||
    oldTasks(tables, before).length > 0 ||
    oldBulks(tables, before).length > 0 ||
    podsDown(tables, before).length > 0 ||
    oldAudits(tables, auditedBeforeMs).length > 0
  );
}

export function prune(
  tables: MemoryTables,
  finishedBeforeMs: number,
  countMax: number,
  auditedBeforeMs?: number,
): Pruned {
  const before = tables.now() - finishedBeforeMs;
  const count = Math.max(0, countMax);
  const freed = freeKeys(tables, count);
  const old = oldTasks(tables, before)
    .sort(
      by(
        ({ finishedAt }) => finishedAt!,
        ({ taskId }) => taskId,
      ),
    )
    .slice(0, count);
  const gone = new Set<string>(old.map(({ taskId }) => taskId));
  for (const [key, { task }] of tables.events) if (gone.has(task)) tables.events.delete(key);
  for (const id of gone) tables.tasks.delete(id);
  for (const { podId } of podsDown(tables, before)) tables.pods.delete(podId);
  forgetThrottles(tables, before);
  forgetTerms(tables, before, countMax);
  for (const { id } of oldBulks(tables, before)) tables.bulks.delete(id);
  const audits = oldAudits(tables, auditedBeforeMs).slice(0, count);
  for (const { id } of audits) tables.audit.delete(id);
  const isMore = count > 0 && [freed, gone.size, audits.length].includes(count);
  return { removed: gone.size + audits.length, isMore };
}

/** Returns how many keys had outlived their tasks. */
export function freeKeys(tables: MemoryTables, countMax: number): number {
  const now = tables.now();
  const stale = tables
    .tasksWhere((task) => hasStaleKey(task, now))
    .sort(
      by(
        ({ keyUntil }) => keyUntil ?? now,
        ({ taskId }) => taskId,
      ),
    )
    .slice(0, Math.max(0, countMax));
  for (const task of stale) task.key = undefined;
  return stale.length;
}

/** Never one that another task calls its parent or waits for, nor one that a key stands for. */
export function oldTasks(tables: MemoryTables, before: number): TaskRecord[] {
  const parents = new Set(tables.tasksWhere(() => true).map(({ parentId }) => parentId));
  for (const { follows } of followersOf(tables)) parents.add(follows!.run);
  return tables.tasksWhere(
    (task) =>
      isEnded(task) &&
      task.finishedAt! < before &&
      task.key === undefined &&
      !parents.has(task.taskId),
  );
}

function podsDown(tables: MemoryTables, before: number): PodRecord[] {
  return tables.podsWhere(({ status, deadAt }) => status === 'down' && deadAt! < before);
}

function oldAudits(tables: MemoryTables, beforeMs: number | undefined) {
  if (beforeMs === undefined) return [];
  const before = tables.now() - beforeMs;
  return [...tables.audit.values()].filter(({ at }) => at < before).sort(by(({ at }) => at));
}

/** What nobody has published anything of for so long, and nobody has pinned. */
function forgetThrottles(tables: MemoryTables, before: number): void {
  for (const [api, { madeAt, pin }] of tables.throttles) {
    if (madeAt < before && !standingPin(pin, tables.now())) tables.throttles.delete(api);
  }
}

/** Whoever began last may lead still. */
function forgetTerms(tables: MemoryTables, before: number, countMax: number): void {
  const terms = [...tables.terms].sort(
    by(
      ([, { since }]) => since,
      ([key]) => key,
    ),
  );
  const newest = terms.at(-1)?.[1].since ?? 0;
  const old = terms.filter(([, { since }]) => since < before && since < newest);
  for (const [key] of old.slice(0, Math.max(0, countMax))) tables.terms.delete(key);
}

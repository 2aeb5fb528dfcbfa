/**
 * Tasks that are new, which nearly all are, go in by one statement that commits by itself: nobody looks
 * first for what is there. Where an id or a key is in use nothing is put in, and who enqueues goes the
 * careful way, by a transaction.
 */
import type { RunId } from '../../ground/index.ts';
import { boundedSpan, boundedTime } from '../bounds.ts';
import { FOLLOWER_DUE_MS } from '../follow.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { arrayOf } from './batches.ts';
import { sqlStateOf } from './driver-errors.ts';
import type { Pool } from './pool.ts';
import { enqueueNewTasks } from './step-tracker.sql.ts';

/** In the order of GIVEN, beside the statements. */
export const TASK_COLUMNS: readonly ((task: NewTask) => unknown)[] = [
  (task) => task.id,
  (task) => task.machine,
  (task) => task.version,
  (task) => task.queue,
  (task) => task.priority,
  (task) => afterMsOf(task),
  ({ due, follows }) => (!follows && due && 'at' in due ? boundedTime(due.at) : undefined),
  (task) => task.payload,
  (task) => task.key,
  (task) => Math.ceil(boundedSpan(task.keyMs)),
  (task) => task.retriesMax,
  ({ deadlineMs }) => deadlineMs && boundedSpan(deadlineMs),
  (task) => task.traceParent,
  (task) => task.serialKey,
  ({ follows }) => follows?.run,
  ({ follows }) => follows?.on,
];

function afterMsOf({ due, follows }: NewTask): number | undefined {
  if (follows) return FOLLOWER_DUE_MS;
  if (due === undefined) return 0;
  return 'afterMs' in due ? boundedSpan(due.afterMs) : undefined;
}

const IN_USE = '23505';

/** Undefined where one of them is there, or may be: none of them was put in then. */
export async function putNew(
  pool: Pool,
  tasks: readonly NewTask[],
): Promise<EnqueueAnswer[] | undefined> {
  const sorted = inOrder(tasks);
  if (sorted.some((task, index) => isSame(task, sorted[index - 1]))) return undefined;
  const columns = TASK_COLUMNS.map((column) => sameOrList(sorted, column));
  const isKeyed = tasks.some(({ key }) => key !== undefined);
  const text = enqueueNewTasks((index) => columns[index]!.isList, isKeyed);
  const values = columns.map(({ value }) => value);
  const [row] = await pool.often(text, values).catch((error) => {
    if (sqlStateOf((error as Error).cause) === IN_USE) return [];
    throw error;
  });
  if (row?.['count'] !== tasks.length) return undefined;
  const waiting = new Set(row['waiting'] as RunId[] | null);
  return tasks.map(({ id, payload }) => {
    return { id, isNew: true, status: waiting.has(id) ? 'waiting' : 'pending', payload };
  });
}

/** Most of what is said of many tasks is said of all of them: it is sent once. */
function sameOrList(
  tasks: readonly NewTask[],
  column: (task: NewTask) => unknown,
): { readonly isList: boolean; readonly value: unknown } {
  const values = tasks.map((task) => column(task) ?? null);
  const isList = values.some((value) => value !== values[0]);
  return { isList, value: isList ? arrayOf(values) : values[0] };
}

/** Keys in one order everywhere, so that two who give the same ones wait in one direction only. */
export function inOrder(tasks: readonly NewTask[]): readonly NewTask[] {
  if (tasks.length < 2 || tasks.every(({ key }) => key === undefined)) return tasks;
  const placed = tasks.map((task) => ({ task, place: task.key ? keyOf(task) : task.id }));
  placed.sort((one, other) => (one.place < other.place ? -1 : one.place > other.place ? 1 : 0));
  return placed.map(({ task }) => task);
}

function isSame(one: NewTask, other: NewTask | undefined): boolean {
  return one.key !== undefined && one.key === other?.key && one.machine === other.machine;
}

/** Two tasks with the same are one task. */
export function keyOf({ machine, key }: Pick<NewTask, 'machine' | 'key'>): string {
  return `${machine}\n${key}`;
}

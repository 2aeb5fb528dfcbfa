/** Tasks on their way in: all of a call or none. A key or an id that is there gives what has it. */
import { boundedSpan } from '../bounds.ts';
import { StoreRefusedError } from '../errors.ts';
import { FOLLOWER_DUE_MS } from '../follow.ts';
import { refuseNotRunnable } from '../runnable.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { instantOf, later } from './due.ts';
import { letFollowersGo } from './followers.ts';
import type { RawTask } from './rows.ts';
import type { Tx } from './session.ts';
import { hasEnded } from './settle.ts';
import { clearKey, insertTask, selectByKey, selectTask } from './tasks.sql.ts';
import { passOn } from './turns.ts';

/** One call is one transaction, and holds the file for as long as it takes. */
const ENQUEUE_COUNT_MAX = 10_000;

export function enqueue(tx: Tx, tasks: readonly NewTask[]): EnqueueAnswer[] {
  if (tasks.length > ENQUEUE_COUNT_MAX) {
    throw new StoreRefusedError(`${tasks.length} tasks are too many for one call`, {
      hint: `enqueue at most ${ENQUEUE_COUNT_MAX} at once; with keys, calls can be repeated safely`,
    });
  }
  refuseNotRunnable(tasks);
  return tasks.map((task) => enqueueOne(tx, task));
}

function enqueueOne(tx: Tx, task: NewTask): EnqueueAnswer {
  const holder = task.key === undefined ? undefined : holderOf(tx, task.machine, task.key);
  if (holder) return standsFor(holder);
  const { id, payload, follows } = task;
  const due = follows ? { afterMs: FOLLOWER_DUE_MS } : task.due;
  const runAt = due === undefined ? tx.now : instantOf(due, tx.now);
  // What is due later waits elsewhere, so that it never stands in front of what is ready.
  const isSerial = task.serialKey !== undefined;
  const status = isSerial || runAt > tx.now ? 'waiting' : 'pending';
  const isNew = tx.run(insertTask, {
    task: id,
    machine: task.machine,
    version: task.version,
    queue: task.queue,
    priority: task.priority,
    run_at: runAt,
    status,
    wait_for: follows ? 'run' : isSerial ? 'turn' : status === 'waiting' ? 'time' : null,
    serial_key: task.serialKey ?? null,
    follows: follows?.run ?? null,
    follows_on: follows?.on ?? null,
    payload,
    key: task.key ?? null,
    key_ms: Math.ceil(boundedSpan(task.keyMs)),
    retries_max: task.retriesMax ?? null,
    deadline_at: deadlineOf(task, Math.max(runAt, tx.now)),
    put_off_ms: task.deadlineMs === undefined ? 0 : Math.max(0, runAt - tx.now),
    trace_parent: task.traceParent ?? null,
    now: tx.now,
  });
  const found = isNew ? undefined : tx.get<RawTask>(selectTask, { task: id });
  if (found) return standsFor(found);
  if (follows && letFollowersGo(tx, follows.run)) {
    return { id, isNew: true, status: tx.get<RawTask>(selectTask, { task: id })!.status, payload };
  }
  const hasTurn = isSerial && passOn(tx, { queue: task.queue, serial_key: task.serialKey! }) === id;
  return { id, isNew: true, status: hasTurn ? 'pending' : status, payload };
}

function deadlineOf({ deadlineMs }: NewTask, from: number): number | null {
  return deadlineMs === undefined ? null : later(from, deadlineMs);
}

/** The task that the key stands for; a key that has outlived its task is free again. */
function holderOf(tx: Tx, machine: string, key: string): RawTask | undefined {
  const row = tx.get<RawTask>(selectByKey, { machine, key });
  if (!row || !hasEnded(row) || row.key_until === null || row.key_until >= tx.now) return row;
  tx.run(clearKey, { task: row.task_id });
  return undefined;
}

function standsFor(row: RawTask): EnqueueAnswer {
  return { id: row.task_id, isNew: false, status: row.status, payload: row.payload ?? '' };
}

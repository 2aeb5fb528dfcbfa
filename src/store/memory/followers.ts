/** Tasks that follow another: after whatever was done to tasks, those whose wait is over are let go. */
import { type Follower, followerBecomes } from '../follow.ts';
import { FOLLOWED_NOT_COMPLETED } from '../reasons.ts';
import { end } from './settle.ts';
import { by, type MemoryTables, type TaskRecord } from './tables.ts';

export function letFollowersGo(tables: MemoryTables): void {
  if (!tables.hasFollowers) return;
  // What ends here may be followed itself; each round ends one at least, or is the last.
  while (followersOf(tables).filter((task) => decide(tables, task)).length > 0);
}

export function followersOf(tables: MemoryTables): TaskRecord[] {
  return tables.tasksWhere(({ waitFor, follows }) => waitFor === 'run' && follows !== undefined);
}

/** Also those that wait no more. */
export function allFollowersOf(tables: MemoryTables, run: string): Follower[] {
  return tables
    .tasksWhere(({ follows }) => follows?.run === run)
    .map(({ taskId, machine, status, follows }) => ({
      ...{ run: taskId, machine, status, on: follows!.on },
    }))
    .sort(by(({ run: id }) => id));
}

/** True where it waits no more. */
function decide(tables: MemoryTables, task: TaskRecord): boolean {
  const { run, on } = task.follows!;
  const found = tables.tasks.get(run);
  const followed = found && {
    status: found.status,
    isDiscarded: found.discardedAt !== undefined,
  };
  const next = followerBecomes(on, followed);
  if (next === 'wait') return false;
  const ending = { to: 'cancelled', outcome: 'cancelled', result: undefined } as const;
  if (next === 'end') end(tables, task, { ...ending, error: FOLLOWED_NOT_COMPLETED });
  else go(tables, task);
  return true;
}

/** Due from now on, with as much time until its deadline as whoever enqueued it gave. */
function go(tables: MemoryTables, task: TaskRecord): void {
  const now = tables.now();
  const early = task.runAt - now;
  if (task.deadlineAt !== undefined) task.deadlineAt -= early;
  task.putOffMs = Math.max(0, task.putOffMs - early);
  task.status = 'pending';
  task.waitFor = undefined;
  task.runAt = now;
  task.lastUpdate = now;
  tables.hint('ready');
}

/**
 * Serial keys: of one queue and one key, one task at a time has the turn, from here until it ends. The
 * next one is the first that is due of those that nobody has paused; what is due later blocks nobody.
 */
import { letFollowersGo } from './followers.ts';
import { by, type MemoryTables, type TaskRecord } from './tables.ts';

const byDueTime = by<TaskRecord>(
  (task) => task.runAt,
  (task) => task.taskId,
);

/** Whatever `act` does to tasks: afterwards who followed them goes, and every free key has its next one. */
export function withTurns<Answer>(tables: MemoryTables, act: () => Answer): Answer {
  const answer = act();
  letFollowersGo(tables);
  giveTurns(tables);
  return answer;
}

export function giveTurns(tables: MemoryTables): void {
  if (!tables.hasSerials) return;
  const now = tables.now();
  const held = new Set(tables.tasksWhere(({ serialHeld }) => serialHeld).map(keyOf));
  const due = tables.tasksWhere(
    (task) => task.waitFor === 'turn' && !task.paused && task.runAt <= now,
  );
  for (const task of due.sort(byDueTime)) {
    if (held.has(keyOf(task))) continue;
    held.add(keyOf(task));
    task.status = 'pending';
    task.waitFor = undefined;
    task.serialHeld = true;
    task.runAt = Math.max(task.runAt, tables.servedUntil.get(keyOf(task)) ?? task.runAt);
    task.lastUpdate = now;
    tables.hint('ready');
  }
  tables.servedUntil.clear();
}

/**
 * Its key's next one stands where it would be ready if nobody but this key were there: not before this one
 * has begun at its own place, and taken its time. So a key neither goes to the back of the line at each turn,
 * nor keeps other keys waiting with its flood.
 */
export function noteServed(tables: MemoryTables, task: TaskRecord): void {
  if (!task.serialHeld || task.claimedAt === undefined) return;
  tables.servedUntil.set(keyOf(task), task.runAt + tables.now() - task.claimedAt);
}

export function keyOf({ queue, serialKey }: TaskRecord): string {
  return `${queue}\n${serialKey}`;
}

/** Moves the tasks of a pod that is no more: to the fleet, or to its successor on the same disk. */
import { COUNT_MAX, raised } from '../bounds.ts';
import { CRASH_LOOP, LEADER_DIED } from '../reasons.ts';
import type { TakenTask, Taking } from '../tasks.ts';
import { CRASHES_MAX, type Interruption, RECOVERY_PREFIX, SUSPECT_CRASHES } from '../words.ts';
import { hasRecords, hasToldItsEnd } from './archive.ts';
import { takenTaskOf } from './rows.ts';
import { cancelledEnding, type Ending, end, keepPause, letGo } from './settle.ts';
import type { MemoryTables, TaskRecord } from './tables.ts';

/** A host that does not come back for this long gives its tasks up. */
const HOST_WAIT_MS = 24 * 60 * 60 * 1_000;

export function take(tables: MemoryTables, taking: Taking): TakenTask[] {
  const { from, by, to, countMax, payloadBytesMax } = taking;
  if (tables.isPod(from, 'up', 'draining')) return [];
  if (to === 'taker' && !tables.isPod(by, 'up')) return [];
  return tables
    .tasksWhere(({ claimedBy }) => claimedBy === from)
    .filter(isWanted(taking))
    .slice(0, countMax)
    .map((task) => {
      const before = { ...task };
      takeOne(tables, taking, task);
      const taken = takenTaskOf(task, before, tables.now(), payloadBytesMax);
      return to === 'pool' ? { ...taken, payload: undefined, oversizeBytes: undefined } : taken;
    });
}

function isWanted({ only }: Taking): (task: TaskRecord) => boolean {
  if (only === undefined) return () => true;
  if (only === 'paused') return ({ control }) => control === 'pause';
  if (only === 'free') return ({ pinnedTo }) => pinnedTo === undefined;
  const epochs = new Map(only.map(({ task, epoch }) => [task, epoch]));
  return ({ taskId, claimEpoch }) => epochs.get(taskId) === claimEpoch;
}

function takeOne(tables: MemoryTables, taking: Taking, task: TaskRecord): void {
  const now = tables.now();
  const { deadBy } = tables.pods.get(taking.from) ?? {};
  const hasLeft = deadBy === taking.from;
  // A run that belongs to a host is that host's affair, however often it dies.
  const isCrash = !hasLeft && task.pinnedTo === undefined && counts(taking, task);
  const isTold = hasToldItsEnd(tables, task);
  const isPaused = task.control === 'pause' && !isTold;
  if (!hasLeft && (isPaused || isCut(taking, task))) {
    task.interrupted = 'cut';
    task.cutEpoch = task.claimEpoch;
  } else if (hasLeft) task.interrupted = leftBy(tables, task);
  const { claimEpoch } = task;
  task.claimEpoch = taking.to === 'taker' ? tables.ownerEpoch(claimEpoch) : raised(claimEpoch);
  task.crashes = Math.min(task.crashes + (isCrash ? 1 : 0), COUNT_MAX);
  const ending = endingOf(taking, task, isCrash, isTold);
  if (ending) {
    end(tables, task, ending);
    return;
  }
  if (taking.to === 'taker' && task.crashes < SUSPECT_CRASHES && !isPaused) {
    task.claimedBy = taking.by;
    task.claimToken = undefined;
    task.claimedAt = now;
    task.lastUpdate = now;
    return;
  }
  if (isPaused) keepPause(task);
  letGo(task, now);
  if (taking.to === 'pool' && task.pinnedTo !== undefined) {
    task.status = 'waiting';
    task.waitFor = 'host';
    task.runAt = now;
    task.deadlineAt ??= now + HOST_WAIT_MS;
    return;
  }
  task.status = 'pending';
  task.runAt = now + Math.floor(tables.random.fraction() * taking.spreadMs);
  tables.hint('ready');
}

function counts({ crashed }: Taking, task: TaskRecord): boolean {
  if (crashed === 'all' || crashed === 'none') return crashed === 'all';
  return crashed.includes(task.taskId);
}

/** In an outage nobody's crash counts, and whoever died may have been inside a phase all the same. */
function isCut(taking: Taking, task: TaskRecord): boolean {
  return taking.crashed === 'none' || counts(taking, task);
}

/** That an earlier owner was cut off is for the next one to say, unless the last one has. */
function leftBy(tables: MemoryTables, task: TaskRecord): Interruption {
  return task.interrupted === 'cut' && !hasRecords(tables, task) ? 'cut' : 'left';
}

/** What has ended by its own records is not ended in another way: whoever gets it next says how. */
function endingOf(
  taking: Taking,
  task: TaskRecord,
  isCrash: boolean,
  isTold: boolean,
): Ending | undefined {
  if (task.control === 'cancel' && !isTold) return cancelledEnding(task);
  if (taking.to === 'pool' && task.machine.startsWith(RECOVERY_PREFIX)) {
    return { to: 'cancelled', outcome: 'cancelled', result: undefined, error: LEADER_DIED };
  }
  if (isCrash && task.crashes >= CRASHES_MAX && !isTold) {
    return { to: 'failed', outcome: 'crashLoop', result: undefined, error: CRASH_LOOP };
  }
  return undefined;
}

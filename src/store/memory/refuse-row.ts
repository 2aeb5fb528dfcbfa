/** What the constraints of the SQL tables refuse of a new row. */
import { boundedTime, COUNT_MAX, EPOCH_MAX, SPAN_MS_MAX } from '../bounds.ts';
import { StoreRefusedError } from '../errors.ts';
import { refuseNotRunnable } from '../runnable.ts';
import type { TaskRecord } from './tables.ts';

export function refuseRow(task: TaskRecord): void {
  if (task.pinnedTo === undefined) refuseNotRunnable([task]);
  const { runAt, createdAt, deadlineAt = 0, keyMs, claimEpoch, generation } = task;
  const { keyGeneration, claims, crashes, retryCount } = task;
  const isWithin =
    [runAt, createdAt, deadlineAt].every((time) => time === boundedTime(time)) &&
    [claims, crashes, retryCount].every((count) => count >= 0 && count <= COUNT_MAX) &&
    [generation, keyGeneration].every((count) => count >= 1 && count <= COUNT_MAX) &&
    keyMs >= 0 &&
    keyMs <= SPAN_MS_MAX &&
    claimEpoch >= 0 &&
    claimEpoch <= EPOCH_MAX;
  if (!isWithin) throw new StoreRefusedError('a time or a number of the task is out of range');
}

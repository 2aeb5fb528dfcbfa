/**
 * Runs that are tasks of the fleet: where a store is configured it is asked first, and this host's
 * journal only for what the store does not know. --local asks the journal alone.
 */
import type { Config } from '../../config/index.ts';
import { TaskNotFoundError } from '../../fleet/index.ts';
import { pause, type RunId, systemClock } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import type { Store, TaskRow } from '../../store/index.ts';
import type { Context, Options } from '../command.ts';
import { NoJournalError } from '../errors.ts';
import type { ExitCode } from '../exit.ts';
import { recordsOf } from './history.ts';
import { codecFor, withStore } from './open.ts';

const FOLLOW_EVERY_MS = 500;

export function asksStore(config: Config, options: Options): boolean {
  return config.store !== undefined && options['local'] !== true;
}

/** Acts on the task, or, where the store has none of that id, on the journal. */
export async function onTaskOrRun(
  { config }: Context,
  options: Options,
  id: string,
  onTask: (row: TaskRow, store: Store) => Promise<ExitCode>,
  onRun: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (!asksStore(config, options)) return onRun();
  const answer = await withStore(config, async (store) => {
    const [row] = await store.find([id as RunId]);
    return row && onTask(row, store);
  });
  if (answer !== undefined) return answer;
  return onRun().catch((error) => {
    throw error instanceof NoJournalError ? new TaskNotFoundError(id) : error;
  });
}

/** The records so far; with `isFollowed` also those to come, as fast as pods archive them. */
export async function* recordsOfTask(
  config: Config,
  store: Store,
  row: TaskRow,
  after: number,
  isFollowed: boolean,
): AsyncGenerator<StoredRecord> {
  let seq = after;
  for (let task: TaskRow | undefined = row; task; ) {
    const hasEnded = task.finishedAt !== undefined;
    for (const record of await recordsOf(store, task, seq, codecFor(config))) {
      seq = record.seq;
      yield record;
    }
    if (hasEnded || !isFollowed) return;
    await pause(systemClock, FOLLOW_EVERY_MS);
    const { generation } = task;
    [task] = await store.find([task.id]);
    // A redrive begins a new line of records.
    if (task && task.generation !== generation) seq = -1;
  }
}

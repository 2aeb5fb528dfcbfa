/**
 * Runs that are tasks of the fleet: where a store is configured it is asked first, and this host's
 * journal only for what the store does not know. --local asks the journal alone.
 */
import type { Config } from '../../config/index.ts';
import { TaskNotFoundError } from '../../fleet/index.ts';
import { pause, type RunId, systemClock } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import type { Store, StoreReader, TaskRow } from '../../store/index.ts';
import type { Context, Options } from '../command.ts';
import { NoJournalError } from '../errors.ts';
import type { ExitCode } from '../exit.ts';
import { recordsOf } from './history.ts';
import { codecFor, withReader, withStore } from './open.ts';

const FOLLOW_EVERY_MS = 500;

export function asksStore(config: Config, options: Options): boolean {
  return config.store !== undefined && options['local'] !== true;
}

/** Looks at the task, or, where the store has none of that id, at the run of the journal. */
export function lookAtEither(
  context: Context,
  options: Options,
  id: string,
  onTask: (row: TaskRow, reader: StoreReader) => Promise<ExitCode>,
  onRun: () => Promise<ExitCode>,
): Promise<ExitCode> {
  return either(context, options, id, onRun, () =>
    withReader(context.config, async (reader) => {
      const [row] = await reader.find([id as RunId]);
      return row && onTask(row, reader);
    }),
  );
}

/** The same for what changes it, which no replica can. */
export function onTaskOrRun(
  context: Context,
  options: Options,
  id: string,
  onTask: (row: TaskRow, store: Store) => Promise<ExitCode>,
  onRun: () => Promise<ExitCode>,
): Promise<ExitCode> {
  return either(context, options, id, onRun, () =>
    withStore(context.config, async (store) => {
      const [row] = await store.find([id as RunId]);
      return row && onTask(row, store);
    }),
  );
}

async function either(
  { config }: Context,
  options: Options,
  id: string,
  onRun: () => Promise<ExitCode>,
  inStore: () => Promise<ExitCode | undefined>,
): Promise<ExitCode> {
  if (!asksStore(config, options)) return onRun();
  const answer = await inStore();
  if (answer !== undefined) return answer;
  return onRun().catch((error) => {
    throw error instanceof NoJournalError ? new TaskNotFoundError(id) : error;
  });
}

/** Of a store, or of whoever reads there. */
type Looking = Pick<Store, 'find' | 'histories'>;

/** The records so far; with `isFollowed` also those to come, as fast as pods archive them. */
export async function* recordsOfTask(
  config: Config,
  store: Looking,
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

/**
 * Runs that are tasks of the fleet: where a store is configured it is asked first, and this host's
 * journal only for what the store does not know. --local asks the journal alone.
 */
import { LIMIT_MAX } from '../../admin/index.ts';
import { type Config, nearest } from '../../config/index.ts';
import { isBlocked, LiveRoutes, TaskNotFoundError } from '../../fleet/index.ts';
import { pause, type RunId, show, systemClock } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import {
  END_STATUSES,
  type Store,
  type TaskFilter,
  type TaskRow,
  type TaskStatus,
} from '../../store/index.ts';
import type { Context, Execute, Options } from '../command.ts';
import { NoJournalError, UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { countOf, idOf } from '../runs.ts';
import { withoutSecrets } from '../shown.ts';
import { recordsOf } from './history.ts';
import { codecFor, withStore } from './open.ts';
import { taskColumns, viewOf } from './task-view.ts';

const STATUSES: readonly TaskStatus[] = [
  ...(['pending', 'waiting', 'claimed'] as const),
  ...END_STATUSES,
];
const FOLLOW_EVERY_MS = 500;
const PAGE_COUNT = 200;

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

export const listTasks: Execute = async ({ config, output }, options) => {
  const status = statusOf(options['status']);
  const machine = options['machine'] as string | undefined;
  const before = idOf(options['before'] as string | undefined, '--before');
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const tasks = await withStore(config, async (store) => {
    const live = new LiveRoutes(await store.pods());
    const rows =
      status === 'blocked'
        ? await blockedIn(store, live, { machine, before, countMax })
        : await store.list({ status, machine, before, countMax });
    return rows.map((row) => withoutSecrets(viewOf(row, live), output.redact));
  });
  if (output.isJson) output.json({ tasks });
  else if (tasks.length > 0) output.table(tasks, taskColumns(systemClock.now()));
  else output.note('no such tasks');
  return tasks.length > 0 ? Exit.ok : Exit.nothingFound;
};

/** Computed, so there is no index of it: looked for among what has not ended. */
async function blockedIn(
  store: Store,
  live: LiveRoutes,
  { before: from, countMax, machine }: TaskFilter,
): Promise<TaskRow[]> {
  const found: TaskRow[] = [];
  let before = from;
  while (found.length < countMax) {
    const page = await store.list({ isInFlight: true, machine, before, countMax: PAGE_COUNT });
    found.push(...page.filter((row) => isBlocked(live, row)));
    if (page.length < PAGE_COUNT) break;
    before = page.at(-1)!.id;
  }
  return found.slice(0, countMax);
}

function statusOf(word: unknown): TaskStatus | 'blocked' | undefined {
  if (word === undefined) return undefined;
  if (word === 'blocked') return word;
  const found = STATUSES.find((status) => status === word);
  if (found) return found;
  const near = nearest(String(word), STATUSES);
  throw new UsageError(
    `--status of a task must be one of ${STATUSES.join(', ')}, blocked, got ${show(word)}`,
    { hint: near ? `did you mean ${near}?` : 'runs of this host alone are listed with --local' },
  );
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

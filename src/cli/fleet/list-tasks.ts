/** fleetq runs where a store is configured: the tasks of the fleet that a filter wants. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { LiveRoutes } from '../../fleet/index.ts';
import { nearest, type RunId, show } from '../../ground/index.ts';
import { type Filter, showFilter, type Term } from '../../query/index.ts';
import { END_STATUSES, type TaskStatus } from '../../store/index.ts';
import type { Context, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { refuseStatuses, termOf } from '../filter.ts';
import { given, pageNotes } from '../next-page.ts';
import { countOf, idOf } from '../runs.ts';
import { withoutSecrets } from '../shown.ts';
import { withReader } from './open.ts';
import { taskColumns, viewOf } from './task-view.ts';

const STATUSES: readonly TaskStatus[] = [
  ...(['pending', 'waiting', 'claimed'] as const),
  ...END_STATUSES,
];

export async function listTasks(
  { config, output }: Context,
  options: Options,
  asked: Filter,
): Promise<ExitCode> {
  refuseTasksStatuses(asked);
  const filter: Filter = { terms: [...asked.terms, ...flagTerms(options)] };
  const place = placeOf(options);
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const { tasks, now, cursor, lookedBackTo } = await withReader(config, async (reader) => {
    const live = new LiveRoutes(await reader.pods());
    const page = await reader.page({ filter, ...place, countMax });
    const views = page.tasks.map((row) => withoutSecrets(viewOf(row, live), output.redact));
    return { ...page, tasks: views, now: await reader.now() };
  });
  if (output.isJson) output.json({ tasks, cursor, lookedBackTo });
  else if (tasks.length > 0) output.table(tasks, taskColumns(now));
  else output.note('no such tasks');
  const command = ['runs', ...wordsOf(filter), ...given(options, ['limit'])];
  if (!output.isJson) {
    for (const note of pageNotes({ command, cursor, lookedBackTo })) output.note(note);
  }
  return tasks.length > 0 ? Exit.ok : Exit.nothingFound;
}

/** What no task can be is a mistake, wherever tasks are asked for. */
export function refuseTasksStatuses(filter: Filter): void {
  refuseStatuses(filter, STATUSES, 'a task of the fleet');
}

/** The filter as it is typed: nothing where it wants everything. */
export function wordsOf(filter: Filter): string[] {
  return filter.terms.length === 0 ? [] : [showFilter(filter)];
}

/** Where a page begins: behind a task, or where the page before has ended. */
export function placeOf({ before, cursor }: Options): {
  readonly before: RunId | undefined;
  readonly cursor: string | undefined;
} {
  if (before !== undefined && cursor !== undefined) {
    throw new UsageError('--before and --cursor both say where the page begins: give one of them');
  }
  return {
    before: idOf(before as RunId | undefined, '--before'),
    cursor: cursor as string | undefined,
  };
}

function flagTerms({ status, machine }: Options): Term[] {
  const terms = machine === undefined ? [] : [termOf('machine', String(machine))];
  if (status === undefined) return terms;
  if (status === 'blocked') return [...terms, termOf('is', status)];
  const found = STATUSES.find((each) => each === status);
  if (found) return [...terms, termOf('status', found)];
  const near = nearest(String(status), STATUSES);
  throw new UsageError(
    `--status of a task must be one of ${STATUSES.join(', ')}, blocked, got ${show(status)}`,
    { hint: near ? `did you mean ${near}?` : 'runs of this host alone are listed with --local' },
  );
}

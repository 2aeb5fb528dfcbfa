/** fleetq runs where a store is configured: the tasks of the fleet that a filter wants. */
import { LIMIT_MAX } from '../../admin/index.ts';
import { isBlocked, LiveRoutes } from '../../fleet/index.ts';
import { nearest, show, systemClock } from '../../ground/index.ts';
import { type Filter, matches, type Term } from '../../query/index.ts';
import {
  END_STATUSES,
  factsOfTask,
  type Store,
  type TaskFilter,
  type TaskRow,
  type TaskStatus,
} from '../../store/index.ts';
import type { Context, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { refuseStatuses, termOf, wordAsked } from '../filter.ts';
import { countOf, idOf } from '../runs.ts';
import { withoutSecrets } from '../shown.ts';
import { type Sifted, type Sifting, sift, siftedNote } from '../sift.ts';
import { withStore } from './open.ts';
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
  refuseStatuses(asked, STATUSES, 'a task of the fleet');
  const filter: Filter = { terms: [...asked.terms, ...flagTerms(options)] };
  const before = idOf(options['before'] as string | undefined, '--before');
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const now = systemClock.now();
  const { tasks, lookedUntil } = await withStore(config, async (store) => {
    const live = new LiveRoutes(await store.pods());
    const { found, ...page } = await pageOf(store, live, filter, { before, countMax, now });
    return { ...page, tasks: found.map((row) => withoutSecrets(viewOf(row, live), output.redact)) };
  });
  if (output.isJson) output.json({ tasks, lookedUntil });
  else if (tasks.length > 0) output.table(tasks, taskColumns(now));
  else output.note('no such tasks');
  if (lookedUntil !== undefined && !output.isJson) output.note(siftedNote(lookedUntil));
  return tasks.length > 0 ? Exit.ok : Exit.nothingFound;
}

/** The one place that knows how a store is asked for what a filter wants. */
function pageOf(
  store: Store,
  live: LiveRoutes,
  filter: Filter,
  { now, ...page }: Omit<Sifting, 'isExact'> & { readonly now: number },
): Promise<Sifted<TaskRow>> {
  const { isExact, ...narrow } = narrowed(filter);
  return sift(
    (before, countMax) => store.list({ ...narrow, before, countMax }),
    (row) => matches(filter, factsOfTask(row, isBlocked(live, row)), now),
    { ...page, isExact },
  );
}

/** What the store can be asked for by itself, and whether that is all. */
function narrowed(filter: Filter): Omit<TaskFilter, 'countMax'> & { isExact: boolean } {
  const machine = wordAsked(filter, 'machine');
  const status = STATUSES.find((each) => each === wordAsked(filter, 'status'));
  const is = wordAsked(filter, 'is');
  const told = [machine, status].filter((each) => each !== undefined).length;
  return {
    machine,
    status,
    // What is blocked has not ended.
    ...(is === 'unfinished' || is === 'blocked' ? { isInFlight: true } : {}),
    ...(is === 'dead-letter' ? { isDeadLetter: true } : {}),
    isExact: told === filter.terms.length,
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

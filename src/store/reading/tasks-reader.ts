/** What people ask about tasks, over any source of them: pages, counts, histograms, errors. */
import type { Clock } from '../../ground/index.ts';
import { EVERYTHING, type Filter } from '../../query/index.ts';
import { CursorError, StoreOptionsError } from '../errors.ts';
import type {
  Count,
  ErrorGroups,
  ErrorsQuery,
  Histogram,
  HistogramQuery,
  Page,
  PageQuery,
  Unpaged,
} from '../reader.ts';
import { decodeCursor, encodeCursor, listOf, type Position } from './cursor.ts';
import { ErrorTally } from './error-tally.ts';
import { type Histo, partsOf, spread } from './histogram.ts';
import { asksForBlocked, countsFromNow, questionOf } from './question.ts';
import type { Found, TaskSource } from './source.ts';
import { BUDGET_MS, gathered, type Walk, walkBack } from './walk.ts';

const PAGE_COUNT_MAX = 1_000;
/** Counting ends here: beyond it people want to know that there are many. */
export const COUNTED_MAX = 10_000;

type Asking = Pick<PageQuery, 'filter' | 'nowMs' | 'liveRoutes' | 'budgetMs'>;

export class TasksReader {
  readonly #source: TaskSource;
  readonly #clock: Clock;

  constructor(source: TaskSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  async page(query: PageQuery): Promise<Page> {
    const list = listOf(query.filter);
    const cursor =
      query.cursor === undefined
        ? undefined
        : decodeCursor(query.cursor, list, (at) => this.#source.isAt(at));
    const nowMs = cursor?.nowMs ?? (await this.#nowOf(query));
    const after = cursor ?? (await this.#placeOf(query.before));
    const walk = await this.#walkOf({ ...query, nowMs });
    const count = Math.max(1, Math.min(query.countMax, PAGE_COUNT_MAX));
    const { found, end, isOutOfTime } = await findPage(walk, after, count);
    const tasks = found.slice(0, count);
    const last: Position | undefined = found.length > count ? tasks.at(-1) : end;
    return {
      tasks: tasks.map(({ task }) => task),
      cursor: last && encodeCursor(list, { at: last.at, id: last.id, nowMs }),
      lookedBackTo: isOutOfTime && found.length < count ? end?.createdMs : undefined,
    };
  }

  async count(query: Unpaged): Promise<Count> {
    const walk = await this.#walkOf(query);
    if (walk.question.statuses.length === 0) return { count: 0, isExact: true };
    const few = await gathered(walk, undefined, COUNTED_MAX);
    if (few) return { count: few.length, isExact: true };
    let count = 0;
    const stop = await tallyBack(walk, { fromMs: 0, widthMs: Number.MAX_SAFE_INTEGER }, (each) => {
      count += each.count;
      return count > COUNTED_MAX;
    });
    return count > COUNTED_MAX
      ? { count: COUNTED_MAX, isExact: false }
      : { count, isExact: stop.end === undefined };
  }

  async histogram(query: HistogramQuery): Promise<Histogram> {
    const parts = partsOf(query);
    const asked = await this.#walkOf(query);
    const question = {
      ...asked.question,
      from: Math.max(asked.question.from, Math.ceil(query.fromMs)),
      until: Math.min(asked.question.until, Math.ceil(query.untilMs)),
    };
    const walk = { ...asked, question };
    const counts: Histo = new Map();
    if (question.statuses.length === 0)
      return { buckets: spread(query, parts, counts), lookedBackTo: undefined };
    const stop = await tallyBack(walk, parts, ({ part, status, count }) => {
      const bucket = counts.get(part) ?? {};
      counts.set(part, { ...bucket, [status]: (bucket[status] ?? 0) + count });
      return false;
    });
    return {
      buckets: spread(query, parts, counts),
      lookedBackTo: stop.isOutOfTime ? stop.end?.createdMs : undefined,
    };
  }

  async errors(query: ErrorsQuery): Promise<ErrorGroups> {
    const walk = await this.#walkOf(query);
    const statuses = walk.question.statuses.filter((status) => status === 'failed');
    const question = { ...walk.question, statuses };
    const tally = new ErrorTally(query.isOfNames ?? false);
    if (statuses.length === 0) return { groups: [], lookedBackTo: undefined };
    const stop = await foundBack({ ...walk, question }, (task) => tally.add(task.task));
    return {
      groups: tally.groups(query.countMax),
      lookedBackTo: stop.isOutOfTime ? stop.end?.createdMs : undefined,
    };
  }

  async #placeOf(task: string | undefined): Promise<Position | undefined> {
    if (task === undefined) return undefined;
    const question = questionOf({ filter: EVERYTHING, nowMs: 0, liveRoutes: [] });
    const [found] = await this.#source.among([task], { question, after: undefined }, 1);
    if (found) return found;
    throw new CursorError(`there is no task ${task} whose older ones could be told`);
  }

  /** The store is asked for its clock only where something is counted from it. */
  async #nowOf({ nowMs, filter }: Asking): Promise<number> {
    if (nowMs !== undefined) return nowMs;
    return countsFromNow(filter) ? this.#source.now() : 0;
  }

  async #walkOf(query: Asking): Promise<Walk> {
    const nowMs = await this.#nowOf(query);
    const liveRoutes = query.liveRoutes ?? (await this.#liveRoutesFor(query.filter));
    const { budgetMs = BUDGET_MS } = query;
    if (!(budgetMs >= 0))
      throw new StoreOptionsError(`budgetMs must be 0 or more, got ${budgetMs}`);
    const question = questionOf({ filter: query.filter, nowMs, liveRoutes });
    return { source: this.#source, clock: this.#clock, question, budgetMs };
  }

  async #liveRoutesFor(filter: Filter): Promise<readonly string[]> {
    return asksForBlocked(filter) ? this.#source.liveRoutes() : [];
  }
}

/** Up to one more than `count`, so that it is known whether there are more. */
async function findPage(walk: Walk, after: Position | undefined, count: number) {
  const { question, source } = walk;
  const nothing = { found: [] as readonly Found[], end: undefined, isOutOfTime: false };
  if (question.statuses.length === 0) return nothing;
  const few = await gathered(walk, after, count + 1);
  if (few) return { ...nothing, found: few };
  const isAll = question.conditions.length === 0 && question.isExact;
  const rowsFirst = isAll ? count + 1 : Math.max(source.pace.rowsFirst, count + 1);
  const found: Found[] = [];
  const stop = await walkBack(walk, after, rowsFirst, async (place, rowsMax) => {
    const wanted = question.isExact ? count + 1 - found.length : rowsMax;
    const slice = await source.slice({ question, after: place, rowsMax }, wanted);
    found.push(...slice.found.filter(({ task }) => question.fits(task)));
    return { end: slice.end, isDone: found.length >= count };
  });
  return { found, ...stop };
}

/** Every task that fits, newest first, until the time is over. */
function foundBack(walk: Walk, add: (found: Found) => boolean) {
  const { source, question } = walk;
  return walkBack(walk, undefined, source.pace.rowsFirst, async (after, rowsMax) => {
    const slice = await source.slice({ question, after, rowsMax }, rowsMax);
    const fitting = slice.found.filter(({ task }) => question.fits(task));
    return { end: slice.end, isDone: fitting.map(add).some(Boolean) };
  });
}

interface Counted {
  readonly part: number;
  readonly status: Found['task']['status'];
  readonly count: number;
}

/** How many fit, by part and status. In the store where it has the last word; here otherwise. */
function tallyBack(
  walk: Walk,
  parts: { readonly fromMs: number; readonly widthMs: number },
  add: (counted: Counted) => boolean,
) {
  const { source, question } = walk;
  if (!question.isExact) {
    return foundBack(walk, ({ task }) => {
      const part = Math.floor((task.createdAt - parts.fromMs) / parts.widthMs);
      return add({ part, status: task.status, count: 1 });
    });
  }
  return walkBack(walk, undefined, source.pace.rowsFirst, async (after, rowsMax) => {
    const tally = await source.tally({ question, after, rowsMax }, parts);
    return { end: tally.end, isDone: tally.counts.map(add).some(Boolean) };
  });
}

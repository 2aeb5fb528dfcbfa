/** Lists of runs: pages, counts and a histogram, by one grammar of filters. */
import * as z from 'zod';
import { nearest } from '../../config/index.ts';
import { LiveRoutes } from '../../fleet/index.ts';
import { show } from '../../ground/index.ts';
import { type Filter, STATUSES, wordFits } from '../../query/index.ts';
import { TIME_MS_MAX } from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { filterOf, localPage } from '../desk/filter.ts';
import { lastPlaces } from '../desk/last-places.ts';
import { showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { viewOfRun, viewOfTask } from '../desk/views.ts';
import type { Door } from '../door/door.ts';
import { isWanted, WANTED } from '../list-runs.ts';
import { badRequest } from '../problem.ts';
import { type Asked, ok, route } from '../table.ts';
import { limit, lookedBackTo, Run, source, text, whole } from './shapes.ts';

const COUNT_OTHERWISE = 50;
const FILTER_LENGTH_MAX = 2_000;
const CURSOR_LENGTH_MAX = 1_000;
const BUCKETS_MAX = 200;

const asked = {
  filter: text(FILTER_LENGTH_MAX).optional().describe('terms such as `status:failed created:<2h`'),
  status: text(40).optional().describe('a term for it'),
  machine: text(200).optional().describe('a term for it'),
  source: source.optional().describe('`journal`: only the runs of this process'),
};
const page = {
  ...asked,
  cursor: text(CURSOR_LENGTH_MAX).optional().describe('where the page before has ended'),
  before: text(200).optional().describe('of the journal: only runs older than this one'),
  limit,
};
type PageQuery = z.infer<z.ZodObject<typeof page>>;

export const runsRoutes = [
  route({
    method: 'GET',
    path: '/runs',
    role: 'read',
    changes: 'none',
    summary: 'runs, newest first, without their inputs and outputs',
    query: page,
    answers: {
      status: 200,
      schema: z.strictObject({
        runs: z.array(Run),
        cursor: z.string().optional().describe('of the next page; none where there is no more'),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, query, door }) => {
      // Lists hold no payloads, and errors are masked for everybody whose payloads would be.
      const shown = showing(door.isMasked, desk.redacted);
      if (isLocal(desk, query)) return ok(listLocal(desk, query, door));
      if (query.before !== undefined) throw badRequest('before is for source=journal: use cursor');
      const reader = await sharedOf(desk, 'a list of tasks').reader();
      const live = new LiveRoutes(await reader.pods());
      const { limit: countMax = COUNT_OTHERWISE, cursor } = query;
      const liveRoutes = live.routes;
      const found = await reader.page({
        filter: filterIn(query, door),
        cursor,
        countMax,
        liveRoutes,
      });
      const places = await lastPlaces(reader, found.tasks);
      const runs = found.tasks.map((row) => ({
        ...viewOfTask(row, shown, live),
        state: places.get(row.id),
      }));
      return ok({ runs, cursor: found.cursor, lookedBackTo: found.lookedBackTo });
    },
  }),
  route({
    method: 'GET',
    path: '/runs/count',
    role: 'read',
    changes: 'none',
    summary: 'how many there are, up to a bound',
    query: { filter: asked.filter, status: asked.status, machine: asked.machine },
    answers: {
      status: 200,
      schema: z.strictObject({ count: z.number(), isExact: z.boolean() }),
    },
    answer: async ({ desk, query, door }) => {
      const reader = await sharedOf(desk, 'a count').reader();
      const liveRoutes = new LiveRoutes(await reader.pods()).routes;
      const wanted = { filter: filterIn(query, door), countMax: COUNT_MAX, liveRoutes };
      return ok(await reader.count(wanted));
    },
  }),
  route({
    method: 'GET',
    path: '/runs/histogram',
    role: 'read',
    changes: 'none',
    summary: 'how many were created when, by status',
    query: {
      filter: asked.filter,
      status: asked.status,
      machine: asked.machine,
      from: whole(0, TIME_MS_MAX).describe('milliseconds since the epoch'),
      until: whole(0, TIME_MS_MAX).describe('milliseconds since the epoch'),
      buckets: whole(1, BUCKETS_MAX).optional(),
    },
    answers: {
      status: 200,
      schema: z.strictObject({
        buckets: z.array(
          z.strictObject({
            fromMs: z.number(),
            untilMs: z.number(),
            byStatus: z.record(z.string(), z.number()),
          }),
        ),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, query, door }) => {
      if (query.from >= query.until) throw badRequest('from must be before until');
      const reader = await sharedOf(desk, 'a histogram').reader();
      const liveRoutes = new LiveRoutes(await reader.pods()).routes;
      const [fromMs, untilMs] = [query.from, query.until];
      const buckets = query.buckets ?? COUNT_OTHERWISE;
      const wanted = { filter: filterIn(query, door), fromMs, untilMs, buckets, liveRoutes };
      return ok(await reader.histogram(wanted));
    },
  }),
];

const COUNT_MAX = 10_000;

function isLocal(
  desk: Desk,
  query: { readonly source?: 'journal' | 'store' | undefined },
): boolean {
  return query.source === 'journal' || (query.source === undefined && desk.shared === undefined);
}

/** Words for a status and a machine are terms as any other, and a mistyped one finds no empty list. */
function filterIn(
  { filter, status, machine }: Pick<PageQuery, 'filter' | 'status' | 'machine'>,
  { isMasked }: Door,
): Filter {
  refuseUnknownStatus(status);
  const terms = Object.entries({ status, machine }).flatMap(([field, word]) =>
    word === undefined
      ? []
      : [{ kind: 'words' as const, field: field as 'status', isNot: false, words: [word] }],
  );
  return { terms: [...filterOf(filter, isMasked).terms, ...terms] };
}

function refuseUnknownStatus(status: string | undefined): void {
  if (status === undefined || STATUSES.some((known) => wordFits(status, known))) return;
  const near = nearest(status, STATUSES);
  throw badRequest(
    `there is no status ${show(status)}`,
    `${near ? `did you mean ${near}? ` : ''}there are: ${STATUSES.join(', ')}`,
  );
}

function listLocal(desk: Desk, query: Asked<PageQuery>['query'], { isMasked }: Door): object {
  const { status, machine, limit: countMax = COUNT_OTHERWISE } = query;
  if (status !== undefined && !isWanted(status)) {
    throw badRequest(`status must be one of ${WANTED.join(', ')}, got ${show(status)}`);
  }
  if (!desk.journal) throw badRequest('this process has no journal: ask for source=store');
  const before = query.cursor ?? query.before;
  const found = localPage(desk.journal, filterOf(query.filter, isMasked), {
    now: desk.clock.now(),
    query: { status, machine, before, countMax },
  });
  const now = desk.clock.now();
  const shown = showing(isMasked, desk.redacted);
  return { runs: found.runs.map((run) => viewOfRun(run, now, shown)), cursor: found.cursor };
}

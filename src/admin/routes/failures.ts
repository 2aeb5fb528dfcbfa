/** What failed for good, failures that are one and the same, and what people have done about it. */
import * as z from 'zod';
import type { Term } from '../../query/index.ts';
import { filterOf } from '../desk/filter.ts';
import { showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { jsonOf, viewOfTask } from '../desk/views.ts';
import { ok, route } from '../table.ts';
import { limit, lookedBackTo, Run, text } from './shapes.ts';

const COUNT_OTHERWISE = 50;
const LETTERS: Term = { kind: 'words', field: 'is', isNot: false, words: ['dead-letter'] };
const filter = text(2_000).optional().describe('more terms');
const cursor = text(1_000).optional();

export const failureRoutes = [
  route({
    method: 'GET',
    path: '/dead-letters',
    role: 'read',
    changes: 'none',
    summary: 'tasks that failed for good and that nobody has discarded, newest first',
    query: { filter, cursor, limit },
    answers: {
      status: 200,
      schema: z.strictObject({
        deadLetters: z.array(Run),
        cursor: z.string().optional(),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await sharedOf(desk, 'dead letters').reader();
      const wanted = { terms: [LETTERS, ...filterOf(query.filter, door.isMasked).terms] };
      const { limit: countMax = COUNT_OTHERWISE } = query;
      const found = await reader.page({ filter: wanted, cursor: query.cursor, countMax });
      const shown = showing(door.isMasked, desk.redacted);
      const deadLetters = found.tasks.map((row) => viewOfTask(row, shown));
      return ok({ deadLetters, cursor: found.cursor, lookedBackTo: found.lookedBackTo });
    },
  }),
  route({
    method: 'GET',
    path: '/errors',
    role: 'read',
    changes: 'none',
    summary: 'failures grouped by what they have in common, the most frequent first',
    query: { filter, limit },
    answers: {
      status: 200,
      schema: z.strictObject({
        groups: z.array(
          z.strictObject({
            fingerprint: z.string(),
            machine: z.string(),
            outcome: z.string(),
            name: z.string(),
            message: z.string(),
            count: z.number(),
            firstAt: z.number(),
            lastAt: z.number(),
            example: z.string(),
          }),
        ),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await sharedOf(desk, 'groups of errors').reader();
      const filter = filterOf(query.filter, door.isMasked);
      const countMax = query.limit ?? COUNT_OTHERWISE;
      const wanted = { filter, countMax, isOfNames: door.isMasked };
      const { groups, lookedBackTo: until } = await reader.errors(wanted);
      const shown = showing(door.isMasked, desk.redacted);
      const told = groups.map((group) => ({ ...group, message: shown.text(group.message) ?? '' }));
      return ok({ groups: told, lookedBackTo: until });
    },
  }),
  route({
    method: 'GET',
    path: '/audit',
    role: 'admin',
    changes: 'none',
    summary: 'who did what, newest first',
    query: {
      task: text(100).optional(),
      who: text(200).optional(),
      what: text(100).optional(),
      cursor,
      limit,
    },
    answers: {
      status: 200,
      schema: z.strictObject({
        rows: z.array(
          z.strictObject({
            requestId: z.string(),
            at: z.number(),
            who: z.string(),
            what: z.string(),
            task: z.string().optional(),
            detail: z.unknown().optional(),
          }),
        ),
        cursor: z.string().optional(),
      }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await sharedOf(desk, 'the audit log').reader();
      const { limit: countMax = COUNT_OTHERWISE, task, ...rest } = query;
      const page = await reader.audit({ ...rest, task: task as never, countMax });
      const shown = showing(door.isMasked, desk.redacted);
      const rows = page.rows.map((row) => ({ ...row, detail: told(jsonOf(row.detail), shown) }));
      return ok({ rows, cursor: page.cursor });
    },
  }),
];

/** Reasons and filters are what people wrote, and may be guessed at by the digest; all else is ours. */
function told(detail: unknown, shown: ReturnType<typeof showing>): unknown {
  if (typeof detail !== 'object' || detail === null) return detail;
  const { digest: _, ...rest } = detail as Readonly<Record<string, unknown>>;
  // A filter that looks at the names of errors alone tells nothing of what they say.
  const names = rest['isMasked'] === true ? ['reason'] : ['reason', 'filter'];
  const words = names.filter((name) => typeof rest[name] === 'string');
  const masked = words.map((name) => [name, shown.text(rest[name] as string)]);
  return { ...rest, ...Object.fromEntries(masked) };
}

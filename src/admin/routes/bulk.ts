/**
 * What people do to many runs at once. An operation is begun once under one Idempotency-Key, goes on
 * whatever becomes of whoever asked for it, and is paused, resumed, paced and cancelled by orders.
 */
import * as z from 'zod';
import {
  BulkNotFoundError,
  type BulkView,
  bulkOf,
  bulkOrderOf,
  bulkViewsOf,
  previewBulk,
} from '../../fleet/index.ts';
import { isRunId, runIdMint } from '../../ground/index.ts';
import {
  BULK_COUNT_MAX,
  BULK_RATE_MAX,
  BULK_WHATS,
  type BulkDeed,
  type BulkOrder,
  type BulkRow,
  type StoreReader,
} from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { type Shown, showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { mayDo, type Visitor } from '../door/door.ts';
import { badRequest, RequestError } from '../problem.ts';
import { type Asked, ok, type Route, route } from '../table.ts';
import { dueOf } from './acts.ts';
import { tellActed } from './audit-note.ts';
import { Bulk, BulkOrdered, BulkTried } from './bulk-shapes.ts';
import { guarded, limit, text } from './shapes.ts';

const COUNT_OTHERWISE = 50;
const FILTER_LENGTH_MAX = 2_000;
const REASON_LENGTH_MAX = 1_000;

const rate = z.int().min(1).max(BULK_RATE_MAX);
const wanted = {
  what: z.enum(BULK_WHATS),
  filter: text(FILTER_LENGTH_MAX).describe('which runs, in the grammar of lists'),
  reason: z.string().max(REASON_LENGTH_MAX).optional().describe('of `cancel`'),
  runAt: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe('of `reschedule`'),
  isFresh: z.boolean().optional().describe('of `redrive`'),
  rate: rate.optional().describe('runs a second; 50 where nothing is said'),
  limit: z.int().min(1).max(BULK_COUNT_MAX).optional().describe('no more runs than these'),
  dryRun: guarded.dryRun,
};
type Wanted = z.infer<z.ZodObject<typeof wanted>>;

export const bulkRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/bulk',
    role: 'read',
    changes: 'none',
    summary: 'what is, or was, done to many runs at once, newest first',
    query: { cursor: text(100).optional(), limit },
    answers: {
      status: 200,
      schema: z.strictObject({ bulks: z.array(Bulk), cursor: z.string().optional() }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await readerOf(desk);
      const { limit: countMax = COUNT_OTHERWISE, cursor: before } = query;
      const rows = await reader.bulks({ before, countMax });
      const shown = showing(door.isMasked, desk.redacted);
      const bulks = (await bulkViewsOf(rows, reader)).map((view) => told(view, shown));
      const cursor = rows.length < countMax ? undefined : rows.at(-1)?.id;
      return ok({ bulks, cursor });
    },
  }),
  route({
    method: 'GET',
    path: '/bulk/:id',
    role: 'read',
    changes: 'none',
    summary: 'one of them: how far it is, what refused, and which run is at it',
    query: {},
    answers: { status: 200, schema: Bulk },
    answer: async ({ desk, door, id }) => {
      if (!isRunId(id)) throw new BulkNotFoundError(id);
      const reader = await readerOf(desk);
      const [row] = await reader.bulks({ ids: [id], countMax: 1 });
      if (!row) throw new BulkNotFoundError(id);
      return ok(await toldOf(row, reader, showing(door.isMasked, desk.redacted)));
    },
  }),
  route({
    method: 'POST',
    path: '/bulk',
    role: 'operate',
    changes: 'act',
    summary:
      'does it to every run that a filter finds; 201 once it is durable. `discard` is for admins',
    query: {},
    body: wanted,
    answers: {
      status: 201,
      schema: z.union([Bulk, BulkTried]),
      also: { 200: 'it was only tried: `dryRun`' },
    },
    answer: async (asked) => {
      const { desk, door, requestId, who } = asked;
      refuseRevision(asked);
      refuseDiscard(asked.who, asked.body.what);
      const { filter, rate: perSecond, limit: countMax } = asked.body;
      const words = { requestId, who: who?.name ?? 'nobody', via: 'api' };
      const of = { deed: deedOf(asked.body), filter, isMasked: door.isMasked };
      const bulk = bulkOf(
        { ...of, ...words, rate: perSecond, countMax },
        runIdMint(desk.clock, desk.random),
      );
      const shared = sharedOf(desk, 'a bulk operation');
      const reader = await shared.reader();
      if (asked.body.dryRun === true) {
        const preview = await previewBulk(bulk, reader, (act) => shared.port.act(act));
        return ok({ isDryRun: true, ...preview });
      }
      const begun = await shared.port.beginBulk(bulk);
      tellActed(asked, 'bulk', undefined);
      const shown = showing(door.isMasked, desk.redacted);
      const told = await toldOf(begun.bulk, reader, shown);
      return { status: 201, body: { ...told, isRepeated: begun.isRepeated } };
    },
  }),
  order('pause', 'stops it after what is in hand; what it has not come to stays as it is'),
  order('resume', 'lets it go on, also where its run has ended without it'),
  order('cancel', 'ends it after what is in hand; what was done stays done'),
  order('pace', 'changes how many runs a second', { rate }),
];

function order<B extends z.ZodRawShape>(
  what: BulkOrder['order']['what'],
  summary: string,
  body: B = {} as B,
): Route {
  return route({
    method: 'POST',
    path: `/bulk/:id/${what}`,
    role: 'operate',
    changes: 'act',
    summary,
    query: {},
    body: { dryRun: guarded.dryRun, ...body },
    answers: { status: 200, schema: BulkOrdered },
    answer: async (asked) => {
      const { desk, door, id, requestId, who } = asked;
      if (!isRunId(id)) throw new BulkNotFoundError(id);
      refuseRevision(asked);
      const given = asked.body as { readonly dryRun?: boolean; readonly rate?: number };
      const wish = what === 'pace' ? { what, rate: given.rate! } : { what };
      const by = { requestId, who: who?.name ?? 'nobody', via: 'api', isDryRun: given.dryRun };
      const shared = sharedOf(desk, 'a bulk operation');
      const reader = await shared.reader();
      const [row] = await reader.bulks({ ids: [id], countMax: 1 });
      // To stop it is anybody's; to go on with what wants an admin is an admin's.
      if (row && (what === 'resume' || what === 'pace')) refuseDiscard(who, row.what);
      const mint = runIdMint(desk.clock, desk.random);
      const answer = await shared.port.orderBulk(bulkOrderOf(id, wish, by, mint));
      if (answer.kind === 'refused') throw refusalOf(id, answer);
      const { kind, isRepeated, isDryRun } = answer;
      if (!isDryRun) tellActed(asked, `bulk.${what}`, undefined);
      const shown = showing(door.isMasked, desk.redacted);
      const bulk = await toldOf(answer.bulk, reader, shown);
      return ok({ kind, isRepeated, isDryRun, requestId, bulk });
    },
  });
}

async function readerOf(desk: Desk): Promise<StoreReader> {
  return sharedOf(desk, 'bulk operations').reader();
}

async function toldOf(row: BulkRow, reader: StoreReader, shown: Shown): Promise<object> {
  const [view] = await bulkViewsOf([row], reader);
  return told(view!, shown);
}

/** A reason is what somebody wrote; all else is ours. */
function told({ isMasked, ...view }: BulkView, shown: Shown): object {
  // Whoever typed it may be shown what errors say, and looked for that.
  const filter = isMasked ? view.filter : shown.text(view.filter);
  if (typeof view.deed !== 'object' || view.deed === null) return { ...view, filter, deed: {} };
  const { reason, ...rest } = view.deed as { readonly reason?: string };
  return {
    ...view,
    filter,
    deed: { ...rest, ...(reason === undefined ? {} : { reason: shown.text(reason) }) },
  };
}

function refuseRevision({ ifRevision }: Pick<Asked, 'ifRevision'>): void {
  if (ifRevision === undefined) return;
  throw badRequest('a bulk operation has no revision: leave If-Match out');
}

/** One alone wants an admin, and so do many. */
function refuseDiscard(who: Visitor | undefined, what: string): void {
  if (what !== 'discard' || (who && mayDo(who, 'admin'))) return;
  throw new RequestError(403, 'FLEETQ_FORBIDDEN', 'to discard runs wants the role admin');
}

function deedOf({ what, reason, runAt, isFresh }: Wanted): BulkDeed {
  refuseStray(what, { cancel: { reason }, reschedule: { runAt }, redrive: { isFresh } });
  switch (what) {
    case 'cancel':
      return { what, reason: reason || 'cancelled by request' };
    case 'reschedule':
      if (runAt === undefined) throw badRequest('reschedule wants runAt: a duration, or a time');
      return { what, due: dueOf(runAt) };
    case 'redrive':
      return { what, isFresh: isFresh ?? false };
    default:
      return { what };
  }
}

/** What belongs to another deed was meant for it. */
function refuseStray(what: string, words: Readonly<Record<string, object>>): void {
  for (const [of, given] of Object.entries(words)) {
    const [stray] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
    if (of !== what && stray !== undefined)
      throw badRequest(`${stray} is for ${of}, not for ${what}`);
  }
}

function refusalOf(id: string, { why, detail }: { readonly why: string; readonly detail: string }) {
  if (why === 'unknown') return new BulkNotFoundError(id);
  return new RequestError(409, 'FLEETQ_REFUSED', `${why}: ${detail}`);
}

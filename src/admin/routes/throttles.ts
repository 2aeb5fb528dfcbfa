/** APIs that the fleet calls: how each is, who has which share, and what people fix or forget. */
import * as z from 'zod';
import { parseDuration, show } from '../../ground/index.ts';
import { API_CHARS_MAX, PIN_MAX, type ThrottleOrder } from '../../store/index.ts';
import { API_NAME, isApiName, type ThrottleView } from '../../throttle/index.ts';
import type { Desk } from '../desk/desk.ts';
import { sharedOf } from '../desk/need-store.ts';
import { pinNote } from '../desk/pin-note.ts';
import { throttleViews } from '../desk/throttle-views.ts';
import { badRequest, RequestError } from '../problem.ts';
import { type Asked, ok, type Route, route } from '../table.ts';
import { tellActed } from './audit-note.ts';
import { guarded, instant, limit, reason, text } from './shapes.ts';

const COUNT_OTHERWISE = 100;

const Throttle = z
  .strictObject({
    api: z.string(),
    state: z.string().describe('how it is, as a sentence'),
    cap: z.number().optional().describe('calls that the fleet may have out at once'),
    isAdaptive: z.boolean().optional().describe('whether that is found out, or what is declared'),
    learned: z.number().optional().describe('what was found to go well, where it is adaptive'),
    latencyMs: z.number().optional(),
    breaker: z.enum(['closed', 'open', 'half-open']),
    decision: z.string().optional().describe('what the leader did last, where it is adaptive'),
    pausedMs: z.number().describe('for so long the API asked to be left alone'),
    ageMs: z.number().describe('since it was last said'),
    ceiling: z.number().optional().describe('what was declared: no more, whatever is fixed'),
    perSecond: z.number().optional().describe('declared: no more calls a second'),
    costPerMinute: z.number().optional().describe('declared: no more cost a minute'),
    pinned: z.number().optional().describe('what a person has fixed it to'),
    pinnedBy: z.string().optional(),
    pinnedUntil: instant.optional(),
    now: z
      .strictObject({
        ...{ demand: z.number(), inFlight: z.number(), waiting: z.number() },
        ...{ sent: z.number(), ok: z.number(), throttled: z.number(), failed: z.number() },
      })
      .optional()
      .describe('of the fleet: out and waiting now, and how calls ended in the last 10 s'),
    pods: z.array(
      z.strictObject({
        pod: z.string(),
        name: z.string(),
        share: z.number(),
        inFlight: z.number(),
        waiting: z.number(),
      }),
    ),
    parked: z
      .strictObject({ count: z.number(), isExact: z.boolean().describe('or there are more') })
      .describe('runs that gave their slots up until it has room for them'),
  })
  .meta({ id: 'Throttle' });

const Changed = z.strictObject({
  kind: z.enum(['done', 'already']),
  isRepeated: z.boolean(),
  isDryRun: z.boolean(),
  requestId: z.string(),
  throttle: Throttle.optional().describe('as it is now, where anything is known of it'),
  note: z.string().optional().describe('of a pin that limits nothing yet, or less than it says'),
});

const said = {
  reason,
  dryRun: guarded.dryRun,
};

export const throttleRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/throttles',
    role: 'read',
    changes: 'none',
    summary: 'the APIs that the fleet calls, by name, with how each is',
    query: { cursor: text(API_CHARS_MAX).optional(), limit },
    answers: {
      status: 200,
      schema: z.strictObject({ throttles: z.array(Throttle), cursor: z.string().optional() }),
    },
    answer: async ({ desk, query }) => {
      const { limit: countMax = COUNT_OTHERWISE, cursor: after = '' } = query;
      const views = (await viewsOf(desk)).filter(({ api }) => api > after);
      const throttles = views.slice(0, countMax);
      const cursor = views.length > countMax ? throttles.at(-1)?.api : undefined;
      return ok({ throttles, cursor });
    },
  }),
  route({
    method: 'GET',
    path: '/throttles/:id',
    role: 'read',
    changes: 'none',
    summary: "one of them, with every pod's share",
    query: {},
    answers: { status: 200, schema: Throttle },
    answer: async ({ desk, id }) => {
      const view = await viewOf(desk, id);
      if (!view) throw noApi(id);
      return ok(view);
    },
  }),
  route({
    method: 'POST',
    path: '/throttles/:id/pin',
    role: 'operate',
    changes: 'act',
    summary: 'fixes its limit for the whole fleet, for a time or until somebody lets go of it',
    query: {},
    body: {
      limit: z.number().positive().max(PIN_MAX).describe('calls that may be out at once'),
      for: text(100).optional().describe("for so long, such as '30m'"),
      ...said,
    },
    answers: { status: 200, schema: Changed },
    answer: (asked) => {
      if (!isApiName(asked.id))
        throw badRequest(`the name of an API is a ${API_NAME}, got ${show(asked.id)}`);
      const { limit: cap, for: during } = asked.body;
      const forMs = during === undefined ? undefined : parseDuration(during);
      if (during !== undefined && !(forMs! > 0))
        throw badRequest(
          `for wants a duration above 0, such as '30m', and at most ten years, got ${show(during)}`,
        );
      const order = { what: 'pin', api: asked.id, cap } as const;
      return changed(asked, forMs === undefined ? order : { ...order, forMs });
    },
  }),
  order('unpin', 'lets go of a limit that was fixed'),
  order('reset', 'forgets what was found out about it: the fleet begins anew'),
];

function order(what: 'unpin' | 'reset', summary: string): Route {
  return route({
    method: 'POST',
    path: `/throttles/:id/${what}`,
    role: 'operate',
    changes: 'act',
    summary,
    query: {},
    body: said,
    answers: { status: 200, schema: Changed },
    answer: async (asked) => {
      if (!(await viewOf(asked.desk, asked.id))) throw noApi(asked.id);
      return changed(asked, { what, api: asked.id });
    },
  });
}

type Said = { readonly reason?: string | undefined; readonly dryRun?: boolean | undefined };

async function changed(asked: Asked<unknown, Said>, wish: ThrottleOrder) {
  const { desk, id, requestId, who, body } = asked;
  if (asked.ifRevision !== undefined)
    throw badRequest('an API has no revision: leave If-Match out');
  const isDryRun = body.dryRun === true;
  const by = { requestId, who: who?.name ?? 'nobody', via: 'api' };
  const { port } = sharedOf(desk, 'the limit of an API');
  const answer = await port.changeThrottle({ ...by, order: wish, reason: body.reason, isDryRun });
  if (!isDryRun && answer.kind === 'done') tellActed(asked, `throttle.${wish.what}`, undefined);
  const views = await viewsOf(desk);
  const throttle = views.find((view) => view.api === id);
  const note = wish.what === 'pin' ? pinNote(views, wish) : undefined;
  return ok({ ...answer, isDryRun, requestId, throttle, note });
}

async function viewsOf(desk: Desk): Promise<ThrottleView[]> {
  return throttleViews(await sharedOf(desk, 'APIs').reader(), desk.codec);
}

async function viewOf(desk: Desk, api: string): Promise<ThrottleView | undefined> {
  return (await viewsOf(desk)).find((view) => view.api === api);
}

function noApi(api: string): RequestError {
  const hint = 'GET /api/v1/throttles lists those that are called';
  const message = `no pod has called an API ${show(api)}`;
  return new RequestError(404, 'FLEETQ_API_NOT_FOUND', message, hint);
}

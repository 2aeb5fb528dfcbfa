/**
 * What people do to a run. Each takes `dryRun`, is done only to the run as its sender saw it where that
 * is said, is done once under one Idempotency-Key, and leaves its row in the audit log.
 */
import * as z from 'zod';
import type { Role } from '../../config/index.ts';
import { RunNotFoundError } from '../../engine/index.ts';
import { isRunId, parseDuration, type RunId, show } from '../../ground/index.ts';
import type { ActAnswer, Deed, Due, Refusal } from '../../store/index.ts';
import { inJournal } from '../desk/find-run.ts';
import { forkDeed } from '../desk/fork.ts';
import { sharedOf } from '../desk/need-store.ts';
import { badRequest, RequestError } from '../problem.ts';
import { type Answer, type Asked, ok, type Route, route } from '../table.ts';
import { audit, tellActed } from './audit-note.ts';
import { refuseNoFleet } from './local.ts';
import { Changed, guarded, source, text } from './shapes.ts';

const REASON_LENGTH_MAX = 1_000;

interface ActRoute<B extends z.ZodRawShape> {
  readonly what: Deed['what'];
  readonly role: Role;
  readonly summary: string;
  readonly body: B;
  deed(body: z.infer<z.ZodObject<B>>, asked: Asked, id: RunId): Deed | Promise<Deed>;
}

type Guarded = Asked<Query, { readonly dryRun?: boolean | undefined }>;
type Query = { readonly source?: 'journal' | 'store' | undefined };

function act<B extends z.ZodRawShape>({ what, role, summary, body, deed }: ActRoute<B>): Route {
  const whole = { ...guarded, ...body } as B & typeof guarded;
  return route({
    method: 'POST',
    path: `/runs/:id/${what}`,
    role,
    changes: 'act',
    summary,
    query: { source: source.optional() },
    body: whole,
    answers: { status: 200, schema: Changed },
    answer: async (asked) => {
      const given = asked.body as z.infer<z.ZodObject<B>> & { dryRun?: boolean | undefined };
      const of = asked as unknown as Guarded;
      if (!isRunId(of.id)) throw new RunNotFoundError(of.id);
      const make = () => deed(given, asked as Asked, of.id as RunId);
      return isOfHere(of) ? actHere(of, await make()) : actShared(of, await make());
    },
  });
}

export const actRoutes: readonly Route[] = [
  act({
    what: 'cancel',
    role: 'operate',
    summary: 'ends it; where a pod is at it, between two phases',
    body: { reason: z.string().max(REASON_LENGTH_MAX).nullable().optional() },
    deed: ({ reason }) => ({ what: 'cancel', reason: reason || 'cancelled by request' }),
  }),
  act({
    what: 'pause',
    role: 'operate',
    summary: 'nobody goes on with it until it is resumed',
    body: {},
    deed: () => ({ what: 'pause' }),
  }),
  act({
    what: 'resume',
    role: 'operate',
    summary: 'lets it go on',
    body: {},
    deed: () => ({ what: 'resume' }),
  }),
  act({
    what: 'retry',
    role: 'operate',
    summary: 'now, and not when its wait is over',
    body: {},
    deed: () => ({ what: 'retry' }),
  }),
  act({
    what: 'reschedule',
    role: 'operate',
    summary: 'changes when it is due: after a duration, or at a time with its zone',
    body: { runAt: z.union([z.string().max(100), z.number()]) },
    deed: ({ runAt }) => ({ what: 'reschedule', due: dueOf(runAt) }),
  }),
  act({
    what: 'redrive',
    role: 'operate',
    summary: 'a new generation of one that has ended; with `input` it begins afresh with that',
    body: { isFresh: z.boolean().optional(), input: z.unknown().optional() },
    deed: async ({ isFresh = false, input }, asked, id) => {
      if (input === undefined) return { what: 'redrive', isFresh };
      return { what: 'redrive', isFresh: true, payload: await newInput(asked, id, input) };
    },
  }),
  act({
    what: 'fork',
    role: 'operate',
    summary: 'a new run that begins with the records of this one, up to a phase',
    body: { from: text(400), input: z.unknown().optional() },
    deed: ({ from, input }, { desk }, id) => forkDeed(desk, id, { from, input }),
  }),
  act({
    what: 'discard',
    role: 'admin',
    summary: 'puts a dead letter away: kept until retention, listed no longer',
    body: {},
    deed: () => ({ what: 'discard' }),
  }),
];

/** A task that this process holds is the store's, wherever it was looked at: there it has its row. */
function isOfHere({ desk, id, query }: Guarded): boolean {
  if (desk.shared === undefined) return true;
  if (query.source !== 'journal') return false;
  return inJournal(desk, id as RunId)?.generation === undefined;
}

async function actShared(asked: Guarded, deed: Deed): Promise<Answer> {
  const { desk, who, requestId, ifRevision, id } = asked;
  const answer = await sharedOf(desk, deed.what).port.act({
    requestId,
    who: who!.name,
    via: 'api',
    task: id as RunId,
    deed,
    ifRevision,
    isDryRun: asked.body.dryRun,
  });
  if (answer.kind === 'refused') throw refusalOf(id, answer);
  if (!answer.isDryRun) tellActed(asked, deed.what, id);
  const isCancelled = deed.what === 'cancel' ? answer.kind !== 'already' : undefined;
  return ok({ ...answer, requestId, isCancelled }, { etag: `"${answer.after.revision}"` });
}

/** A run of this process alone: it can be cancelled, and the rest needs a store. */
async function actHere(asked: Guarded, deed: Deed): Promise<Answer> {
  const { desk, id, requestId } = asked;
  if (deed.what !== 'cancel') sharedOf({ shared: undefined }, `to ${deed.what} a run`);
  if (asked.ifRevision !== undefined) {
    throw badRequest('a run of the journal has no revision: leave ifRevision out');
  }
  const run = refuseNoFleet(desk, 'cancel a run').runById(id);
  const isDryRun = asked.body.dryRun === true;
  if (isDryRun) return ok({ kind: 'done', isDryRun, isRepeated: false, requestId });
  if (!inJournal(desk, id as RunId)) throw new RunNotFoundError(id);
  const detail = { kind: 'requested', source: 'journal' };
  const isRepeated = await audit(asked, deed.what, id as RunId, detail);
  const { isCancelled, outcome } = await run.cancel((deed as { reason: string }).reason);
  const kind = isCancelled || isRepeated ? 'done' : 'already';
  return ok({ kind, isDryRun, isRepeated, requestId, isCancelled, outcome });
}

const STATUS_OF: Record<Refusal, readonly [number, `FLEETQ_${string}`]> = {
  unknown: [404, 'FLEETQ_RUN_NOT_FOUND'],
  ended: [409, 'FLEETQ_REFUSED'],
  unfinished: [409, 'FLEETQ_REFUSED'],
  held: [409, 'FLEETQ_REFUSED'],
  unfit: [409, 'FLEETQ_REFUSED'],
  fenced: [409, 'FLEETQ_REFUSED'],
  revision: [412, 'FLEETQ_REVISION'],
  reused: [409, 'FLEETQ_REQUEST_REUSED'],
};

function refusalOf(
  id: string,
  { why, detail, now }: Extract<ActAnswer, { kind: 'refused' }>,
): Error {
  if (why === 'unknown') return new RunNotFoundError(id);
  const [status, code] = STATUS_OF[why];
  const hint = now && `it is ${now.status}, at revision ${now.revision}`;
  const headers = now ? { etag: `"${now.revision}"` } : {};
  return new RequestError(status, code, `${why}: ${detail}`, hint, headers);
}

/** As `fleetq reschedule` takes it. */
export function dueOf(runAt: string | number): Due {
  const afterMs = parseDuration(runAt);
  if (afterMs !== undefined) return { afterMs };
  const isTime =
    typeof runAt === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(runAt);
  const at = isTime ? Date.parse(runAt) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw badRequest(
    `runAt must be a duration such as '10m' or a time with its zone, got ${show(runAt)}`,
  );
}

async function newInput({ desk }: Asked, id: RunId, input: unknown): Promise<string> {
  const [row] = await (await sharedOf(desk, 'a new input').reader()).find([id]);
  if (!row) throw new RunNotFoundError(id);
  await desk.shared!.port.checkInput(row.machine, input, row.version);
  return JSON.stringify(input ?? null);
}

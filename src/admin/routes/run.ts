/** One run: what it is, its records, what it was at any of them, and its end. */
import * as z from 'zod';
import { RunNotFoundError } from '../../engine/index.ts';
import type { Clock } from '../../ground/index.ts';
import { isSealedEvent, type StoredRecord } from '../../journal/index.ts';
import { type FollowersTold, followersTold } from '../../store/index.ts';
import { HEADERS } from '../answer-headers.ts';
import { contextAt } from '../desk/context.ts';
import {
  type Found,
  findHistory,
  findRun,
  readingOf,
  revisionIn,
  viewOf,
} from '../desk/find-run.ts';
import { viewOfRecord } from '../desk/views.ts';
import { isOverFor } from '../door/over.ts';
import { EVENTS_BYTES_MAX, EVENTS_MAX, WAIT_MS_MAX } from '../limits.ts';
import { numbered, placeIn } from '../live/index.ts';
import { RequestError } from '../problem.ts';
import { type Reading, slicesAfter } from '../reading.ts';
import { type Answer, type Asked, ok, route } from '../table.ts';
import { refuseNoFleet } from './local.ts';
import { revealed } from './reveal.ts';
import { Record, Run, source, whole, yes } from './shapes.ts';
import { liveView } from './stream.ts';

const reveal = yes.optional().describe('show payloads that are masked; a role, and audited');
const asked = { source: source.optional(), reveal };
const after = whole(-1, Number.MAX_SAFE_INTEGER).optional();

export const runRoutes = [
  route({
    method: 'GET',
    path: '/runs/:id',
    role: 'read',
    changes: 'none',
    summary: 'one run; its ETag is its revision',
    query: asked,
    answers: { status: 200, schema: Run },
    answer: async (of) => {
      const found = await findRun(of.desk, of.id, of.query.source);
      return ok(...(await told(of, found)));
    },
  }),
  route({
    method: 'GET',
    path: '/runs/:id/events',
    role: 'read',
    changes: 'none',
    summary:
      `its records after \`after\`, at most ${EVENTS_MAX.toLocaleString('en')} of them and about ` +
      `${EVENTS_BYTES_MAX / 1024 ** 2} MiB, and \`hasMore\``,
    query: { ...asked, after },
    answers: {
      status: 200,
      schema: z.strictObject({
        events: z.array(Record),
        hasMore: z.boolean(),
        source: z.enum(['journal', 'archive']),
      }),
    },
    answer: async (of) => {
      const { desk, who, id, query, request, response } = of;
      const last = placeIn(String(request.headers['last-event-id'] ?? ''));
      const from = query.after === undefined ? (last ?? numbered(-1)) : numbered(query.after);
      const isStream = request.headers.accept?.includes('text/event-stream') === true;
      if (isStream) {
        // Nothing is revealed of what is not there.
        if (of.isRevealing) await findHistory(desk, id, query.source);
        await desk.live.follow(id, from, response, {
          view: liveView(await revealed(of)),
          headers: HEADERS,
          isOver: who?.session && isOverFor(desk, of.door, who.session),
        });
        return undefined;
      }
      const found = await findHistory(desk, id, query.source);
      const shown = await revealed(of);
      const reading = await readingOf(desk, found);
      const records = await recordsAfter(reading, from.seq, desk.clock);
      const events = records.map((record) => viewOfRecord(record, shown));
      const hasMore = (records.at(-1)?.seq ?? reading.last.seq) < reading.last.seq;
      return ok({ events, hasMore, source: reading.source });
    },
  }),
  route({
    method: 'GET',
    path: '/runs/:id/context',
    role: 'read',
    changes: 'none',
    summary: 'what it was after record `at`, or is after the last one',
    query: { ...asked, at: whole(0, Number.MAX_SAFE_INTEGER).optional() },
    answers: {
      status: 200,
      schema: z.strictObject({
        seq: z.number(),
        at: z.number(),
        state: z.string(),
        attempt: z.number(),
        input: z.unknown(),
        outputs: z.unknown(),
        work: z.unknown().optional(),
        ending: z.unknown().optional(),
        source: z.enum(['journal', 'archive']),
      }),
    },
    answer: async (of) => {
      const { desk, id, query } = of;
      const found = await findHistory(desk, id, query.source);
      const reading = await readingOf(desk, found);
      const { last, source: at } = reading;
      const seq = query.at ?? Math.max(0, last.seq);
      const context = await contextAt(reading, seq, desk.clock, (it) => refuseSealed(id, it));
      if (!context) throw noRecord(last.seq < 0 ? undefined : last.seq, seq);
      const shown = await revealed(of);
      const { input, outputs, work, ending } = context;
      return ok({
        ...context,
        input: shown.value(input),
        outputs: shown.parts(outputs),
        work: shown.value(work),
        ending: shown.parts(ending),
        source: at,
      });
    },
  }),
  route({
    method: 'GET',
    path: '/runs/:id/result',
    role: 'read',
    changes: 'none',
    summary: 'the run, after waiting up to `waitMs` for its end; 202 if it has not ended',
    query: { ...asked, waitMs: whole(0, WAIT_MS_MAX).optional() },
    answers: { status: 200, schema: Run, also: { 202: 'it has not ended' } },
    answer: async (of) => {
      const { desk, id, query } = of;
      await ended(of, query.waitMs ?? 0);
      const found = await findRun(desk, id, query.source);
      const hasEnded = (found.row ?? found.run)?.finishedAt !== undefined;
      const [body, headers] = await told(of, found);
      return { status: hasEnded ? 200 : 202, body, headers } satisfies Answer;
    },
  }),
];

type RunQuery = { readonly source?: 'journal' | 'store' | undefined };

async function told(
  of: Asked<RunQuery>,
  found: Found,
): Promise<[object, { [name: string]: string }]> {
  const body = {
    ...viewOf(of.desk, found, await revealed(of)),
    ...(await followersOf(of, found)),
  };
  const revision = revisionIn(found);
  return [body, revision === undefined ? {} : { etag: `"${revision}"` }];
}

async function followersOf({ desk }: Asked<RunQuery>, { id, row }: Found): Promise<FollowersTold> {
  return row && desk.shared ? followersTold(await desk.shared.reader(), id) : {};
}

/** How it ended is told by the run; the waiting itself has nothing to say. */
async function ended({ desk, id, query }: Asked<RunQuery>, timeout: number): Promise<void> {
  if (timeout === 0 && desk.shared) return;
  const found = await findRun(desk, id, query.source);
  if ((found.row ?? found.run)?.finishedAt !== undefined) return;
  const waiting = found.row
    ? desk.shared!.port.ended(found.id, timeout)
    : refuseNoFleet(desk, 'wait').runById(id).result({ timeout });
  await waiting.catch(refuseDraining);
}

function refuseDraining(error: unknown): void {
  if ((error as { code?: unknown } | undefined)?.code === 'FLEETQ_DRAINING') throw error;
  if (error instanceof RunNotFoundError) throw error;
}

/** As many as fit into an answer: one at least, where there is one. */
async function recordsAfter(reading: Reading, seq: number, clock: Clock): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  const place = await reading.placeOf(Math.max(-1, seq));
  if (!place) return records;
  let bytes = 0;
  for await (const slice of slicesAfter(reading, place, clock)) {
    bytes += slice.bytes;
    if (bytes > EVENTS_BYTES_MAX && records.length > 0) break;
    records.push(...slice.records.slice(0, EVENTS_MAX - records.length));
    if (records.length === EVENTS_MAX) break;
  }
  return records;
}

/** Of what cannot be opened nothing can be told that is true. */
function refuseSealed(id: string, { event }: { readonly event: object }): void {
  if (!isSealedEvent(event)) return;
  const said = `the records of run ${id} cannot be read here: ${event.sealed}`;
  const hint = 'ask a process that has the key';
  throw new RequestError(409, 'FLEETQ_KEY_MISSING', said, hint);
}

function noRecord(last: number | undefined, seq: number): RequestError {
  const said = last === undefined ? 'no record of it is left' : `its last record is ${last}`;
  return new RequestError(404, 'FLEETQ_NO_SUCH_RECORD', `there is no record ${seq}: ${said}`);
}

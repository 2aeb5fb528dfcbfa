/** The resources under /api/v1: what each path answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { nearest } from '../config/index.ts';
import { show } from '../ground/index.ts';
import type { FleetPort } from './fleet-port.ts';
import { isWanted, listRuns, WANTED } from './list-runs.ts';
import type { LiveHub } from './live/index.ts';
import { badRequest, RequestError } from './problem.ts';
import { countOf, fieldsOf, readJson, textOf } from './request.ts';

export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The run's id, where the path holds one. */
  readonly id: string;
}
export interface Resources {
  readonly fleet: FleetPort;
  readonly live: LiveHub;
  readonly bodyBytesMax: number;
  /** What else is known of the process: its pid, its version, since when it is up. */
  readonly about: object;
}
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}
/** Undefined where the route has taken the response over. */
type Route = (asked: Asked, on: Resources) => Answer | undefined | Promise<Answer | undefined>;

export const LIMIT_MAX = 500;
const WAIT_MS_MAX = 60_000;
const EVENTS_MAX = 1_000;

export const ROUTES: Readonly<Record<string, Route>> = {
  'GET /api/v1/status': (_, { fleet, about }) => ok({ ...about, ...fleet.status }),

  'GET /api/v1/machines': (_, { fleet }) => ok({ machines: fleet.machines }),

  'POST /api/v1/drain': async ({ request, response }, { fleet, bodyBytesMax }) => {
    fieldsOf(await readJson(request, bodyBytesMax), []);
    // The answer first: a process that has little in hand is gone a moment later.
    response.once('close', () => fleet.requestDrain());
    return { status: 202, body: { isAsked: true } };
  },

  'GET /api/v1/stream': async ({ query, request, response }, { live }) => {
    const last = query.get('lastEventId') ?? request.headers['last-event-id'];
    const lastEventId = typeof last === 'string' ? last : undefined;
    await live.stream({ topics: query.get('topics'), lastEventId }, response);
    return undefined;
  },

  'GET /api/v1/runs': ({ query }, { fleet }) => {
    const status = query.get('status') ?? undefined;
    if (status !== undefined && !isWanted(status)) {
      throw badRequest(`status must be one of ${WANTED.join(', ')}, got ${show(status)}`);
    }
    const countMax = countOf(query, 'limit', { min: 1, max: LIMIT_MAX, otherwise: 50 });
    const machine = query.get('machine') ?? undefined;
    const before = query.get('before') ?? undefined;
    return ok({ runs: listRuns(fleet, { status, machine, before, countMax }) });
  },

  'POST /api/v1/runs': async ({ request }, { fleet, bodyBytesMax }) => {
    const body = await readJson(request, bodyBytesMax);
    const fields = fieldsOf(body, ['machine', 'input', 'key']);
    const machine = textOf(fields['machine'], 'machine');
    if (machine === undefined) throw badRequest('machine must name the machine to start');
    refuseUnknown(fleet, machine);
    const key = textOf(fields['key'], 'key');
    try {
      const { id } = await fleet.startByName(machine, fields['input'] ?? null, { key });
      return { status: 201, body: fleet.describe(id) };
    } catch (error) {
      // How the public API refuses an argument that has the wrong form.
      if (error instanceof TypeError) throw badRequest(error.message);
      throw error;
    }
  },

  'GET /api/v1/runs/:id': ({ id }, { fleet }) => ok(fleet.describe(id)),

  'GET /api/v1/runs/:id/events': async ({ id, query, request, response }, { fleet, live }) => {
    const last = request.headers['last-event-id'];
    if (typeof last === 'string' && !query.has('after')) query.set('after', last);
    const after = countOf(query, 'after', {
      min: -1,
      max: Number.MAX_SAFE_INTEGER,
      otherwise: -1,
    });
    if (request.headers.accept?.includes('text/event-stream')) {
      await live.follow(id, after, response);
      return undefined;
    }
    const records = fleet.events(id, after).slice(0, EVENTS_MAX + 1);
    return ok({ events: records.slice(0, EVENTS_MAX), hasMore: records.length > EVENTS_MAX });
  },

  'GET /api/v1/runs/:id/result': async ({ id, query }, { fleet }) => {
    const timeout = countOf(query, 'waitMs', { min: 0, max: WAIT_MS_MAX, otherwise: 0 });
    // How it ended is told by the summary; the waiting itself has nothing to say.
    await fleet.runById(id).result({ timeout }).catch(refuseDraining);
    const run = fleet.describe(id);
    return { status: run.finishedAt === undefined ? 202 : 200, body: run };
  },

  'POST /api/v1/runs/:id/cancel': async ({ id, request }, { fleet, bodyBytesMax }) => {
    const fields = fieldsOf(await readJson(request, bodyBytesMax), ['reason']);
    const reason = textOf(fields['reason'], 'reason');
    return ok(await fleet.runById(id).cancel(reason));
  },
};

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function refuseDraining(error: unknown): void {
  if ((error as { code?: unknown } | undefined)?.code === 'FLEETQ_DRAINING') throw error;
}

/** Nobody has to guess what the machines are called. */
export function refuseUnknown(fleet: Pick<FleetPort, 'machines'>, machine: string): void {
  const names = [...new Set(fleet.machines.map(({ name }) => name))].sort();
  if (names.includes(machine)) return;
  const near = nearest(machine, names);
  throw new RequestError(
    404,
    'FLEETQ_REGISTRY',
    `there is no machine called ${show(machine)}`,
    names.length === 0
      ? 'no machine is registered'
      : `${near ? `did you mean ${near}? ` : ''}there are: ${names.join(', ')}`,
  );
}

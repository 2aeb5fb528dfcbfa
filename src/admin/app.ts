/**
 * The routes as a Fastify plugin, in this order for every request: who is it, may they, is it said as it
 * has to be, and only then is anything looked up. So whoever may not ask learns nothing by asking.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError, show } from '../ground/index.ts';
import { isRevision, type Revision } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { HEADERS } from './answer-headers.ts';
import type { Desk } from './desk/desk.ts';
import { type Door, mayDo, unknown, type Visitor } from './door/door.ts';
import { isOverFor } from './door/over.ts';
import { describeFailure } from './failure.ts';
import { badRequest, isOfStore, problemOf, RequestError } from './problem.ts';
import { fitted, queryOf, readJson } from './request.ts';
import { ROUTES } from './routes/index.ts';
import { type Answer, type Asked, PREFIX, type Route } from './table.ts';

export interface AppPorts {
  readonly desk: Desk;
  /** The door by which a request came. */
  readonly doorOf: (request: IncomingMessage) => Door;
}

interface Entered {
  readonly door: Door;
  readonly who: Visitor | undefined;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** Mounts everything below `instance`, whose own parsers and handlers stay as they are. */
export async function mount(instance: FastifyInstance, ports: AppPorts): Promise<void> {
  const known = new WeakMap<IncomingMessage, Entered>();
  instance.removeAllContentTypeParsers();
  // Bodies are read by us, with our bounds, and only once it is known who sends them.
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null));
  instance.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    const door = ports.doorOf(request.raw);
    const entered = door.enter({
      method: request.method,
      url: request.raw.url ?? '/',
      headers: request.headers,
      address: request.raw.socket.remoteAddress ?? '',
    });
    const isOver = entered?.session && (await isOverFor(ports.desk, door, entered.session)());
    const who = isOver ? undefined : entered;
    known.set(request.raw, { door, who });
    refuse(routeOf(request), who);
  });
  instance.setErrorHandler((error, request, reply) => fail(error, request, reply));
  instance.setNotFoundHandler((request) => {
    throw unknownPath(request);
  });
  for (const route of ROUTES) {
    instance.route({
      method: route.method,
      url: route.path,
      config: { fleetq: route },
      handler: async (request, reply) => {
        const answer = await answerTo(route, request, known.get(request.raw)!, ports, reply);
        if (answer === undefined) return reply.hijack();
        return send(reply, answer);
      },
    });
  }
}

function routeOf(request: FastifyRequest): Route | undefined {
  return (request.routeOptions.config as { readonly fleetq?: Route } | undefined)?.fleetq;
}

function refuse(route: Route | undefined, who: Visitor | undefined): void {
  if (route?.role === 'open') return;
  if (!who) throw unknown('a token is needed here');
  if (!route || mayDo(who, route.role as 'read')) return;
  throw new RequestError(
    403,
    'FLEETQ_FORBIDDEN',
    `this needs the role ${route.role}, and ${who.name} has ${who.role}`,
  );
}

async function answerTo(
  route: Route,
  request: FastifyRequest,
  { door, who }: Entered,
  { desk }: AppPorts,
  reply: FastifyReply,
): Promise<Answer | undefined> {
  refuseAccept(request.headers.accept);
  const query = fitted(queryOf(request.raw.url ?? ''), route.query, 'the query');
  // What changes nothing is not named: each time that something is revealed has a row of its own.
  const isAct = route.changes === 'act';
  const requestId = isAct ? nameOf(request.headers['idempotency-key']) : undefined;
  const limits = { ...door.limits, bytesMax: desk.bodyBytesMax, mayBeUntyped: door.isTrusting };
  const given = route.body === undefined ? {} : await readJson(request.raw, limits);
  const body = fitted(given, route.body ?? {}, 'the body');
  const asked: Asked = {
    desk,
    door,
    who,
    id: (request.params as { readonly id?: string }).id ?? '',
    query,
    body,
    requestId: requestId ?? desk.random.hex(16),
    isNamed: requestId !== undefined,
    ifRevision: revisionOf(request.headers['if-match'], body),
    isRevealing: (query as { readonly reveal?: string }).reveal === 'true',
    address: request.raw.socket.remoteAddress ?? '',
    request: request.raw,
    response: reply.raw,
  };
  return route.answer(asked as never);
}

const NAME = /^[\x21-\x7e]{1,200}$/;

function nameOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && NAME.test(header)) return header;
  throw badRequest(`idempotency-key must be 1 to 200 visible characters, got ${show(header)}`);
}

/** In a header or in the body; what both say must be one. */
function revisionOf(header: string | undefined, body: object): Revision | undefined {
  const { ifRevision } = body as { readonly ifRevision?: string };
  const tag = header === undefined || header === '*' ? undefined : header.replaceAll('"', '');
  if (tag !== undefined && ifRevision !== undefined && tag !== ifRevision) {
    throw badRequest(`If-Match says ${show(tag)}, and ifRevision says ${show(ifRevision)}`);
  }
  const revision = tag ?? ifRevision;
  if (revision === undefined || isRevision(revision)) return revision;
  throw badRequest(`a revision looks like 1.4.0, got ${show(revision)}`);
}

function refuseAccept(accept: string | undefined): void {
  if (accept === undefined || accept === '') return;
  if (/(\*\/\*|application\/(\*|json|problem\+json)|text\/event-stream)/i.test(accept)) return;
  throw new RequestError(
    406,
    'FLEETQ_NOT_ACCEPTABLE',
    `answers are JSON, and ${show(accept)} was asked for`,
  );
}

function unknownPath(request: FastifyRequest): RequestError {
  const url = request.raw.url?.split('?')[0] ?? '';
  const at = url.indexOf(PREFIX);
  const path = at < 0 ? url : url.slice(at + PREFIX.length);
  const methods = METHODS.filter((method) =>
    ROUTES.some((route) => route.method === method && patternOf(route).test(path)),
  );
  if (methods.length === 0) {
    const hint = `GET ${PREFIX}/openapi.json tells what there is`;
    const said = `there is nothing at ${show(url)}`;
    return new RequestError(404, 'FLEETQ_NO_SUCH_PATH', said, hint);
  }
  return new RequestError(
    405,
    'FLEETQ_BAD_METHOD',
    `${request.method} is not possible here`,
    `use ${methods.join(' or ')}`,
    { allow: methods.join(', ') },
  );
}

function patternOf({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
}

export function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = describeFailure(error);
  const problem = problemOf(failure);
  if (problem.status >= 500 || isOfStore(failure)) {
    const route = routeOf(request)?.path;
    tell('admin.failed', () => ({ method: request.method, route, error: describeError(error) }));
  }
  // What is left of a body that was refused is not read: the connection ends with the answer.
  if (!request.raw.complete) reply.header('connection', 'close');
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="fleetq"');
  const headers = failure instanceof RequestError ? failure.headers : {};
  const told = { status: problem.status, body: problem, headers };
  return send(reply, told, 'application/problem+json');
}

function send(
  reply: FastifyReply,
  { status, body, headers = {} }: Answer,
  type = 'application/json',
): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .type(type)
    .send(Buffer.from(JSON.stringify(body)));
}

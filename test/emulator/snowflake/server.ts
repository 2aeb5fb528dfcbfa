/**
 * The routes that the driver calls, and the promise that makes its retries safe: one requestId is
 * carried out once, however often it is sent, and every sender gets the same answer.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { Bindings } from './binds.ts';
import type { Drop } from './chaos.ts';
import { asSnowflakeError, SnowflakeError } from './errors.ts';
import { connectTo, type House } from './house.ts';
import type { Logins } from './logins.ts';
import type { Asked, Session } from './session.ts';
import { carryOut, needsWarehouse, verbOf } from './statement.ts';

interface Answer {
  readonly success: boolean;
  readonly code: string | null;
  readonly message: string | null;
  readonly data: unknown;
}

/** What may become of a request instead of an answer: a status, or none. */
type Fate = Drop | '401' | '429';

interface Request {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string;
  readonly body: Record<string, unknown>;
}

interface Running {
  readonly session: Session;
  readonly asked: Asked;
  readonly isChange: boolean;
  readonly answer: Promise<Answer>;
  isOver: boolean;
  /** Nobody will hear how it went, however often they ask. */
  isLost: boolean;
}

/** Answers that are kept for retries, of each session: it asks again only for its latest. */
const KEPT_MAX = 20;

const ok = (data: unknown = null): Answer => ({ success: true, code: null, message: null, data });

export class SnowflakeServer {
  readonly #house: House;
  readonly #logins: Logins;
  readonly #byRequest = new Map<string, Running>();
  readonly #server: Server;

  constructor(house: House, logins: Logins) {
    this.#house = house;
    this.#logins = logins;
    this.#server = createServer({ keepAlive: true, keepAliveTimeout: 0 }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as { port: number }).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    for (const running of this.#running) await this.#cancel(running);
  }

  get #running(): Running[] {
    return [...this.#byRequest.values()].filter(({ isOver }) => !isOver);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    const drop = await this.#answer(request).catch((error: unknown) => failed(error, ''));
    if (drop === 'hang') return;
    if (drop === 'reset') {
      incoming.socket.destroy();
      return;
    }
    if (typeof drop === 'string') {
      const body = drop === '401' ? '{"success":false,"code":"390104"}' : '{}';
      response.writeHead(Number(drop), { 'content-type': 'application/json' }).end(body);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(drop));
  }

  async #answer(request: Request): Promise<Answer | Fate> {
    const { path } = request;
    if (path === '/session/v1/login-request') return this.#login(request);
    if (path === '/session/token-request') return this.#renew(request);
    if (path === '/queries/v1/query-request') return this.#statement(request);
    if (path === '/queries/v1/abort-request') return this.#abort(request);
    if (path === '/session' && request.query.get('delete') === 'true') {
      await this.#logins.end([this.#logins.sessionOf(request.token)]);
      return ok();
    }
    if (path === '/session/heartbeat') {
      this.#logins.sessionOf(request.token);
      return ok();
    }
    const result = /^\/queries\/([^/]+)\/result$/.exec(path);
    if (result !== null) return this.#result(result[1]!);
    const watched = /^\/monitoring\/queries\/([^/]+)$/.exec(path);
    if (watched !== null) return this.#watched(watched[1]!);
    return ok();
  }

  #login({ body, query }: Request): Answer {
    const session = this.#logins.login((body['data'] ?? {}) as object, {
      database: query.get('databaseName') ?? '',
      schema: query.get('schemaName') ?? '',
      warehouse: query.get('warehouse') ?? '',
      role: query.get('roleName') ?? '',
    });
    return ok({
      token: session.token,
      masterToken: session.masterToken,
      validityInSeconds: 3600,
      masterValidityInSeconds: 14_400,
      sessionId: session.id,
      parameters: [
        { name: 'TIMEZONE', value: 'UTC' },
        { name: 'CLIENT_STAGE_ARRAY_BINDING_THRESHOLD', value: 1_000_000 },
      ],
      sessionInfo: {
        databaseName: session.database,
        schemaName: session.schema.toUpperCase(),
        warehouseName: session.warehouse,
        roleName: session.role,
      },
    });
  }

  #renew({ token }: Request): Answer {
    const session = this.#logins.renew(token);
    return ok({
      sessionToken: session.token,
      masterToken: session.masterToken,
      validityInSecondsST: 3600,
      validityInSecondsMT: 14_400,
    });
  }

  async #statement(request: Request): Promise<Answer | Fate> {
    const { chaos, meter } = this.#house;
    const session = this.#logins.sessionOf(request.token);
    const id = request.query.get('requestId') ?? '';
    const known = this.#byRequest.get(id);
    if (known !== undefined) {
      meter.repeated += 1;
      return known.isLost ? '400' : this.#patient(known);
    }
    if (chaos.strikes(chaos.expireTokens)) {
      this.#logins.expire(session);
      this.#logins.sessionOf(request.token);
    }
    if (chaos.strikes(chaos.unauthorized)) return '401';
    if (chaos.strikes(chaos.dropRequests)) return chaos.dropRequests?.how ?? '503';
    const running = this.#begin(session, id, request.body);
    const answer = await this.#patient(running);
    const isDropped = chaos.dropAnswers?.of?.test(String(request.body['sqlText'])) ?? true;
    if (running.isChange && isDropped && chaos.strikes(chaos.dropAnswers)) {
      await running.answer;
      meter.unanswered += 1;
      running.isLost = chaos.dropAnswers!.how === '400';
      return chaos.dropAnswers!.how;
    }
    return answer;
  }

  #begin(session: Session, id: string, body: Record<string, unknown>): Running {
    const sql = String(body['sqlText'] ?? '');
    const bindings = (body['bindings'] ?? {}) as Bindings;
    const asked = { sql, bindings, queryId: this.#house.newQueryId() };
    const isChange = /^\s*(insert|update|delete|merge|commit)/i.test(sql);
    const answer = this.#run(session, asked).finally(() => {
      running.isOver = true;
    });
    const running: Running = { session, asked, isChange, answer, isOver: false, isLost: false };
    this.#byRequest.set(id, running);
    session.requests.push(id);
    if (session.requests.length > KEPT_MAX) this.#byRequest.delete(session.requests.shift()!);
    return running;
  }

  async #run(session: Session, asked: Asked): Promise<Answer> {
    const { chaos, meter } = this.#house;
    const { sql, queryId } = asked;
    try {
      await chaos.delay();
      const isResumed = meter.count(sql, verbOf(sql), needsWarehouse(sql), this.#house.nowMs());
      if (isResumed && chaos.resumeMs !== undefined) await sleep(chaos.resumeMs);
      const { rows, typeId } = await session.alone(() => carryOut(session, asked));
      return ok({
        ...{ parameters: [{ name: 'TIMEZONE', value: 'UTC' }], ...rows, queryId },
        ...{ total: rows.rowset.length, returned: rows.rowset.length, statementTypeId: typeId },
        ...{ queryResultFormat: 'json', version: 1, finalDatabaseName: session.database },
        ...{ finalSchemaName: session.schema.toUpperCase(), finalRoleName: session.role },
        finalWarehouseName: session.warehouse,
      });
    } catch (error) {
      meter.failed += 1;
      return failed(error, queryId);
    }
  }

  /** A statement that takes long is answered first with where its result will be. */
  async #patient({ answer, asked: { queryId } }: Running): Promise<Answer> {
    const { inProgressAfterMs } = this.#house.chaos;
    if (inProgressAfterMs === undefined) return answer;
    const pending = sleep(inProgressAfterMs, {
      ...ok({ queryId, getResultUrl: `/queries/${queryId}/result`, queryAbortsAfterSecs: 300 }),
      code: '333334',
      message: 'Query execution in progress.',
    });
    return Promise.race([answer, pending]);
  }

  #find(queryId: string): Running {
    const found = [...this.#byRequest.values()].find((one) => one.asked.queryId === queryId);
    if (found === undefined) throw new SnowflakeError('000709', '02000', `${queryId} is not found`);
    return found;
  }

  #result(queryId: string): Promise<Answer> {
    return this.#patient(this.#find(queryId));
  }

  async #watched(queryId: string): Promise<Answer> {
    const { isOver, answer } = this.#find(queryId);
    if (!isOver) return ok({ queries: [{ status: 'RUNNING' }] });
    const { success, message } = await answer;
    const status = success ? 'SUCCESS' : 'FAILED_WITH_ERROR';
    return ok({ queries: [{ status, errorMessage: message ?? '' }] });
  }

  async #abort({ body }: Request): Promise<Answer> {
    const running = this.#byRequest.get(String(body['requestId']));
    if (running !== undefined && !running.isOver) await this.#cancel(running);
    return ok();
  }

  /** Whether it waits in a line or runs in Postgres. */
  async #cancel({ session, asked }: Running): Promise<void> {
    this.#house.locks.leave(session.transaction ?? asked);
    const backend = await session.backend;
    if (backend === undefined) return;
    const client = connectTo(this.#house.url);
    await client.connect();
    await client.query(`select pg_cancel_backend(${backend})`);
    await client.end();
  }
}

function failed(error: unknown, queryId: string): Answer {
  const { code, sqlState, message } = asSnowflakeError(error);
  return { success: false, code, message, data: { errorCode: code, sqlState, queryId } };
}

async function readRequest(incoming: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const isZipped = raw[0] === 0x1f && raw[1] === 0x8b;
  const text = (isZipped ? gunzipSync(raw) : raw).toString();
  const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
  const token = /Token="([^"]*)"/.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
  const isJson = text.startsWith('{');
  return {
    path: url.pathname,
    query: url.searchParams,
    token,
    body: isJson ? JSON.parse(text) : {},
  };
}

/**
 * The process as others reach it: HTTP on a socket file in the data directory, which only its owner
 * can open. Whatever is asked, the answer is JSON, and a mistake of the asker is a 4xx.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Clock, hash, show } from '../ground/index.ts';
import { Connections } from './connections.ts';
import { SocketError } from './errors.ts';
import type { FleetPort } from './fleet-port.ts';
import { journalSources, LiveHub, type Sources } from './live/index.ts';
import { problemOf, RequestError } from './problem.ts';
import { type Resources, ROUTES } from './routes.ts';

export interface AdminOptions {
  readonly fleet: FleetPort;
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  readonly about: object;
  /** What streams tell from: the journal of the fleet where nothing else is given. */
  readonly sources?: Sources | undefined;
}

/** What the kernel has room for, less the byte that ends it. */
export const SOCKET_BYTES_MAX = process.platform === 'linux' ? 107 : 103;
const CONNECTIONS_MAX = 256;
const STOP_GRACE_MS = 500;

export class AdminServer {
  readonly #server: Server;
  readonly #resources: Resources;
  readonly #clock: Clock;
  #closed: Promise<void> | undefined;

  constructor({ fleet, clock, bodyBytesMax, about, sources }: AdminOptions) {
    this.#clock = clock;
    const teller = hash(`${process.pid} ${clock.now()} ${clock.monotonicMs()}`).slice(0, 12);
    const live = new LiveHub({ clock, sources: sources ?? journalSources(fleet), teller });
    this.#resources = { fleet, bodyBytesMax, about, live };
    this.#server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 });
    this.#server.maxConnections = CONNECTIONS_MAX;
    const connections = new Connections();
    this.#server.on('request', (request, response) => {
      connections.occupy(request.socket, response);
      answer(this.#resources, request, response).catch((error) => fail(response, error));
    });
    this.#server.on('connection', (socket) => {
      // Who looks must not keep a program up that has nothing else to do.
      socket.unref();
      connections.add(socket);
    });
    this.#server.on('clientError', (_, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    });
  }

  /**
   * Answers on `path` from now on, for as long as the process has other things to do. Only whoever
   * holds the data directory may call this.
   */
  async start(path: string): Promise<void> {
    refuseLong(path);
    removeStale(path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(new SocketError(`cannot listen on ${path}: ${cause.message}`, { cause })),
      );
      this.#server.listen(path, resolve);
    });
    this.#server.unref();
    chmodSync(path, 0o600);
  }

  /** The process is on its way out: streams are told, and no more are taken. */
  leave(): void {
    this.#resources.live.leave();
  }

  /**
   * Removes the socket, ends streams, and takes no more requests. To be called while the directory is
   * still held: later the socket in it may be that of the next process.
   */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#resources.live.stop();
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  /** Closes, and gives requests in hand a moment. */
  async stop(): Promise<void> {
    const closed = this.close();
    const cancel = this.#clock.after(STOP_GRACE_MS, () => this.#server.closeAllConnections());
    await closed;
    cancel();
  }
}

function refuseLong(path: string): void {
  if (Buffer.byteLength(path) <= SOCKET_BYTES_MAX) return;
  throw new SocketError(
    `the path of the socket is ${Buffer.byteLength(path)} bytes long, ` +
      `and the system allows ${SOCKET_BYTES_MAX}: ${path}`,
    { hint: 'choose a data directory with a shorter path, with --data-dir or FLEETQ_DATA_DIR' },
  );
}

/** Whoever holds the directory knows that a socket found there belongs to nobody any more. */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) {
    throw new SocketError(`${path} is there and is not a socket`, { hint: 'move it away' });
  }
  unlinkSync(path);
}

const ID_PATH = /^(\/api\/v1\/runs\/)([^/]+)(\/[a-z]+)?$/;

async function answer(
  resources: Resources,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = urlOf(request);
  const match = ID_PATH.exec(pathname);
  const pattern = match ? `${match[1]}:id${match[3] ?? ''}` : pathname;
  const route = `${request.method} ${pattern}`;
  const act = Object.hasOwn(ROUTES, route) ? ROUTES[route] : undefined;
  if (!act) throw unknownRoute(request, pattern);
  const id = decoded(match?.[2] ?? '');
  const answered = await act({ request, response, query: searchParams, id }, resources);
  if (answered) send(response, answered.status, 'application/json', answered.body);
}

function urlOf(request: IncomingMessage): URL {
  try {
    return new URL(request.url ?? '/', 'http://fleetq');
  } catch {
    throw new RequestError(400, 'FLEETQ_BAD_REQUEST', `${show(request.url)} is not a path`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function unknownRoute(request: IncomingMessage, pattern: string): RequestError {
  const methods = ['GET', 'POST'].filter((method) => Object.hasOwn(ROUTES, `${method} ${pattern}`));
  return methods.length > 0
    ? new RequestError(
        405,
        'FLEETQ_BAD_METHOD',
        `${request.method} is not possible here`,
        `use ${methods.join(' or ')}`,
      )
    : new RequestError(
        404,
        'FLEETQ_NO_SUCH_PATH',
        `there is nothing at ${show(request.url?.split('?')[0])}`,
        `there are: ${Object.keys(ROUTES).join(', ')}`,
      );
}

function fail(response: ServerResponse, error: unknown): void {
  const problem = problemOf(error);
  if (response.headersSent) return void response.end();
  // What is left of a body that was refused is not read: the connection ends with the answer.
  if (!response.req.complete) response.setHeader('connection', 'close');
  send(response, problem.status, 'application/problem+json', problem);
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

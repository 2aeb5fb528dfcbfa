/**
 * The process as others reach it: HTTP on a socket file in the data directory, which only its owner can
 * open, and on an address where one is wanted. Whatever is asked, the answer is JSON, and a mistake of
 * the asker is a 4xx. What answers is loaded when the first request comes: runs do not need it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError } from '../ground/index.ts';
import { tell } from '../telemetry/events.ts';
import { CONNECTIONS_MAX, Connections } from './connections.ts';
import type { Desk } from './desk/desk.ts';
import type { Door } from './door/door.ts';
import { ListenError } from './errors.ts';
import { listenOnFile } from './socket-file.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const CONNECTIONS_SLACK = 64;
const BACKLOG = 1_024;
const STOP_GRACE_MS = 500;
const HEADER_BYTES_MAX = 16_384;
const REQUEST_MS_MAX = 30_000;
const HEADERS_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 30_000;

export class AdminServer {
  readonly #desk: Desk;
  readonly #servers: Server[] = [];
  readonly #doors = new WeakMap<IncomingMessage, Door>();
  #app: Promise<Handle> | undefined;
  #closed: Promise<void> | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Answers on the file `path` from now on, for as long as the process has other things to do. Only
   * whoever holds the data directory may call this.
   */
  async start(path: string, door: Door): Promise<void> {
    await listenOnFile(this.#server(door), path);
  }

  /** Answers on an address; tells where, since port 0 means any. */
  async listen(host: string, port: number, door: Door): Promise<string> {
    const server = this.#server(door);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) =>
        reject(
          new ListenError(`cannot answer on ${host}:${port}: ${cause.message}`, {
            cause,
            hint: 'choose another address with --listen or FLEETQ_LISTEN',
          }),
        ),
      );
      server.listen({ port, backlog: BACKLOG, ...(host === '' ? {} : { host }) }, resolve);
    });
    server.unref();
    const at = server.address() as AddressInfo;
    return at.family === 'IPv6' ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`;
  }

  /** The process is on its way out: streams are told, and no more are taken. */
  leave(): void {
    this.#desk.live.leave();
  }

  /**
   * Removes the socket, ends streams, and takes no more requests. To be called while the directory is
   * still held: later the socket in it may be that of the next process.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Closes, and gives requests in hand a moment. */
  async stop(): Promise<void> {
    const closed = this.close();
    const cancel = this.#desk.clock.after(STOP_GRACE_MS, () => {
      for (const server of this.#servers) server.closeAllConnections();
    });
    await closed;
    cancel();
    await this.#desk.shared?.close();
  }

  async #close(): Promise<void> {
    this.#desk.live.stop();
    await Promise.all(
      this.#servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeIdleConnections();
          }),
      ),
    );
  }

  #server(door: Door): Server {
    const server = createServer({
      requestTimeout: REQUEST_MS_MAX,
      headersTimeout: HEADERS_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      connectionsCheckingInterval: 5_000,
    });
    this.#servers.push(server);
    // Beyond what gives way to others: those that are being answered.
    server.maxConnections = CONNECTIONS_MAX + CONNECTIONS_SLACK;
    const connections = new Connections(this.#desk.clock);
    server.on('request', (request, response) => {
      connections.occupy(request.socket, response, request);
      this.#doors.set(request, door);
      this.#handle(request, response);
    });
    server.on('connection', (socket) => {
      // Who looks must not keep a program up that has nothing else to do.
      socket.unref();
      connections.add(socket);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = STATUS_OF_CLIENT_ERROR[error.code ?? ''] ?? '400 Bad Request';
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    });
    return server;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    this.#app ??= this.#load();
    this.#app.then(
      (handle) => handle(request, response),
      (error) => {
        tell('admin.failed', () => ({
          method: request.method ?? '',
          route: undefined,
          error: describeError(error),
        }));
        response.writeHead(500, { connection: 'close' }).end();
      },
    );
  }

  async #load(): Promise<Handle> {
    const { openApp } = await import('./open-app.ts');
    return openApp({ desk: this.#desk, doorOf: (request) => this.#doors.get(request)! });
  }
}

const STATUS_OF_CLIENT_ERROR: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * What probes ask, on a listener of its own, apart from everything else a process answers.
 *
 *   GET /livez    200 while the event loop turns. Never looks at the database: a restart would not
 *                 bring that back, and would take the runs in hand with it.
 *   GET /readyz   200 once tables fit, predecessors are adopted and runs resumed, until it drains
 *   GET /metrics  counters, gauges and histograms, in Prometheus's text or as OpenMetrics
 *
 * No ids, no payloads: whoever may reach a metrics port may not know what is in the runs.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, FleetqError } from '../ground/index.ts';

export interface HealthOptions {
  /** 'host:port', or ':port' for every interface. */
  readonly listen: string;
  /** Why this process is not ready; undefined where it is. */
  readonly whyNotReady: () => string | undefined;
  /** What else there is to know of one that is ready; undefined where there is nothing. */
  readonly remark?: (() => string | undefined) | undefined;
  /** Writes the metrics, in the format that this header asks for. */
  readonly metrics: {
    text(accept: string | undefined): Promise<{ readonly type: string; readonly text: string }>;
  };
}

/** The address for probes cannot be listened on. */
export class HealthListenError extends FleetqError {
  readonly code = 'FLEETQ_HEALTH_LISTEN';
  readonly verdict = 'abort';
}

const CONNECTIONS_MAX = 64;
const TEXT = 'text/plain; charset=utf-8';

export class HealthServer {
  readonly #options: HealthOptions;
  readonly #server: Server;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('request', ({ method, url, headers }, response) => {
      const path = (url ?? '').split('?')[0];
      if (method !== 'GET' && method !== 'HEAD') return answer(response, 405, TEXT, 'use GET\n');
      if (path === '/metrics') return void this.#tellMetrics(headers.accept, response);
      this.#answer(path ?? '', response);
    });
    this.#server.on('connection', (socket) => void socket.unref());
  }

  /** Answers from now on; tells where, since port 0 means any. */
  async start(): Promise<string> {
    const { listen } = this.#options;
    const cut = listen.lastIndexOf(':');
    const host = listen.slice(0, cut).replaceAll(/[[\]]/g, '');
    const port = Number(listen.slice(cut + 1));
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(
          new HealthListenError(`cannot answer probes on ${listen}: ${cause.message}`, {
            cause,
            hint: 'choose another address with --health-listen or FLEETQ_HEALTH_LISTEN',
          }),
        ),
      );
      this.#server.listen({ port, ...(host === '' ? {} : { host }) }, resolve);
    });
    this.#server.unref();
    const at = this.#server.address() as AddressInfo;
    return at.family === 'IPv6' ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #tellMetrics(accept: string | undefined, response: ServerResponse): Promise<void> {
    try {
      const { type, text } = await this.#options.metrics.text(accept);
      answer(response, 200, type, text);
    } catch (error) {
      // Without its message, which may be anybody's: the log has it where it is asked for.
      answer(response, 500, TEXT, `the metrics cannot be told: ${describeError(error).name}\n`);
    }
  }

  #readyText(): string {
    const remark = this.#options.remark?.();
    return remark === undefined ? 'ready\n' : `ready; ${remark}\n`;
  }

  #answer(path: string, response: ServerResponse): void {
    if (path === '/livez') return answer(response, 200, TEXT, 'alive\n');
    if (path !== '/readyz') {
      return answer(response, 404, TEXT, 'there are: /livez, /readyz, /metrics\n');
    }
    const why = this.#options.whyNotReady();
    return why === undefined
      ? answer(response, 200, TEXT, this.#readyText())
      : answer(response, 503, TEXT, `${why}\n`);
  }
}

function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

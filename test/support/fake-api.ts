/**
 * A real HTTP server whose true capacity is known: so many calls at once, or so many a second; it lets
 * calls wait in line, or charges for those it refuses; with rate headers or without. It counts what it
 * was asked and what it refused.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeApiOptions {
  readonly kind: 'inflight' | 'quota' | 'queueing' | 'charging';
  /** Calls at once, or calls a second under a quota. */
  readonly capacity: number;
  readonly latencyMs?: number | undefined;
  /** As the Retry-After of a refusal. */
  readonly retryAfter?: string | undefined;
  readonly hasHeaders?: boolean | undefined;
  /** Letters in the body of an answer, besides its status. */
  readonly padding?: number | undefined;
}

export class FakeApi {
  readonly #options: FakeApiOptions;
  readonly #server: Server;
  readonly #line: (() => void)[] = [];
  #tokens: number;
  #tokensAtMs = performance.now();
  #inFlight = 0;
  inFlightMax = 0;
  asked = 0;
  answered = 0;
  refused = 0;
  /** Refuses or fails every call while it is set. */
  answersAll: number | undefined;

  /** The calls that are served. */
  readonly #working = new Set<NodeJS.Timeout>();

  private constructor(options: FakeApiOptions) {
    this.#options = options;
    this.#tokens = options.capacity;
    // Callers let go of idle connections, never the server: a call that is sent as it is closed is lost.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) =>
      this.#serve(request, response),
    );
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  static async start(options: FakeApiOptions): Promise<FakeApi> {
    const api = new FakeApi(options);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    for (const timer of this.#working) clearTimeout(timer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    this.asked++;
    if (this.answersAll !== undefined) return this.#end(response, this.answersAll);
    const { kind, capacity } = this.#options;
    if (kind === 'quota' || kind === 'charging') return this.#byQuota(response);
    if (this.#inFlight < capacity) return this.#work(response);
    if (kind === 'queueing') this.#line.push(() => this.#work(response));
    else this.#end(response, 429);
  }

  #byQuota(response: ServerResponse): void {
    const { capacity, kind } = this.#options;
    const nowMs = performance.now();
    const gained = ((nowMs - this.#tokensAtMs) / 1_000) * capacity;
    this.#tokens = Math.min(capacity, this.#tokens + gained);
    this.#tokensAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens--;
      return this.#work(response);
    }
    if (kind === 'charging') this.#tokens = Math.max(0, this.#tokens - 1);
    this.#end(response, 429);
  }

  #work(response: ServerResponse): void {
    this.#inFlight++;
    this.inFlightMax = Math.max(this.inFlightMax, this.#inFlight);
    const timer = setTimeout(() => {
      this.#working.delete(timer);
      this.#inFlight--;
      this.#line.shift()?.();
      this.#end(response, 200);
    }, this.#options.latencyMs ?? 20);
    this.#working.add(timer);
  }

  #end(response: ServerResponse, status: number): void {
    const { retryAfter, hasHeaders, capacity, padding = 0 } = this.#options;
    if (status === 200) this.answered++;
    else this.refused++;
    if (status === 429 && retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    if (hasHeaders) {
      response.setHeader('x-ratelimit-limit', capacity);
      response.setHeader('x-ratelimit-remaining', Math.floor(this.#tokens));
      response.setHeader('x-ratelimit-reset', 1);
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status, padding: 'x'.repeat(padding) }));
  }
}

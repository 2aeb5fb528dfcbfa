/**
 * A model on loopback that takes so many calls at once and refuses what is more, as real ones do; it can be
 * told to refuse everything. What it answers is the beginning of the text.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SampleLlmOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** Calls at once. */
  readonly capacity?: number | undefined;
  readonly latencyMs?: number | undefined;
}

const BODY_BYTES_MAX = 1_000_000;
const RETRY_AFTER_S = 1;

export class SampleLlm {
  readonly #server: Server;
  readonly #capacity: number;
  readonly #latencyMs: number;
  /** Whether every call is answered with 429. */
  isRefusing = false;
  /** Another answer than usual, for those who want to see what becomes of it. */
  answers: ((text: string) => { readonly status: number; readonly body: object }) | undefined;
  asked = 0;
  refused = 0;
  inFlight = 0;
  inFlightMax = 0;

  constructor({ capacity = 4, latencyMs = 400 }: SampleLlmOptions) {
    this.#capacity = capacity;
    this.#latencyMs = latencyMs;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/summaries`;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked++;
    const isFull = this.inFlight >= this.#capacity;
    if (this.isRefusing || isFull) {
      this.refused++;
      request.resume();
      response.setHeader('retry-after', RETRY_AFTER_S);
      return send(response, 429, { error: 'too many requests' });
    }
    this.inFlight++;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    try {
      const wanted = JSON.parse(await bodyOf(request)) as { text?: unknown; words?: unknown };
      await new Promise((resolve) => setTimeout(resolve, this.#latencyMs));
      if (typeof wanted.text !== 'string' || typeof wanted.words !== 'number')
        return send(response, 400, { error: 'text and words are wanted' });
      const other = this.answers?.(wanted.text);
      if (other) return send(response, other.status, other.body);
      send(response, 200, { summary: beginningOf(wanted.text, wanted.words) });
    } finally {
      this.inFlight--;
    }
  }
}

export async function startSampleLlm(options: SampleLlmOptions = {}): Promise<SampleLlm> {
  const llm = new SampleLlm(options);
  await llm.listen(options.port ?? 0);
  return llm;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function beginningOf(text: string, words: number): string {
  return text.split(/\s+/).filter(Boolean).slice(0, words).join(' ');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

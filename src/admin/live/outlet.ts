/**
 * One client and its connection. It is written to only when it has taken what was written before, so
 * a client that does not read costs what one record is long, and is let go of after a while.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../ground/index.ts';

/** A proxy must neither keep nor gather what is sent. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** So long may it take nothing before it makes room for others. */
const FULL_MS_MAX = 60_000;

export class Outlet {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #isFull = false;
  #fullSinceMs = 0;

  constructor(
    response: ServerResponse,
    clock: Clock,
    on: { readonly drain: () => void; readonly close: () => void },
  ) {
    this.#response = response;
    this.#clock = clock;
    response.on('close', on.close);
    // A connection that breaks is closed next.
    response.on('error', () => undefined);
    response.on('drain', () => {
      this.#isFull = false;
      on.drain();
    });
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  open(headers: Readonly<Record<string, string>>): void {
    // The connection ends with the stream: kept for what may be asked next, it would hold a server up.
    this.#response.shouldKeepAlive = false;
    this.#response.writeHead(200, headers);
    this.#response.flushHeaders();
  }

  write(text: string): void {
    if (this.#response.write(text)) return;
    this.#isFull = true;
    this.#fullSinceMs = this.#clock.monotonicMs();
  }

  /** A comment, so that a connection whose other end is gone is noticed. */
  sayAlive(): void {
    if (!this.#isFull) return this.write(': alive\n\n');
    if (this.#clock.monotonicMs() - this.#fullSinceMs > FULL_MS_MAX) this.#response.destroy();
  }

  end(text?: string): void {
    this.#response.end(text);
  }
}

export function eventText(event: string, data: unknown, id?: string): string {
  const head = id === undefined ? '' : `id: ${id}\n`;
  return `${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

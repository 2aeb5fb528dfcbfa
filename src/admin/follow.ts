/**
 * A run's records as server-sent events, from any record on and then live. The journal itself is the
 * buffer: a follower that reads slowly is written to only when it has taken what was written before,
 * so it costs no memory, however long the run.
 */
import type { ServerResponse } from 'node:http';
import type { Cancel, Clock } from '../ground/index.ts';
import type { StoredRecord } from '../journal/index.ts';
import { FINAL_STATES } from '../machine/index.ts';
import { listen } from '../telemetry/events.ts';
import type { RunReader } from './fleet-port.ts';
import { RequestError } from './problem.ts';

const FOLLOWERS_MAX = 64;
/** Many commits a second may concern other runs: a follower looks at most this often. */
const LOOK_EVERY_MS = 50;
const ALIVE_EVERY_MS = 15_000;

interface Follower {
  readonly run: string;
  readonly response: ServerResponse;
  afterSeq: number;
  isFull: boolean;
}

export class Followers {
  readonly #reader: RunReader;
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  #cancelLook: Cancel | undefined;
  #cancelAlive: Cancel | undefined;
  #unlisten: (() => void) | undefined;

  constructor(reader: RunReader, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** Answers with the records after `afterSeq`, and goes on until the run has ended. */
  add(run: string, afterSeq: number, response: ServerResponse): void {
    // An unknown run is refused before the stream begins.
    this.#reader.describe(run);
    if (this.#followers.size >= FOLLOWERS_MAX) {
      throw new RequestError(
        429,
        'FLEETQ_TOO_MANY_FOLLOWERS',
        `${FOLLOWERS_MAX} followers are connected, which is the limit`,
      );
    }
    const follower: Follower = { run, response, afterSeq, isFull: false };
    this.#followers.add(follower);
    this.#unlisten ??= listen('journal.committed', () => this.#lookSoon());
    this.#cancelAlive ??= this.#clock.after(ALIVE_EVERY_MS, () => this.#sayAlive(), { idle: true });
    response.on('close', () => this.#remove(follower));
    response.on('drain', () => {
      follower.isFull = false;
      this.#lookSoon();
    });
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.#look(follower);
  }

  /** Ends every stream; the followers know where they were and may ask the next process. */
  stop(): void {
    for (const follower of this.#followers) follower.response.end();
    this.#followers.clear();
    this.#rest();
  }

  #lookSoon(): void {
    this.#cancelLook ??= this.#clock.after(LOOK_EVERY_MS, () => {
      this.#cancelLook = undefined;
      for (const follower of [...this.#followers]) this.#look(follower);
    });
  }

  #look(follower: Follower): void {
    if (follower.isFull) return;
    try {
      for (const record of this.#reader.events(follower.run, follower.afterSeq)) {
        follower.isFull = !follower.response.write(eventText(record));
        follower.afterSeq = record.seq;
        if (isLast(record)) return void follower.response.end('event: end\ndata: {}\n\n');
        if (follower.isFull) return;
      }
    } catch {
      // Damaged or pruned meanwhile: the stream ends, and whoever asks again is told why.
      follower.response.end();
    }
  }

  /** A comment line, so that a connection whose other end is gone is noticed. */
  #sayAlive(): void {
    for (const { response, isFull } of this.#followers) if (!isFull) response.write(': alive\n\n');
    this.#cancelAlive = this.#clock.after(ALIVE_EVERY_MS, () => this.#sayAlive(), { idle: true });
  }

  #remove(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) this.#rest();
  }

  #rest(): void {
    this.#unlisten?.();
    this.#cancelLook?.();
    this.#cancelAlive?.();
    this.#unlisten = this.#cancelLook = this.#cancelAlive = undefined;
  }
}

function isLast({ state }: StoredRecord): boolean {
  return (FINAL_STATES as readonly string[]).includes(state);
}

function eventText(record: StoredRecord): string {
  return `id: ${record.seq}\nevent: record\ndata: ${JSON.stringify(record)}\n\n`;
}

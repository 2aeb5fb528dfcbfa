/**
 * The way from one process to Postgres, in our hands: it lets everything through, does to it what a
 * mode says, or loses the answer to a statement that the server has committed. While a way is silent
 * what was sent waits, and arrives when the way is open again, long after its sender has given up,
 * as on a real network.
 */
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import type { Random } from '../../src/ground/index.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { Doubts } from './doubts.ts';
import type { ModeKind, NetworkMode } from './network-modes.ts';
import { type Passage, Pipe } from './pipe.ts';

export interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly up: Pipe;
  readonly down: Pipe;
  /** What has come through it, for a way that breaks after so many bytes. */
  bytes: number;
  isCut: boolean;
}

type Direction = 'up' | 'down';

const BLOCKS: Readonly<Record<Direction, readonly ModeKind[]>> = {
  up: ['silence', 'unheard'],
  down: ['silence', 'unanswered'],
};

export class StoreProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #random: Random;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #doubts = new Doubts((pair) => this.#break(pair));
  #mode: NetworkMode | undefined;
  #isSilentNow = false;
  #flaps: NodeJS.Timeout | undefined;
  port = 0;
  /** No fault is at work on it. */
  isFree = true;
  /** How often the present mode, or the last one, has kept something back or broken it. */
  touched = 0;

  constructor(
    target: { readonly host: string; readonly port: number },
    random: Random = seededRandom(1),
  ) {
    this.#target = target;
    this.#random = random;
    this.#server = createServer((client) => this.#join(client));
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as { port: number }).port;
  }

  stop(): void {
    this.heal();
    this.#server.close();
    for (const pair of this.#pairs) this.#break(pair);
  }

  cut(kind: 'silence' | 'reset'): void {
    this.turn({ kind });
  }

  turn(mode: NetworkMode): void {
    this.heal();
    this.touched = 0;
    this.#mode = mode;
    for (const pair of this.#pairs) pair.bytes = 0;
    if (mode.kind === 'reset') for (const pair of this.#pairs) this.#reset(pair);
    // The server's side is gone, and whoever is on the other does not know it yet.
    if (mode.kind === 'slowClose') for (const { server } of this.#pairs) server.destroy();
    if (mode.kind === 'flapping') this.#flap(mode.openMs, mode.silentMs);
  }

  heal(): void {
    clearTimeout(this.#flaps);
    this.#mode = undefined;
    this.#isSilentNow = false;
    this.#letThrough();
  }

  /** Loses the answer to the next write that the server commits; false where none came in time. */
  dropAnswer(msMax: number): Promise<boolean> {
    return this.#doubts.arm(msMax);
  }

  disarm(): void {
    this.#doubts.disarm();
  }

  #letThrough(): void {
    for (const { up, down } of this.#pairs) {
      up.release();
      down.release();
    }
  }

  #flap(openMs: number, silentMs: number): void {
    this.#isSilentNow = !this.#isSilentNow;
    if (!this.#isSilentNow) this.#letThrough();
    const ms = this.#isSilentNow ? silentMs : openMs;
    this.#flaps = setTimeout(() => this.#flap(openMs, silentMs), ms);
  }

  #join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#mode?.kind === 'reset') {
      this.touched += 1;
      client.resetAndDestroy();
      return;
    }
    const server = new Socket().connect(this.#target);
    server.on('error', () => undefined);
    const up = new Pipe(server, this.#passage('up'));
    const down = new Pipe(client, this.#passage('down'));
    const pair: Pair = { client, server, up, down, bytes: 0, isCut: false };
    this.#pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (chunk: Buffer) => {
      this.#doubts.asked(pair, chunk);
      this.#through(pair, 'up', chunk);
    });
    server.on('data', (chunk: Buffer) => {
      for (const part of this.#doubts.answered(pair, chunk)) this.#through(pair, 'down', part);
    });
    // Through a silent way not even the end of a connection is heard.
    client.on('close', () => up.end());
    server.on('close', () => {
      for (const part of this.#doubts.ended(pair)) down.push(part);
      down.end();
      if (client.destroyed) this.#pairs.delete(pair);
    });
  }

  #through(pair: Pair, direction: Direction, chunk: Buffer): void {
    const mode = this.#mode;
    if (pair.isCut) return;
    pair.bytes += chunk.length;
    if (mode?.kind !== 'cutAfter' || pair.bytes < mode.bytes) return pair[direction].push(chunk);
    // The last piece comes through in part: the other side has begun to read a message.
    const rest = chunk.length - (pair.bytes - mode.bytes);
    if (rest > 0) (direction === 'up' ? pair.server : pair.client).write(chunk.subarray(0, rest));
    pair.isCut = true;
    this.touched += 1;
    pair.client.destroySoon();
    pair.server.destroySoon();
  }

  #passage(direction: Direction): Passage {
    let freeMs = 0;
    return {
      isBlocked: () =>
        this.#isSilentNow || (!!this.#mode && BLOCKS[direction].includes(this.#mode.kind)),
      delayMs: (bytes) => {
        const mode = this.#mode;
        if (mode?.kind === 'slowClose') return bytes === 0 ? mode.delayMs : 0;
        if (mode?.kind === 'latency') return mode.delayMs;
        if (mode?.kind === 'jitter') return mode.delayMsMax * this.#random.fraction();
        if (mode?.kind !== 'throttle') return 0;
        const nowMs = performance.now();
        freeMs = Math.max(nowMs, freeMs) + (bytes * 1_000) / mode.bytesPerSecond;
        return freeMs - nowMs;
      },
      onTouched: () => {
        if (this.#mode) this.touched += 1;
      },
    };
  }

  #reset(pair: Pair): void {
    this.touched += 1;
    this.#break(pair);
  }

  #break(pair: Pair): void {
    this.#pairs.delete(pair);
    // A socket that is about to end cannot be reset any more, and would stay open for ever.
    if (pair.client.writableEnded) pair.client.destroy();
    else pair.client.resetAndDestroy();
    pair.server.destroy();
  }
}

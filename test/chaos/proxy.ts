/**
 * The way from one process to Postgres, in our hands: it lets everything through, delays it, cuts the
 * process off, or loses the answer to a statement that the server has committed. A cut is either a
 * reset, or silence: then what was sent arrives when the way is open again, long after its sender has
 * given up, as on a real network.
 */
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';

export type Cut = 'silence' | 'reset';

/** Statements that change something; which of them is in doubt is left to chance. */
const WRITES = /update step_tracker|insert into (?:step_tracker|run_events)|update pod_health/;
/** The server says that it has committed rows, or nothing, and that it waits for what comes next. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the protocol is binary
const COMMITTED = /(?:SELECT|UPDATE|INSERT 0) [1-9]\d*\x00Z\x00\x00\x00\x05I$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the protocol is binary
const READY = /Z\x00\x00\x00\x05[ITE]$/;

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly up: Pipe;
  readonly down: Pipe;
}

/** An answer that is to be lost: on which connection, and what of it has come so far. */
interface Doubt {
  pair: Pair | undefined;
  held: Buffer[];
  readonly finish: (wasDropped: boolean) => void;
}

export class StoreProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #cut: Cut | undefined;
  #doubt: Doubt | undefined;
  delayMs = 0;
  port = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as { port: number }).port;
  }

  stop(): void {
    this.#server.close();
    for (const pair of this.#pairs) end(pair);
  }

  cut(how: Cut): void {
    this.#cut = how;
    if (how === 'reset') for (const pair of this.#pairs) end(pair);
  }

  heal(): void {
    this.#cut = undefined;
    this.delayMs = 0;
    for (const { up, down } of this.#pairs) {
      up.pump();
      down.pump();
    }
  }

  /** Loses the answer to the next write that the server commits; false where none came in time. */
  dropAnswer(msMax: number): Promise<boolean> {
    if (this.#doubt) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.disarm(), msMax);
      const finish = (wasDropped: boolean) => {
        clearTimeout(timer);
        this.#doubt = undefined;
        resolve(wasDropped);
      };
      this.#doubt = { pair: undefined, held: [], finish };
    });
  }

  /** Nothing is dropped any more; what was held back arrives after all. */
  disarm(): void {
    const doubt = this.#doubt;
    if (!doubt) return;
    this.#letGo(doubt);
    doubt.finish(false);
  }

  #letGo(doubt: Doubt): void {
    const { pair, held } = doubt;
    [doubt.pair, doubt.held] = [undefined, []];
    for (const chunk of held) pair?.down.push(chunk);
  }

  #join(client: Socket): void {
    if (this.#cut === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const server = new Socket().connect(this.#target);
    const waitMs = () => (this.#cut ? undefined : this.delayMs);
    const pair: Pair = {
      client,
      server,
      up: new Pipe(server, waitMs),
      down: new Pipe(client, waitMs),
    };
    this.#pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (chunk: Buffer) => this.#asked(pair, chunk));
    server.on('data', (chunk: Buffer) => this.#answered(pair, chunk));
    // Through a silent way not even the end of a connection is heard.
    client.on('close', () => pair.up.end());
    server.on('close', () => {
      // The server died before it had committed: there is no answer to lose.
      if (this.#doubt?.pair === pair) this.disarm();
      pair.down.end();
      if (client.destroyed) this.#pairs.delete(pair);
    });
    client.on('error', () => undefined);
    server.on('error', () => undefined);
  }

  #asked(pair: Pair, chunk: Buffer): void {
    const doubt = this.#doubt;
    if (doubt && !doubt.pair && WRITES.test(chunk.toString('latin1'))) doubt.pair = pair;
    pair.up.push(chunk);
  }

  #answered(pair: Pair, chunk: Buffer): void {
    const doubt = this.#doubt;
    if (doubt?.pair !== pair) return pair.down.push(chunk);
    doubt.held.push(chunk);
    const said = Buffer.concat(doubt.held).toString('latin1');
    if (!COMMITTED.test(said)) {
      // Nothing was changed, or it failed: that answer is none to lose.
      if (READY.test(said)) this.#letGo(doubt);
      return;
    }
    end(pair);
    this.#pairs.delete(pair);
    doubt.finish(true);
  }
}

function end({ client, server }: Pair): void {
  client.destroy();
  server.destroy();
}

/** One direction: in order, each chunk as late as the proxy wants it; nothing while that is never. */
class Pipe {
  readonly #to: Socket;
  readonly #waitMs: () => number | undefined;
  readonly #queue: { readonly chunk: Buffer | undefined; readonly at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Socket, waitMs: () => number | undefined) {
    this.#to = to;
    this.#waitMs = waitMs;
  }

  push(chunk: Buffer | undefined): void {
    this.#queue.push({ chunk, at: performance.now() });
    this.pump();
  }

  end(): void {
    this.push(undefined);
  }

  pump(): void {
    clearTimeout(this.#timer);
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      const waitMs = this.#waitMs();
      if (waitMs === undefined) return;
      const leftMs = next.at + waitMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.pump(), leftMs);
        return;
      }
      this.#queue.shift();
      if (next.chunk === undefined) this.#to.destroySoon();
      else if (!this.#to.destroyed) this.#to.write(next.chunk);
    }
  }
}

/**
 * The way to Postgres for whoever commits by a message of its own: it loses the answer, loses the commit
 * itself, or breaks at once and delivers the commit late, when its sender has long given up.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type CommitFault = 'answerLost' | 'commitLost' | 'late';

/** A message of the simple protocol: its kind, its length, its text. */
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');
/** How a look, or the leader's upkeep, begins: see `Pool.byIndexes`. */
const UPKEEP = 'set local enable_sort = off';

export interface CommitProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Asked at every commit but those of upkeep, which come when they come. */
  readonly faultOf: () => CommitFault | undefined;
  /** How long a late commit is on its way. */
  readonly lateMs?: number;
  /** Waited for before a commit goes on to the server. */
  readonly beforeCommit?: () => Promise<void>;
}

export class CommitProxy {
  readonly #options: CommitProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How often each has happened. */
  readonly counts: Record<CommitFault, number> = { answerLost: 0, commitLost: 0, late: 0 };
  port = 0;

  constructor(options: CommitProxyOptions) {
    this.#options = options;
    this.#server = createServer((client) => this.#join(client));
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as { port: number }).port;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The same address, by way of this. */
  through(url: string): string {
    return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(this.port) }).href;
  }

  #join(client: Socket): void {
    const { host, port } = this.#options;
    const server = connect(port, host);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    let isCut = false;
    server.on('data', (chunk) => void (isCut || client.write(chunk)));
    server.on('close', () => client.destroy());
    let isUpkeep = false;
    client.on('data', (chunk) => {
      if (chunk.includes(UPKEEP)) isUpkeep = true;
      const isCommit = chunk.includes(COMMIT);
      const fault = isCommit && !isUpkeep ? this.#options.faultOf() : undefined;
      if (isCommit) isUpkeep = false;
      if (fault === undefined) return this.#pass(chunk, server);
      this.counts[fault] += 1;
      isCut = true;
      this.#fail(fault, chunk, client, server);
    });
    client.on('close', () => void (isCut || server.destroy()));
  }

  #pass(chunk: Buffer, server: Socket): void {
    const { beforeCommit } = this.#options;
    if (!beforeCommit || !chunk.includes(COMMIT)) return void server.write(chunk);
    void beforeCommit().then(() => server.write(chunk));
  }

  #fail(fault: CommitFault, chunk: Buffer, client: Socket, server: Socket): void {
    if (fault === 'answerLost') {
      // The server has done it once it answers.
      server.once('data', () => {
        client.destroy();
        server.destroy();
      });
      server.write(chunk);
    } else if (fault === 'commitLost') {
      client.destroy();
      server.destroy();
    } else {
      client.destroy();
      setTimeout(() => {
        server.write(chunk);
        server.once('data', () => server.destroy());
      }, this.#options.lateMs ?? 300);
    }
  }
}

/**
 * Hints over LISTEN, on a connection of its own. Before anybody relies on them one is sent from
 * another connection: a pooler on the way takes the LISTEN, answers politely, and delivers nothing
 * but what the same connection sends to itself. A connection that is lost is made again, and then
 * everything may have happened.
 *
 *   connecting ──▶ testing ──▶ listening ──▶ lost ──(backoff)──▶ connecting
 *                     └──▶ deaf: nothing arrived
 */
import pg from 'pg';
import { type Cancel, type Clock, jittered, type Random } from '../../ground/index.ts';
import { noticeIn } from '../notice.ts';
import type { Hint, OnHint } from '../store.ts';
import { connectionOf } from './connection.ts';
import { meaningOf } from './driver-errors.ts';
import { CHANNEL } from './hinter.ts';
import { type Hosts, locating } from './hosts.ts';
import type { PostgresWay } from './options.ts';
import { sql } from './sql.ts';

const SELF_TEST_MS = 3_000;
const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 10_000;
const HINTS: readonly Hint[] = ['ready', 'ended'];

const listenToChannel = sql`listen ${CHANNEL}`;
const unlisten = sql`unlisten *`;
interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  /** Where the way itself may lead to several servers. */
  readonly hosts?: Hosts | undefined;
  readonly onHint: OnHint;
  /** Sends a word to the channel, from another connection. */
  readonly notify: (word: string) => Promise<unknown>;
}

export class Listener {
  readonly #way: PostgresWay;
  readonly #tools: Tools;
  #client: pg.Client | undefined;
  #cancelRetry: Cancel | undefined;
  #failures = 0;
  #isStopped = false;

  constructor(way: PostgresWay, tools: Tools) {
    this.#way = way;
    this.#tools = tools;
  }

  /**
   * False where hints do not arrive; throws where the server cannot be reached at all. An address of
   * its own that leads nowhere today is tried again and again: the store works without it.
   */
  async start(): Promise<boolean> {
    return this.#connect().catch((error) => {
      if (this.#way.listenUrl === undefined) throw meaningOf(error);
      this.#reconnectLater(undefined);
      return true;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry?.();
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connect(): Promise<boolean> {
    const { listenUrl, url } = this.#way;
    const way = listenUrl === undefined ? this.#way : { ...this.#way, isPooled: false };
    const { hosts } = this.#tools;
    const Client = hosts && listenUrl === undefined ? locating(hosts) : pg.Client;
    const client = new Client(connectionOf(way, listenUrl ?? url));
    // Said again by 'end', which is where something is done about it.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(listenToChannel);
      if (!(await this.#hearsOthers(client))) {
        await client.query(unlisten);
        await client.end();
        return false;
      }
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#isStopped) return client.end().then(() => false);
    this.#client = client;
    this.#failures = 0;
    client.on('notification', ({ payload = '' }) => {
      const hint = HINTS.find((known) => known === payload || payload.startsWith(`${known} `));
      if (hint) this.#tools.onHint(hint, noticeIn(payload.slice(hint.length + 1)));
    });
    client.once('end', () => this.#reconnectLater(client));
    return true;
  }

  #hearsOthers(client: pg.Client): Promise<boolean> {
    const word = `test ${this.#tools.random.hex(8)}`;
    return new Promise((resolve, reject) => {
      const finish = (isHeard: boolean) => {
        cancel();
        client.off('notification', onNotification);
        resolve(isHeard);
      };
      const cancel = this.#tools.clock.after(SELF_TEST_MS, () => finish(false));
      const onNotification = ({ payload }: pg.Notification) => {
        if (payload === word) finish(true);
      };
      client.on('notification', onNotification);
      this.#tools.notify(word).catch((error) => {
        cancel();
        reject(error);
      });
    });
  }

  #reconnectLater(lost: pg.Client | undefined): void {
    if (this.#isStopped || this.#client !== lost) return;
    this.#client = undefined;
    const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#cancelRetry = this.#tools.clock.after(
      jittered(delayMs, this.#tools.random.fraction()),
      () => this.#reconnect(),
      { idle: true },
    );
  }

  #reconnect(): void {
    this.#connect().then(
      (isHeard) => {
        if (!isHeard) return this.#reconnectLater(undefined);
        for (const hint of HINTS) this.#tools.onHint(hint);
      },
      () => this.#reconnectLater(undefined),
    );
  }
}

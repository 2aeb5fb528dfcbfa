/**
 * Connections to Postgres, each call with a deadline of its own. A call that is not answered in time
 * destroys its connection: nobody knows what the server is still doing with it. The server is told a
 * shorter limit, so that it stops before we stop listening. Statements are sent without a name, so
 * that a pooler may give every one of them another connection.
 */
import pg from 'pg';
import { type Clock, pause, type Random } from '../../ground/index.ts';
import { StoreBusyError, StoreOptionsError, StoreUnreachableError } from '../errors.ts';
import { connectionOf } from './connection.ts';
import { meaningOf } from './driver-errors.ts';
import { Hosts } from './hosts.ts';
import { KeptPlans, nameOf } from './kept-statements.ts';
import { Lending } from './lending.ts';
import { type PostgresWay, SERVER_SHARE } from './options.ts';
import { byIndexes, openingOf, sql } from './sql.ts';
import { NO_TIMELINE, readTimeline, withoutTimeline } from './timeline.ts';
import { type Limits, type Row, type Send, within } from './within.ts';

export type { Row, Send } from './within.ts';

/** 40001, 40P01 and the like are tried so often before the caller hears of them. */
const BUSY_ATTEMPTS = 5;
const BUSY_WAIT_MS = 10;
const IDLE_MS = 30_000;
/** Of its connections a pod lends to authors all but this share. */
const KEPT_SHARE = 0.25;
/** A call that waited for its connection has less left than this many limits of the server. */
const SERVER_MARGIN = 1.1;

/** A connection that is lent. It is given back once. */
export interface Lent {
  readonly client: pg.PoolClient;
  readonly release: (isToDestroy: boolean) => void;
}

export class Pool {
  readonly way: PostgresWay;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Undefined where there is one address only. */
  readonly hosts: Hosts | undefined;
  #pool: pg.Pool;
  readonly #lending: Lending;
  readonly #plans: KeptPlans;
  #timeline: number | undefined;
  /** Whether the server shows its timeline to this role. */
  #hasTimeline = true;
  /** What the server allows this role is asked once; undefined before, and after a server broke off. */
  #checked: Promise<void> | undefined;

  constructor(way: PostgresWay, clock: Clock, random: Random) {
    this.way = way;
    this.#clock = clock;
    this.#random = random;
    const config = connectionOf(way, way.url);
    this.hosts = way.urls.length > 1 ? new Hosts(way.urls, config, clock) : undefined;
    this.#lending = new Lending(lentMaxOf(way), way.deadlineMs, clock);
    this.#plans = new KeptPlans(clock);
    this.#pool = this.#open();
  }

  #open(): pg.Pool {
    const pool = new pg.Pool({
      ...connectionOf(this.way, this.way.url, this.hosts),
      max: this.way.connectionCountMax,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // A connection that breaks while nobody uses it is replaced by the next call.
    pool.on('error', ignore);
    // From its first moment on: a server that dies may say so together with its greeting, and what
    // nobody listens to would end the process.
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  }

  /**
   * Connections that were made before another server took over may lead to the one that has lost its
   * place, and does not know it: none of them is used again.
   */
  async follow(timeline: string): Promise<void> {
    const now = Number.parseInt(timeline, 16);
    const before = this.#timeline;
    // The right was granted or revoked since, and the heartbeats have found out first.
    if (now > 0 !== this.#hasTimeline) this.#checked = undefined;
    if (!(now > (before ?? 0))) return;
    this.#timeline = now;
    if (before === undefined) return;
    this.hosts?.follow(now);
    const old = this.#pool;
    this.#pool = this.#open();
    old.end().catch(ignore);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  /** One statement, tried again where a rival was in its way. */
  query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#query(text, values, false);
  }

  /**
   * The same for one that is sent all the time: a connection of our own keeps it parsed, and planned where
   * one plan does for all values. A pooler may give each statement another connection.
   */
  often(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#query(text, values, !this.way.isPooled);
  }

  #query(text: string, values: readonly unknown[], isKept: boolean): Promise<Row[]> {
    return this.#persistently(() =>
      this.#use((send, leftMs) => {
        const serverMs = this.#serverMsOf(leftMs);
        const worded = this.worded(text);
        const name = isKept ? nameOf(worded) : undefined;
        const act = (sendOne: Send) => sendOne(worded, values, name);
        return serverMs < this.way.serverMs ? within(send, { serverMs }, act) : act(send);
      }, this.way.deadlineMs),
    );
  }

  /** A statement in words that this server allows. */
  worded(text: string): string {
    return this.#hasTimeline ? text : withoutTimeline(text);
  }

  /**
   * A connection for a transaction that an author takes part in. It counts among those of this pool,
   * which keeps some back for the calls of the pod: an author who takes time delays none of them.
   */
  async lend(): Promise<Lent> {
    const giveBack = await this.#lending.take();
    try {
      await this.#check();
      const client = await this.#pool.connect().catch((error) => this.#fail(error));
      const release = (isToDestroy: boolean) => {
        client.release(isToDestroy);
        giveBack();
      };
      return { client, release };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** Several statements as one; `act` may be called again, from its beginning. */
  transaction<Answer>(
    act: (send: Send) => Promise<Answer>,
    limits: Limits & { readonly deadlineMs: number } = this.way,
  ): Promise<Answer> {
    return this.#persistently(() =>
      this.#use(
        (send) =>
          within(send, limits, (one) => act((text, values) => one(this.worded(text), values))),
        limits.deadlineMs,
      ),
    );
  }

  /** One statement, planned by indexes alone, whatever is believed of the table. */
  byIndexes(text: string, values: readonly unknown[]): Promise<Row[]> {
    const { serverMs, deadlineMs } = this.way;
    const limits = { serverMs, deadlineMs, opening: openingOf(serverMs, byIndexes) };
    return this.transaction((send) => send(text, values), limits);
  }

  async #persistently<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    await this.#check();
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof StoreBusyError) || attempts >= BUSY_ATTEMPTS) throw error;
        await pause(this.#clock, BUSY_WAIT_MS * 2 ** attempts * this.#random.fraction());
      }
    }
  }

  /** Gives `act` a connection until the deadline, and takes it away from it then. */
  #use<Answer>(
    act: (send: Send, leftMs: number) => Promise<Answer>,
    deadlineMs: number,
  ): Promise<Answer> {
    const askedMs = this.#clock.monotonicMs();
    return new Promise((resolve, reject) => {
      let client: pg.PoolClient | undefined;
      let isOver = false;
      const finish = (isToDestroy: boolean, settle: () => void) => {
        if (isOver) return;
        isOver = true;
        cancel();
        client?.release(isToDestroy);
        settle();
      };
      const cancel = this.#clock.after(deadlineMs, () => {
        const message = `Postgres did not answer within ${deadlineMs} ms`;
        finish(true, () => reject(new StoreUnreachableError(message)));
      });
      const perform = async () => {
        const connected = await this.#pool.connect().catch((error) => this.#fail(error));
        // Too late: it goes back unused, for nothing was sent on it.
        if (isOver) return connected.release();
        client = connected;
        const send: Send = async (text, values = [], name) => {
          if (name !== undefined)
            await this.#plans.renew(connected).catch((error) => this.#fail(error));
          const { rows } = await connected
            .query<Row>({ text, values: [...values], ...(name ? { name } : {}) })
            .catch((error) => this.#fail(error));
          return rows;
        };
        const answer = await act(send, deadlineMs - (this.#clock.monotonicMs() - askedMs));
        finish(false, () => resolve(answer));
      };
      perform().catch((error) => finish(isBroken(error), () => reject(error)));
    });
  }

  #fail(error: unknown): never {
    const meaning = meaningOf(error);
    if (isBroken(meaning)) {
      this.hosts?.forget();
      // The next server may be a standby that was promoted since, or allow less.
      this.#checked = undefined;
    }
    throw meaning;
  }

  /** The limit that each connection sets; less where the call has waited long for its connection. */
  #serverMsOf(leftMs: number): number {
    const { serverMs } = this.way;
    return leftMs > serverMs * SERVER_MARGIN
      ? serverMs
      : Math.max(1, Math.floor(leftMs * SERVER_SHARE));
  }

  #check(): Promise<void> {
    this.#checked ??= this.#ask();
    const checked = this.#checked;
    checked.catch(() => {
      if (this.#checked === checked) this.#checked = undefined;
    });
    return checked;
  }

  async #ask(): Promise<void> {
    await this.#checkRole();
    const timeline = await this.#use((send) => readTimeline(send), this.way.deadlineMs);
    this.#hasTimeline = timeline !== NO_TIMELINE;
  }

  /** Behind a pooler nothing can be set for a connection; so the role must have been given it. */
  async #checkRole(): Promise<void> {
    if (!this.way.isPooled || this.way.toleratesLate) return;
    const [row] = await this.#use(
      (send) =>
        send(sql`
          select (select setting from pg_settings where name = 'statement_timeout') as ms,
                 current_setting('statement_timeout') as limit,
                 current_setting('transaction_isolation') as isolation, current_user as role`),
      this.way.deadlineMs,
    );
    const limitMs = Number(row?.['ms']);
    if (limitMs > 0 && limitMs < this.way.deadlineMs && row?.['isolation'] === 'read committed')
      return;
    throw new StoreOptionsError(
      `the role ${String(row?.['role'])} has statement_timeout ${String(row?.['limit'])} and isolation ` +
        `'${String(row?.['isolation'])}'; behind a pooler both must be set for the role`,
      {
        hint:
          `alter role … set statement_timeout = '${this.way.serverMs}ms'; ` +
          `alter role … set default_transaction_isolation = 'read committed'`,
      },
    );
  }
}

/** A quarter, and at least one, is the pod's alone, unless there is only one. */
function lentMaxOf({ connectionCountMax: count }: PostgresWay): number {
  return Math.max(1, count - Math.ceil(count * KEPT_SHARE));
}

/** Whether a connection is of no use after this: the server or the way to it is in doubt. */
function isBroken(error: unknown): boolean {
  return error instanceof StoreUnreachableError;
}

/** A connection that breaks between two statements says so again when the next one is sent. */
function ignore(): void {}

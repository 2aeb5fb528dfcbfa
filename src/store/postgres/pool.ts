/**
 * Connections to Postgres, each call with a deadline of its own. A call that is not answered in time
 * destroys its connection: nobody knows what the server is still doing with it. The server is told a
 * shorter limit, so that it stops before we stop listening. Statements are sent without a name, so
 * that a pooler may give every one of them another connection.
 */
import pg from 'pg';
import { type Clock, pause, type Random } from '../../ground/index.ts';
import { StoreBusyError, StoreOptionsError, StoreUnreachableError } from '../errors.ts';
import { meaningOf } from './driver-errors.ts';
import { Hosts, locating } from './hosts.ts';
import type { PostgresWay } from './options.ts';
import { sql } from './sql.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Sends one statement, and answers its rows. */
export type Send = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** 40001, 40P01 and the like are tried so often before the caller hears of them. */
const BUSY_ATTEMPTS = 5;
const BUSY_WAIT_MS = 10;
const IDLE_MS = 30_000;

export class Pool {
  readonly way: PostgresWay;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Undefined where there is one address only. */
  readonly hosts: Hosts | undefined;
  #pool: pg.Pool;
  #timeline: number | undefined;
  /** Counts up whenever connections to another server are wanted. */
  age = 0;
  /** A role's own limit is looked at once; undefined while nobody has. */
  #checked: Promise<void> | undefined;

  constructor(way: PostgresWay, clock: Clock, random: Random) {
    this.way = way;
    this.#clock = clock;
    this.#random = random;
    const config = connectionOf(way, way.url);
    this.hosts = way.urls.length > 1 ? new Hosts(way.urls, config, clock) : undefined;
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
    if (!(now > (before ?? 0))) return;
    this.#timeline = now;
    if (before === undefined) return;
    this.hosts?.follow(now);
    const old = this.#pool;
    this.#pool = this.#open();
    this.age += 1;
    old.end().catch(ignore);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  /** One statement, tried again where a rival was in its way. */
  query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#persistently(() => this.#use((send) => send(text, values), this.way.deadlineMs));
  }

  /** Several statements as one; `act` may be called again, from its beginning. */
  transaction<Answer>(
    act: (send: Send) => Promise<Answer>,
    limits: {
      readonly deadlineMs: number;
      readonly serverMs: number;
      /** Begins it, and says to the server what it has to know, in one message. */
      readonly opening?: string;
    } = this.way,
  ): Promise<Answer> {
    return this.#persistently(() =>
      this.#use(async (send) => {
        await send(limits.opening ?? sql`begin isolation level read committed`);
        try {
          if (limits.opening === undefined) {
            await send(
              sql`select set_config('statement_timeout', $1, true),
                         set_config('idle_in_transaction_session_timeout', $1, true)`,
              [`${limits.serverMs}ms`],
            );
          }
          const answer = await act(send);
          await send(sql`commit`);
          return answer;
        } catch (error) {
          if (!isBroken(error)) await send(sql`rollback`);
          throw error;
        }
      }, limits.deadlineMs),
    );
  }

  async #persistently<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    this.#checked ??= this.#checkRole();
    await this.#checked;
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
  #use<Answer>(act: (send: Send) => Promise<Answer>, deadlineMs: number): Promise<Answer> {
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
        const send: Send = async (text, values = []) => {
          const { rows } = await connected
            .query<Row>(text, [...values])
            .catch((error) => this.#fail(error));
          return rows;
        };
        const answer = await act(send);
        finish(false, () => resolve(answer));
      };
      perform().catch((error) => finish(isBroken(error), () => reject(error)));
    });
  }

  #fail(error: unknown): never {
    const meaning = meaningOf(error);
    if (isBroken(meaning)) this.hosts?.forget();
    throw meaning;
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
    ).catch((error) => {
      this.#checked = undefined;
      throw error;
    });
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

/** How a connection introduces itself. A pooler would refuse, or mix up, what it does not know. */
export function connectionOf(way: PostgresWay, url: string, hosts?: Hosts): pg.PoolConfig {
  const settings = [
    `-c statement_timeout=${way.serverMs}`,
    '-c default_transaction_isolation=read\\ committed',
    ...(way.schema === undefined ? [] : [`-c search_path=${way.schema}`]),
  ];
  return {
    connectionString: url,
    connectionTimeoutMillis: way.deadlineMs,
    keepAlive: true,
    application_name: way.applicationName,
    ...(way.isPooled ? {} : { options: settings.join(' ') }),
    ...(hosts ? { Client: locating(hosts) } : {}),
    types: { getTypeParser: parserOf } as pg.CustomTypesConfig,
  };
}

const INT8 = 20;

/** Counts and epochs stay far below 2^53, so they are numbers. */
function parserOf(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (type === INT8) return Number;
  return pg.types.getTypeParser(type, format as 'text');
}

/** Whether a connection is of no use after this: the server or the way to it is in doubt. */
function isBroken(error: unknown): boolean {
  return error instanceof StoreUnreachableError;
}

/** A connection that breaks between two statements says so again when the next one is sent. */
function ignore(): void {}

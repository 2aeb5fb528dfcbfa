/**
 * One session of the account: its parameters, its transaction, its connection to Postgres. Its
 * statements run one after another; what it has written it sees at once.
 */
import type pg from 'pg';
import type { Bindings, Rows } from './binds.ts';
import { SnowflakeError } from './errors.ts';
import { connectTo, type House } from './house.ts';

export interface Transaction {
  /** Tables it has changed: told to the watchers when it commits. */
  readonly wrote: Set<string>;
  lastUsedMs: number;
}

/** A statement as it came. */
export interface Asked {
  readonly sql: string;
  readonly bindings: Bindings;
  readonly queryId: string;
}

export interface Outcome {
  readonly rows: Rows;
  readonly typeId: number;
}

const DEFAULTS: Readonly<Record<string, string>> = {
  TIMEZONE: 'America/Los_Angeles',
  LOCK_TIMEOUT: '43200',
  HYBRID_TABLE_LOCK_TIMEOUT: '3600',
  READ_LATEST_WRITES: 'FALSE',
  TRANSACTION_ABORT_ON_ERROR: 'FALSE',
  ABORT_DETACHED_QUERY: 'FALSE',
  STATEMENT_TIMEOUT_IN_SECONDS: '172800',
  STATEMENT_QUEUED_TIMEOUT_IN_SECONDS: '0',
  ERROR_ON_NONDETERMINISTIC_UPDATE: 'FALSE',
  ERROR_ON_NONDETERMINISTIC_MERGE: 'TRUE',
  AUTOCOMMIT: 'TRUE',
  QUERY_TAG: '',
  USE_CACHED_RESULT: 'TRUE',
  MULTI_STATEMENT_COUNT: '1',
  JSON_INDENT: '2',
  ROWS_PER_RESULTSET: '0',
  TIMESTAMP_TYPE_MAPPING: 'TIMESTAMP_NTZ',
  CLIENT_SESSION_KEEP_ALIVE: 'FALSE',
  CLIENT_SESSION_KEEP_ALIVE_HEARTBEAT_FREQUENCY: '3600',
};

export class Session {
  readonly id: number;
  readonly user: string;
  readonly house: House;
  token: string;
  masterToken: string;
  database: string;
  /** As Postgres spells it. */
  schema = 'public';
  warehouse: string;
  role: string;
  transaction: Transaction | undefined;
  /** When it last changed a row, by this process's clock. */
  wroteAtMs = Number.NEGATIVE_INFINITY;
  /** Ids of its latest requests, oldest first. */
  readonly requests: string[] = [];
  readonly #parameters = new Map<string, string>();
  #client: Promise<pg.Client> | undefined;
  #applied = '';
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(
    house: House,
    given: Pick<
      Session,
      'id' | 'user' | 'token' | 'masterToken' | 'database' | 'warehouse' | 'role'
    >,
  ) {
    this.house = house;
    this.id = given.id;
    this.user = given.user;
    this.token = given.token;
    this.masterToken = given.masterToken;
    this.database = given.database;
    this.warehouse = given.warehouse;
    this.role = given.role;
  }

  parameter(name: string): string {
    return this.#parameters.get(name) ?? DEFAULTS[name] ?? '';
  }

  isOn(name: string): boolean {
    return this.parameter(name).toUpperCase() === 'TRUE';
  }

  set(name: string, value: string | undefined): void {
    if (!Object.hasOwn(DEFAULTS, name)) throw SnowflakeError.invalid(`invalid parameter '${name}'`);
    if (value === undefined) this.#parameters.delete(name);
    else this.#parameters.set(name, value);
  }

  get parameters(): readonly (readonly [name: string, value: string, standard: string])[] {
    return Object.entries(DEFAULTS).map(([name, usual]) => [name, this.parameter(name), usual]);
  }

  /** One at a time. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    const next = this.#tail.then(run, run);
    this.#tail = next.catch(() => undefined);
    return next;
  }

  async #connected(): Promise<pg.Client> {
    // What stood in line when its session ended does not run for nobody.
    if (this.#isClosed) throw new SnowflakeError('000604', '57014', 'SQL execution canceled');
    this.#client ??= (async () => {
      const client = connectTo(this.house.url);
      await client.connect();
      return client;
    })();
    return this.#client;
  }

  get backend(): Promise<number | undefined> {
    return Promise.resolve(this.#client).then(
      (client) => (client as unknown as { processID?: number } | undefined)?.processID,
    );
  }

  /** Runs texts of Postgres in one go; answers what the last one did. */
  async query(text: string): Promise<pg.QueryResult> {
    const client = await this.#connected();
    await this.#apply(client);
    const result = (await client.query({ text, rowMode: 'array' })) as unknown;
    return Array.isArray(result) ? (result.at(-1) as pg.QueryResult) : (result as pg.QueryResult);
  }

  /** The parameters that mean something to Postgres; only those that have changed. */
  async #apply(client: pg.Client): Promise<void> {
    const lockMs = Number(this.parameter('HYBRID_TABLE_LOCK_TIMEOUT')) * 1000;
    const statementMs = Number(this.parameter('STATEMENT_TIMEOUT_IN_SECONDS')) * 1000;
    const settings = [
      `set search_path = ${this.schema}`,
      `set lock_timeout = ${Math.max(1, lockMs)}`,
      `set statement_timeout = ${Math.max(1, statementMs)}`,
      `set snow.shift_ms = '${this.house.shiftMs}'`,
      "set timezone = 'UTC'",
      'set deadlock_timeout = 200',
    ].join('; ');
    if (settings === this.#applied) return;
    await client.query(settings);
    this.#applied = settings;
  }

  async begin(): Promise<void> {
    if (this.transaction !== undefined) return;
    await this.query('begin');
    this.transaction = { wrote: new Set(), lastUsedMs: performance.now() };
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    const { transaction } = this;
    if (transaction === undefined) return;
    this.transaction = undefined;
    try {
      await (await this.#connected()).query(how);
    } finally {
      // What was set inside is gone with it.
      if (how === 'rollback') this.unsettle();
      if (how === 'commit') this.wrote(transaction.wrote);
      this.house.locks.release(transaction);
    }
  }

  /** Committed: watchers may know. */
  wrote(places: Iterable<string>): void {
    for (const place of places) {
      this.wroteAtMs = performance.now();
      this.house.changed(place);
    }
  }

  async close(): Promise<void> {
    if (this.transaction !== undefined) this.house.locks.leave(this.transaction);
    await this.end('rollback').catch(() => undefined);
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => undefined);
    this.#client = undefined;
  }

  /** A transaction in which parameters may have been set was rolled back. */
  unsettle(): void {
    this.#applied = '';
  }
}

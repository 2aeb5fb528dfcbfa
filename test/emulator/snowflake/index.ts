/** Starts an emulated Snowflake account on a real Postgres; README.md says what it is and is not. */
import { runOn, type TestPostgres } from '../../support/postgres.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { Chaos, type ChaosOptions } from './chaos.ts';
import type { TableKind } from './columns.ts';
import { MAKE_FUNCTIONS } from './functions.sql.ts';
import { House } from './house.ts';
import { type Account, Logins } from './logins.ts';
import type { Meter } from './meter.ts';
import { SnowflakeServer } from './server.ts';

export type { ChaosOptions, Drop } from './chaos.ts';
export type { TableKind } from './columns.ts';

export interface SnowflakeOptions {
  /** `standard`: an account without hybrid tables, as trials are: 391404. */
  readonly kind?: TableKind;
  readonly chaos?: ChaosOptions;
  /** Statements that may wait for one table; 50 in newer accounts. */
  readonly waitersMax?: number;
  /** A server that runs already; otherwise one is started, and stopped in the end. */
  readonly postgres?: TestPostgres;
  readonly account?: Partial<Account>;
}

export interface EmulatedSnowflake {
  /** For createConnection of snowflake-sdk. */
  readonly options: {
    readonly account: string;
    readonly username: string;
    readonly password: string;
    readonly accessUrl: string;
    readonly database: string;
    readonly schema: string;
    readonly warehouse: string;
    readonly role: string;
  };
  readonly chaos: Chaos;
  /** What was asked so far. */
  readonly statements: Meter;
  /** The server behind it; others may share it. */
  readonly postgres: TestPostgres;
  /** The Postgres behind it, for looking at tables past the emulator; names are in lower case. */
  readonly url: string;
  /** The account's clock goes on by so much at once. */
  advance(ms: number): void;
  /** Whoever reads late reads nothing that is older than this. */
  forgetOldReads(): Promise<void>;
  /** Every session's token is too old (390112): the driver renews it. */
  expireTokens(): void;
  /** Tokens and master tokens: a new login is needed (390114). */
  expireMasters(): void;
  /** The account forgets all sessions (390111); their transactions are rolled back. */
  endSessions(): Promise<void>;
  /** Rolls back every transaction that is doing nothing, as if 5 minutes had gone by. */
  rollBackIdle(): Promise<void>;
  /** How many statements wait for the lock of a standard table. */
  waitersOf(table: string): number;
  stop(): Promise<void>;
}

/** Each session has a connection of its own, and so may a pod have several. */
const IDLE_TRANSACTION_MS = 300_000;

export async function startSnowflake(given: SnowflakeOptions = {}): Promise<EmulatedSnowflake> {
  const postgres = given.postgres ?? (await sharedPostgres());
  const url = await postgres.createDatabase();
  await runOn(url, MAKE_FUNCTIONS);
  const house = new House(url, new Chaos(given.chaos));
  house.hybridAllowed = given.kind !== 'standard';
  house.locks.waitersMax = given.waitersMax ?? house.locks.waitersMax;
  const account = { user: 'FLEETQ', password: 'emulated', ...given.account };
  const logins = new Logins(house, account);
  const server = new SnowflakeServer(house, logins);
  const port = await server.listen();
  const reaper = setInterval(() => logins.reap(IDLE_TRANSACTION_MS), 1000).unref();
  return {
    options: {
      ...{ account: 'emulator', username: account.user, password: account.password },
      ...{ database: 'FLEETQ', schema: 'PUBLIC', warehouse: 'EMULATED', role: 'FLEETQ_ROLE' },
      accessUrl: `http://127.0.0.1:${port}`,
    },
    chaos: house.chaos,
    statements: house.meter,
    postgres,
    url,
    advance: (ms) => {
      house.shiftMs += ms;
    },
    forgetOldReads: () => house.snapshots.forget(),
    expireTokens: () => logins.expireAll(),
    expireMasters: () => logins.expireMasters(),
    endSessions: () => logins.end(logins.all),
    rollBackIdle: () => logins.reap(0),
    waitersOf: (table) =>
      house.locks.waitersOf(
        table.includes('.') ? table.toLowerCase() : `public.${table.toLowerCase()}`,
      ),
    stop: async () => {
      clearInterval(reaper);
      await server.stop();
      await logins.end(logins.all);
      await house.snapshots.stop();
      if (given.postgres === undefined) await postgres.remove();
    },
  };
}

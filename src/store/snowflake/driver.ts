/**
 * Sessions by the driver of the account's maker. It is large and most programs never need it, so it is
 * an optional peer that is loaded when the first address of this kind comes. It writes no log file, asks
 * no cloud who it runs on, and answers rows, not streams.
 */
import type { Connection, ConnectionOptions } from 'snowflake-sdk';
import { StoreOptionsError } from '../errors.ts';
import type { Answer, Bind, OpenSession, Row, Session } from './executor.ts';
import { loginOf, refusedLogin } from './login.ts';
import type { SnowflakeWay } from './options.ts';

type Driver = typeof import('snowflake-sdk');

/** Shorter than our own deadline, so that the account gives up before nobody listens any more. */
const SERVER_SHARE = 0.8;

/** What holds for every statement of a session. Their defaults wait for hours. */
function parametersOf({ deadlineMs }: SnowflakeWay): string {
  const seconds = Math.max(1, Math.floor((deadlineMs * SERVER_SHARE) / 1_000));
  const lockSeconds = Math.max(1, Math.floor(seconds / 2));
  return (
    `alter session set timezone = 'UTC', lock_timeout = ${lockSeconds}, ` +
    `hybrid_table_lock_timeout = ${lockSeconds}, read_latest_writes = true, ` +
    'transaction_abort_on_error = true, abort_detached_query = true, ' +
    `statement_timeout_in_seconds = ${seconds}, error_on_nondeterministic_update = true, ` +
    'error_on_nondeterministic_merge = true'
  );
}

export async function openerOf(way: SnowflakeWay): Promise<OpenSession> {
  const driver = await loadDriver();
  return async () => {
    const connection = driver.createConnection(optionsOf(way));
    await connected(connection).catch((error) => {
      throw refusedLogin(error, way.auth);
    });
    const session = new DriverSession(connection);
    try {
      await session.execute(parametersOf(way), []);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  };
}

async function loadDriver(): Promise<Driver> {
  // Otherwise it asks the network what kind of machine this is, before anything else.
  process.env['SNOWFLAKE_DISABLE_PLATFORM_DETECTION'] ??= 'true';
  process.env['SF_TELEMETRY_DISABLE_CONNECTION_SHAPE'] ??= '1';
  process.env['SNOWFLAKE_DISABLE_MINICORE'] ??= '1';
  let loaded: { readonly default: Driver };
  try {
    loaded = (await import('snowflake-sdk')) as unknown as { readonly default: Driver };
  } catch (cause) {
    throw new StoreOptionsError('a store in Snowflake needs the package snowflake-sdk', {
      cause,
      hint: 'run: npm install snowflake-sdk',
    });
  }
  const driver = loaded.default;
  driver.configure({ logLevel: 'OFF' });
  return driver;
}

function optionsOf(way: SnowflakeWay): ConnectionOptions {
  const { account, user, database, schema, warehouse, role, accessUrl, deadlineMs } = way;
  return {
    account,
    username: user,
    database,
    schema,
    timeout: deadlineMs,
    application: 'fleetq',
    // A session that only waits is kept by calls that need no warehouse.
    clientSessionKeepAlive: true,
    sfRetryMaxLoginRetries: 1,
    ...(warehouse === undefined ? {} : { warehouse }),
    ...(role === undefined ? {} : { role }),
    ...(accessUrl === undefined ? {} : { accessUrl }),
    ...loginOf(way.auth),
  };
}

function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
}

class DriverSession implements Session {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  execute(text: string, binds: readonly Bind[], requestId?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#connection.execute({
        sqlText: text,
        binds: [...binds] as string[],
        ...(requestId === undefined ? {} : { requestId }),
        complete: (error, statement, rows) => {
          if (error) reject(error);
          else
            resolve({ rows: (rows ?? []).map(lowered), count: statement.getNumUpdatedRows() ?? 0 });
        },
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#connection.destroy(() => resolve());
    });
  }
}

function lowered(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

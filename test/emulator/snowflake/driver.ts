/** The real driver, as promises, for tests of the emulator. */
import type { Connection, SnowflakeError } from 'snowflake-sdk';

process.env['SNOWFLAKE_DISABLE_PLATFORM_DETECTION'] ??= 'true';
process.env['SF_TELEMETRY_DISABLE_CONNECTION_SHAPE'] ??= '1';
process.env['SNOWFLAKE_DISABLE_MINICORE'] ??= '1';

export interface Answered {
  readonly rows: readonly Record<string, unknown>[];
  readonly count: number;
}

export interface Refused {
  readonly code: string;
  readonly sqlState: string | undefined;
  readonly message: string;
}

export interface Client {
  run(sql: string, binds?: readonly unknown[]): Promise<Answered>;
  /** What it is refused with; fails if it is not. */
  refusalOf(sql: string, binds?: readonly unknown[]): Promise<Refused>;
  readonly connection: Connection;
  close(): Promise<void>;
}

type Driver = typeof import('snowflake-sdk');
let loading: Promise<Driver> | undefined;

async function load(): Promise<Driver> {
  const { default: driver } = (await import('snowflake-sdk')) as unknown as { default: Driver };
  driver.configure({ logLevel: 'OFF', useEnvProxy: false });
  return driver;
}

export async function connect(options: object): Promise<Client> {
  loading ??= load();
  const connection = (await loading).createConnection({
    ...{ timeout: 30_000, sfRetryMaxLoginRetries: 1 },
    ...(options as { account: string }),
  });
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  const run = (sqlText: string, binds: readonly unknown[] = []) =>
    new Promise<Answered>((resolve, reject) => {
      connection.execute({
        sqlText,
        binds: [...binds] as string[],
        complete: (error, statement, rows) => {
          if (error) reject(error);
          else resolve({ rows: rows ?? [], count: statement.getNumUpdatedRows() ?? 0 });
        },
      });
    });
  return {
    run,
    connection,
    refusalOf: async (sql, binds) => {
      const error = await run(sql, binds).then(
        () => undefined,
        (thrown: SnowflakeError) => thrown,
      );
      if (error === undefined) throw new Error(`it was not refused: ${sql}`);
      const { code, sqlState, message } = error as unknown as Refused;
      return { code: String(code), sqlState, message };
    },
    close: () =>
      new Promise((resolve) => {
        connection.destroy(() => resolve());
      }),
  };
}

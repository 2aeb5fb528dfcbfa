/**
 * What the conformance suite needs of a store in an emulated account: the real driver on this side, and
 * the tables themselves, past the emulator, on the other.
 */
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { type RunId, systemClock, systemRandom } from '../../src/ground/index.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import { AUDIT_LOG, cellsOf, STEP_TRACKER, type Table } from '../../src/store/snowflake/columns.ts';
import { openerOf } from '../../src/store/snowflake/driver.ts';
import type { OpenSession, Session } from '../../src/store/snowflake/executor.ts';
import type { TableKind } from '../../src/store/snowflake/migrate.ts';
import { openOver } from '../../src/store/snowflake/open.ts';
import { readSnowflakeWay } from '../../src/store/snowflake/options.ts';
import type { Store } from '../../src/store/store.ts';
import {
  type ChaosOptions,
  type EmulatedSnowflake,
  startSnowflake,
} from '../emulator/snowflake/index.ts';
import type { TestPostgres } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import type { PlainRow, StoreHarness, TableName } from './harness.ts';

export const PORTS = { clock: systemClock, random: systemRandom };
export const LIMITS = { deadlineMs: 60_000, countMax: 8 };
const NAMES = ['step_tracker', 'pod_health', 'run_events', 'audit_log', 'fleet_fact', 'doorbell'];

export function addressOf({ options }: EmulatedSnowflake): string {
  const { account, username, password, database, schema, warehouse, role, accessUrl } = options;
  const words = new URLSearchParams({ warehouse, role, access: accessUrl });
  return `snowflake://${username}:${password}@${account}/${database}/${schema}?${words}`;
}

export interface SnowflakeScene {
  readonly account: EmulatedSnowflake;
  /** A connection to the Postgres behind it. */
  readonly client: pg.Client;
  open(): Promise<Store>;
}

/** Call once at the top of a test file: an account with the newest tables. */
export function useSnowflake(kind: TableKind): SnowflakeScene {
  let postgres: TestPostgres | undefined;
  const sessions = new SharedSessions();
  const scene = {
    open: () => openOver(sessions.open, LIMITS, PORTS),
  } as unknown as { -readonly [Name in keyof SnowflakeScene]: SnowflakeScene[Name] };
  beforeAll(async () => {
    postgres = await sharedPostgres();
    scene.account = await startSnowflake({ kind, postgres });
    scene.client = new pg.Client(scene.account.url);
    await scene.client.connect();
    const way = readSnowflakeWay(addressOf(scene.account), { deadlineMs: 60_000 });
    sessions.opener = await openerOf(way);
    const store = await openOver(sessions.open, LIMITS, { ...PORTS, migrates: true });
    await store.close();
  });
  afterAll(async () => {
    await sessions.end();
    await scene.client?.end();
    await scene.account?.stop();
    await postgres?.remove();
  });
  return scene;
}

/**
 * A login costs more than most tests: whoever closes a session leaves it to the next. Not one that has
 * failed: what it is in the middle of is nobody else's.
 */
class SharedSessions {
  opener!: OpenSession;
  readonly #idle: Session[] = [];

  open: OpenSession = async () => {
    const session = this.#idle.pop() ?? (await this.opener());
    let isSound = true;
    return {
      execute: (text, binds) =>
        session.execute(text, binds).catch((error) => {
          isSound = false;
          throw error;
        }),
      close: async () => {
        if (isSound) this.#idle.push(session);
        else await session.close();
      },
    };
  };

  async end(): Promise<void> {
    await Promise.all(this.#idle.map((session) => session.close()));
  }
}

/** Every statement takes its time here; all of the suite is run where that is wanted. */
const isWhole = process.env['FLEETQ_TEST_SNOWFLAKE'] === 'whole';

/** What an account may do to every statement; none of it is to be felt but by how long it takes. */
const TROUBLE: Readonly<Record<TableKind, ChaosOptions>> = {
  hybrid: troubleOf({}),
  standard: troubleOf({ waiterStorm: { share: 0.05 } }),
};

function troubleOf(more: ChaosOptions): ChaosOptions {
  return {
    latencyMs: [0, 2],
    dropAnswers: { share: 0.003, how: 'reset' },
    expireTokens: { share: 0.02 },
    unauthorized: { share: 0.01 },
    staleReadsMs: 100,
    ...more,
  };
}

/** What is left in has every way of writing: of rows, of batches, of several tables, and by rivals. */
const LEFT_ALWAYS = [
  ...['bounds', 'versions', 'what was left', 'what people ask at random', 'what people ask'],
  ...['what people have seen', 'what people see', 'what live views see', 'what people do to many'],
  ...['what people change', 'retention and the hopeless', 'taking over', 'random sequences'],
  ...['the census', 'what is known of APIs', 'pods'],
];
const LEFT: Readonly<Record<TableKind, readonly string[]>> = {
  hybrid: LEFT_ALWAYS,
  standard: [
    ...[...LEFT_ALWAYS, 'history', 'schedules', 'what people do', 'the sweep'],
    ...['settling', 'claims'],
  ],
};

export function snowflakeHarness(
  scene: SnowflakeScene,
  kind: TableKind,
  hasTrouble = false,
): StoreHarness {
  let shiftMs = 0;
  const now = () => Date.now() + shiftMs;
  /** Past the account, as if that had been long ago: everybody sees it. */
  const insert = async (table: Table, record: object) => {
    await insertRow(scene.client, table.name, { ...cellsOf(table, record), rev: 'plain' });
    await scene.account.forgetOldReads();
  };
  return {
    poison: '\0',
    hasHints: false,
    sequenceCount: 5,
    crowdCount: 1,
    lacks: ['serial keys', 'queue limits', 'following'],
    ...(isWhole ? {} : { sharesRules: true, leaves: LEFT[kind] }),
    now,
    open: () => scene.open(),
    async reset() {
      const { account } = scene;
      account.chaos.calm();
      await scene.client.query(`truncate ${NAMES.map((name) => `public.${name}`).join(', ')}`);
      if (hasTrouble) Object.assign(account.chaos, TROUBLE[kind]);
      await account.forgetOldReads();
    },
    async pass(ms) {
      shiftMs += ms;
      scene.account.advance(ms);
    },
    async insertPlain(row) {
      const record = plainRecord(row, now());
      await insert(STEP_TRACKER, record);
      return record.taskId;
    },
    async insertAudit({ task_id: taskId, ...row }) {
      await insert(AUDIT_LOG, { ...row, taskId });
    },
    rows: (table) => rowsOf(scene.client, table),
    ...(hasTrouble && kind === 'standard' ? { seen: () => scene.account.forgetOldReads() } : {}),
  };
}

async function insertRow(
  client: pg.Client,
  table: string,
  cells: Record<string, unknown>,
): Promise<void> {
  const names = Object.keys(cells);
  await client.query(
    `insert into public.${table} (${names.join(', ')})
     values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(cells),
  );
}

/** By the rules of the tables in memory: there is no plain INSERT into an account. */
export function plainRecord(row: PlainRow, now: number) {
  const tables = new MemoryTables({ ...PORTS, clock: { ...systemClock, now: () => now } });
  const { runAfterMs, deadlineAfterMs, updatedAt, task_id, ...rest } = row;
  const camel = Object.entries(rest).map(([name, value]) => [
    name.replaceAll(/_[a-z]/g, (text) => text.slice(1).toUpperCase()),
    value,
  ]);
  return tables.insert({
    machine: row.machine,
    ...Object.fromEntries(camel),
    ...(task_id === undefined ? {} : { taskId: task_id as RunId }),
    ...(updatedAt === undefined ? {} : { lastUpdate: updatedAt }),
    ...(deadlineAfterMs === undefined ? {} : { deadlineAt: now + deadlineAfterMs }),
    ...(runAfterMs === undefined ? {} : { runAt: now + runAfterMs }),
  });
}

function rowsOf(client: pg.Client, table: TableName): Promise<Record<string, unknown>[]> {
  return shownRows(table, async (name) => {
    return (await client.query(`select * from public.${name}`)).rows;
  });
}

/** Under the names that other stores have. */
export async function shownRows(
  table: TableName,
  read: (name: string) => Promise<Record<string, unknown>[]>,
): Promise<Record<string, unknown>[]> {
  if (table === 'machine_registry') {
    const facts = await read('fleet_fact');
    return facts.filter(({ kind }) => kind === 'route').map(({ body }) => JSON.parse(`${body}`));
  }
  return (await read(table)).map(({ request_id, noted_at, task_key, ...row }) => ({
    ...row,
    ...(table === 'audit_log' ? { id: request_id, at: Number(noted_at) } : {}),
    ...(table === 'step_tracker' ? { key: task_key } : {}),
  }));
}

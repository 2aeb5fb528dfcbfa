/** The conformance suite on a real Postgres: tables are emptied, and time is moved by moving rows. */
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import type { FilledStoreOptions } from '../../src/store/options.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { migratedDatabase, sharedPostgres } from '../support/shared-postgres.ts';
import type { PlainRow, StoreHarness, TableName } from './harness.ts';

export const options: FilledStoreOptions = { clock: systemClock, random: systemRandom };

export interface PostgresScene {
  readonly server: TestPostgres;
  /** A database with the newest schema. */
  readonly url: string;
  /** A connection for what a test does by hand. */
  readonly client: pg.Client;
  /** The same anew, once the server has been away. */
  reconnect(): Promise<void>;
  /** One more of them; closed at the end. */
  connect(): Promise<pg.Client>;
  open(more?: Partial<FilledStoreOptions>): Promise<Store>;
}

/** These tests stop no kernel, which keeps what a killed server has written. */
const UNSYNCED = 'fsync=off';

/**
 * Call once at the top of a test file: a migrated database on the shared server, and connections to it.
 * With `own` settings it is a server of this file alone, which may be crashed.
 */
export function usePostgres({ own }: { own?: readonly string[] } = {}): PostgresScene {
  const opened: { close(): Promise<void> }[] = [];
  const scene = {
    connect: async () => {
      const client = new pg.Client(scene.url);
      client.on('error', () => {});
      await client.connect();
      opened.push({ close: () => client.end() });
      return client;
    },
    reconnect: async () => {
      scene.client = await scene.connect();
    },
    open: async (more: Partial<FilledStoreOptions> = {}) => {
      const store = await openPostgresStore(scene.url, { ...options, ...more });
      opened.push(store);
      return store;
    },
  } as { -readonly [Name in keyof PostgresScene]: PostgresScene[Name] };
  beforeAll(async () => {
    scene.server = own ? await startPostgres([UNSYNCED, ...own]) : await sharedPostgres();
    scene.url = await migratedDatabase(scene.server);
    scene.client = await scene.connect();
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await scene.server?.remove();
  });
  return scene;
}

const TIMES: Record<string, readonly string[]> = {
  pod_health: ['birth_timestamp', 'last_heartbeat', 'dead_at'],
  step_tracker: [
    ...['run_at', 'claimed_at', 'key_until', 'deadline_at', 'created_at', 'last_update'],
    ...['finished_at', 'discarded_at'],
  ],
  run_events: ['at'],
  machine_registry: ['first_seen'],
  audit_log: ['at'],
  leader_terms: ['since'],
  queue_limits: ['paused_at'],
  machine_pauses: ['paused_at'],
  bulk_operation: ['created_at', 'updated_at', 'ended_at'],
  schedule: ['next_at', 'last_at', 'last_run_at', 'created_at', 'updated_at'],
  throttle_state: ['made_at', 'pinned_until'],
};

const INSTANTS = {
  createdAt: 'created_at',
  updatedAt: 'last_update',
  finishedAt: 'finished_at',
  discardedAt: 'discarded_at',
} as const;

/**
 * Waits for whoever still writes, as `truncate` would, but makes no new files for every table and
 * index: between two of a thousand small tests that costs a hundredth.
 */
export async function emptyTables(client: pg.Client, tables: readonly string[]): Promise<void> {
  const lock = `lock table ${tables.join(', ')} in access exclusive mode`;
  await client.query([lock, ...tables.map((table) => `delete from ${table}`)].join('; '));
}

/** `address` and `more` say how the store is opened; the tables are looked at directly. */
export function postgresHarness(
  scene: PostgresScene,
  more: Partial<FilledStoreOptions> = {},
  address: () => string = () => scene.url,
): StoreHarness {
  return {
    open: () => openPostgresStore(address(), { ...options, ...more }),
    reset: () => emptyTables(scene.client, Object.keys(TIMES)),
    pass: async (ms) => {
      for (const [table, columns] of Object.entries(TIMES)) {
        const moved = columns.map((column) => `${column} = ${column} - interval '${ms} ms'`);
        await scene.client.query(`update ${table} set ${moved.join(', ')}`);
      }
    },
    now: () => Date.now(),
    insertPlain: (row) => insertPlain(scene.client, row),
    insertAudit: async ({ at, ...row }) => {
      const { id, who, what, task_id, detail } = row;
      await scene.client.query(
        'insert into audit_log (id, at, who, what, task_id, detail) values ($1, $2, $3, $4, $5, $6)',
        [id, new Date(at), who, what, task_id, detail],
      );
    },
    rows: async (table: TableName) => (await scene.client.query(`select * from ${table}`)).rows,
    poison: '\u0000',
    get hasHints() {
      return !address().includes('pooled=true');
    },
    sequenceCount: 10,
    crowdCount: 2,
    readsAlike: more.claimMode === 'cas',
    picksItsOwn: more.claimMode === 'cas',
  };
}

async function insertPlain(client: pg.Client, given: PlainRow): Promise<string> {
  const { runAfterMs, deadlineAfterMs, createdAt, updatedAt, finishedAt, discardedAt, ...row } =
    given;
  const instants = { createdAt, updatedAt, finishedAt, discardedAt };
  const names = Object.keys(row);
  const places = names.map((_, index) => `$${index + 1}`);
  for (const [name, column] of Object.entries(INSTANTS)) {
    const ms = instants[name as keyof typeof INSTANTS];
    if (ms === undefined) continue;
    names.push(column);
    places.push(`'${new Date(ms).toISOString()}'`);
  }
  if (runAfterMs !== undefined) {
    names.push('run_at');
    places.push(`now() + ${runAfterMs} * interval '1 ms'`);
  }
  if (deadlineAfterMs !== undefined) {
    names.push('deadline_at');
    places.push(`now() + ${deadlineAfterMs} * interval '1 ms'`);
  }
  const text = `insert into step_tracker (${names.join(', ')}) values (${places.join(', ')})
    returning task_id`;
  const { rows } = await client.query<{ task_id: string }>(text, Object.values(row));
  return rows[0]!.task_id;
}

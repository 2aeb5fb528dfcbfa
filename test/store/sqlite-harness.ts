/** What the conformance suite, and the tests beside it, need of a store in a SQLite file. */

import Database from 'better-sqlite3';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { PlainRow, StoreHarness } from './harness.ts';

export const PORTS = { clock: systemClock, random: systemRandom };

const TABLES = [
  ...(['run_events', 'step_tracker', 'pod_health', 'machine_registry'] as const),
  ...(['audit_log', 'leader_terms', 'bulk_operation', 'schedule'] as const),
  ...(['queue_limits', 'machine_pauses', 'throttle_state'] as const),
];

/** Every column that holds a time: what passes is taken from all of them. */
const TIMES: Readonly<Record<(typeof TABLES)[number], readonly string[]>> = {
  run_events: ['at'],
  step_tracker: [
    'run_at',
    'claimed_at',
    'key_until',
    'deadline_at',
    'created_at',
    'last_update',
    'finished_at',
    'discarded_at',
  ],
  pod_health: ['birth_timestamp', 'last_heartbeat', 'dead_at'],
  machine_registry: ['first_seen'],
  audit_log: ['at'],
  leader_terms: ['since'],
  queue_limits: ['paused_at'],
  machine_pauses: ['paused_at'],
  bulk_operation: ['created_at', 'updated_at', 'ended_at'],
  schedule: ['next_at', 'last_at', 'last_run_at', 'created_at', 'updated_at'],
  throttle_state: ['made_at', 'pinned_until'],
};

/** A person at a prompt. */
export function prompt<T>(file: string, act: (database: Database.Database) => T): T {
  const database = new Database(file, { timeout: 5_000 });
  try {
    return act(database);
  } finally {
    database.close();
  }
}

export function openMigrated(file: string): Promise<Store> {
  return openSqliteStore(file, { ...PORTS, migrates: true });
}

export function sqliteHarness(file: string): StoreHarness {
  return {
    poison: '\0',
    hasHints: true,
    crowdCount: 10,
    now: () => Date.now(),
    open: () => openSqliteStore(file, PORTS),
    async reset() {
      const store = await openMigrated(file);
      await store.close();
      prompt(file, (database) => {
        const clear = TABLES.map((table) => `delete from ${table}`).join('; ');
        database.exec(`begin immediate; ${clear}; commit`);
      });
    },
    async pass(ms) {
      prompt(file, (database) => {
        const shift = TABLES.map((table) => {
          const columns = TIMES[table].map((column) => `${column} = ${column} - ${ms}`);
          return `update ${table} set ${columns.join(', ')}`;
        });
        database.exec(`begin immediate; ${shift.join('; ')}; commit`);
      });
    },
    async insertAudit({ task_id = null, detail = null, ...row }) {
      prompt(file, (database) => {
        const insert = `insert into audit_log (id, at, who, what, task_id, detail)
          values (@id, @at, @who, @what, @task_id, @detail)`;
        database.prepare(insert).run({ ...row, task_id, detail });
      });
    },
    insertPlain: async (row) => prompt(file, (database) => insertPlain(database, row)),
    rows: async (table) =>
      prompt(file, (database) => database.prepare(`select * from ${table}`).all() as never),
  };
}

function insertPlain(database: Database.Database, row: PlainRow): string {
  const { runAfterMs, deadlineAfterMs, paused, ...rest } = row;
  const { createdAt, updatedAt, finishedAt, discardedAt, ...columns } = rest;
  const values: Record<string, unknown> = {
    ...columns,
    ...(createdAt === undefined ? {} : { created_at: createdAt }),
    ...(updatedAt === undefined ? {} : { last_update: updatedAt }),
    ...(finishedAt === undefined ? {} : { finished_at: finishedAt }),
    ...(discardedAt === undefined ? {} : { discarded_at: discardedAt }),
    ...(paused === undefined ? {} : { paused: paused ? 1 : 0 }),
    ...(runAfterMs === undefined ? {} : { run_at: Date.now() + runAfterMs }),
    ...(deadlineAfterMs === undefined ? {} : { deadline_at: Date.now() + deadlineAfterMs }),
  };
  const names = Object.keys(values);
  const insert = `insert into step_tracker (${names.join(', ')})
    values (${names.map((name) => `@${name}`).join(', ')}) returning task_id`;
  return (database.prepare(insert).get(values) as { task_id: string }).task_id;
}

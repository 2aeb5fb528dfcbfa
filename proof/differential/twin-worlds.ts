/**
 * Tables whose clock, chance and timeline a test holds in its hands, so that what lies in them can be
 * compared to the millisecond: in memory, in a SQLite file, and in a Postgres.
 */
import Database from 'better-sqlite3';
import pg from 'pg';
import { type Random, systemClock } from '../../src/ground/index.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { MemoryTables } from '../../src/store/memory/tables.ts';
import type { StoreOptions } from '../../src/store/options.ts';
import { migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { selectNow } from '../../src/store/sqlite/session.sql.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { PlainRow } from '../../test/store/harness.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';

export interface World {
  readonly name: string;
  open(): Promise<Store>;
  /** Empty tables. */
  reset(): Promise<void>;
  /** It is so late now. */
  setNow(ms: number): Promise<void>;
  insertPlain(row: PlainRow, nowMs: number): Promise<void>;
  /** What the interface does not show of tasks, in the order of their ids. */
  rows(): Promise<readonly HiddenRow[]>;
  close(): Promise<void>;
}

/** Which the driver would hand over as text. */
const BIGINTS: readonly string[] = ['key_ms', 'cut_epoch', 'put_off_ms'];
const HIDDEN_TIMES = ['claimed_at', 'key_until'] as const;
const HIDDEN = [
  ...[
    'task_id',
    'interrupted',
    'cut_epoch',
    'put_off_ms',
    'claim_token',
    'key',
    'key_ms',
    'key_generation',
    'carry_from',
  ],
  ...['last_hash', 'control_reason', 'parent_id', 'trace_parent'],
] as const;

export type HiddenRow = Readonly<Record<string, unknown>>;

/** Without what is null; a time that a key had until it was freed is nobody's. */
function hiddenRow(row: HiddenRow): HiddenRow {
  const names = [...HIDDEN, ...HIDDEN_TIMES].filter((name) => (row[name] ?? null) !== null);
  const all = Object.fromEntries(names.map((name) => [name, row[name]]));
  const { key_until, ...rest } = all as HiddenRow;
  return rest['key'] === undefined ? rest : { ...rest, key_until };
}

/** What would be spread by chance is spread by this. */
const CHANCE = 0.5;
const evenRandom: Random = { fraction: () => CHANCE, hex: (count) => '7'.repeat(2 * count) };

export function memoryWorld(): World {
  const clock = new FakeClock(0);
  const tables = new MemoryTables({ clock, random: evenRandom });
  return {
    name: 'memory',
    open: async () => new MemoryStore(tables),
    reset: async () => {
      const { pods, tasks, events, registry } = tables;
      for (const table of [pods, tasks, events, registry]) table.clear();
    },
    setNow: async (ms) => clock.setWall(ms),
    insertPlain: async (row, now) => {
      const { task_id, parent_id, runAfterMs, deadlineAfterMs, machine, paused = false } = row;
      tables.insert({
        machine,
        paused,
        taskId: task_id as never,
        ...(parent_id === undefined ? {} : { parentId: parent_id }),
        ...(runAfterMs === undefined ? {} : { runAt: now + runAfterMs }),
        ...(deadlineAfterMs === undefined ? {} : { deadlineAt: now + deadlineAfterMs }),
      });
    },
    rows: async () =>
      tables
        .tasksWhere(() => true)
        .map((task) => hiddenRow(Object.fromEntries(Object.entries(task).map(underscored)))),
    close: async () => {},
  };
}

function underscored([name, value]: [string, unknown]): [string, unknown] {
  return [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value];
}

const sqliteClocks = new Map<string, FakeClock>();
const prepare = Database.prototype.prepare;

/** The store reads its clock by one statement, which is answered here for the files that are ours. */
function holdSqliteClocks(): void {
  Database.prototype.prepare = function (this: Database.Database, source: string) {
    const clock = source === selectNow ? sqliteClocks.get(this.name) : undefined;
    return clock ? { get: () => ({ now: clock.now() }) } : prepare.call(this, source);
  } as never;
}

const TABLES = ['run_events', 'step_tracker', 'pod_health', 'machine_registry'];

export async function sqliteWorld(file: string): Promise<World> {
  const clock = new FakeClock(0);
  holdSqliteClocks();
  sqliteClocks.set(file, clock);
  const options = { clock: systemClock, random: evenRandom };
  await (await openSqliteStore(file, { ...options, migrates: true })).close();
  const hand = new Database(file);
  hand.pragma('synchronous = off');
  return {
    name: 'sqlite',
    open: () => openSqliteStore(file, options),
    reset: async () => {
      hand.exec(`begin immediate; ${TABLES.map((one) => `delete from ${one}`).join(';')}; commit`);
    },
    setNow: async (ms) => clock.setWall(ms),
    insertPlain: async (row, now) => {
      const columns = { ...plainColumns(row, now), paused: row.paused ? 1 : 0 };
      const names = Object.keys(columns);
      const places = names.map((name) => `@${name}`).join(', ');
      hand.prepare(`insert into step_tracker (${names}) values (${places})`).run(columns);
    },
    rows: async () =>
      hand
        .prepare(`select ${[...HIDDEN, ...HIDDEN_TIMES]} from step_tracker order by task_id`)
        .all()
        .map((row) => hiddenRow(row as HiddenRow)),
    close: async () => {
      hand.close();
      sqliteClocks.delete(file);
    },
  };
}

/** Found before the server's own, since pg_catalog is named after it. */
const WORLD_SQL = `
  create schema world;
  create table world.clock (at timestamptz not null);
  insert into world.clock values ('epoch');
  create function world.now() returns timestamptz stable
    language sql as 'select at from world.clock';
  create function world.clock_timestamp() returns timestamptz stable
    language sql as 'select at from world.clock';
  create function world.random() returns float8 immutable language sql as 'select ${CHANCE}::float8';
  create function world.pg_walfile_name(pg_lsn) returns text immutable
    language sql as $$ select repeat('0', 24) $$;`;

export async function postgresWorld(
  url: string,
  options: Pick<StoreOptions, 'claimMode'> = {},
): Promise<World> {
  const hand = new pg.Client(url);
  await hand.connect();
  await hand.query(WORLD_SQL);
  const path = 'public, world, pg_catalog';
  const { rows } = await hand.query('select current_database() as name');
  await hand.query(`alter database ${rows[0].name} set search_path = ${path}`);
  await hand.query(`set search_path = ${path}`);
  const ports = { clock: systemClock, random: evenRandom, ...options };
  await migratePostgresStore(url, ports);
  return {
    name: `postgres (${options.claimMode ?? 'skip-locked'})`,
    open: () => openPostgresStore(url, ports),
    reset: async () => {
      await hand.query(TABLES.map((one) => `delete from ${one}`).join(';'));
    },
    setNow: async (ms) => {
      await hand.query(`update world.clock set at = to_timestamp($1::float8 / 1000)`, [ms]);
    },
    insertPlain: async (row, now) => {
      const columns: Record<string, unknown> = plainColumns(row, now);
      for (const name of ['run_at', 'deadline_at', 'created_at', 'last_update']) {
        if (name in columns) columns[name] = new Date(columns[name] as number);
      }
      const names = Object.keys(columns);
      const places = names.map((_, index) => `$${index + 1}`).join(', ');
      const text = `insert into step_tracker (${names}) values (${places})`;
      await hand.query(text, Object.values(columns));
    },
    rows: async () => {
      const times = HIDDEN_TIMES.map(
        (name) => `(extract(epoch from ${name}) * 1000)::float8 as ${name}`,
      );
      const columns = [
        ...HIDDEN.map((name) => (BIGINTS.includes(name) ? `${name}::float8` : name)),
        ...times,
      ];
      const text = `select ${columns} from step_tracker order by task_id collate "C"`;
      return (await hand.query(text)).rows.map(hiddenRow);
    },
    close: () => hand.end(),
  };
}

function plainColumns({ runAfterMs, deadlineAfterMs, ...row }: PlainRow, now: number) {
  return {
    ...row,
    run_at: now + (runAfterMs ?? 0),
    created_at: now,
    last_update: now,
    ...(deadlineAfterMs === undefined ? {} : { deadline_at: now + deadlineAfterMs }),
  };
}

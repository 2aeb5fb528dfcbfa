/** Rows that no pod can run, as they may be in older tables, and the view that names what is stuck. */
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { migrationsDirectory, readMigrations } from '../../src/store/migrations.ts';
import { knownMigrations, migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { migrateSqliteStore } from '../../src/store/sqlite/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { runOn } from '../support/postgres.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { birthOf, MACHINE } from './factories.ts';
import { options, usePostgres } from './postgres-harness.ts';
import { PORTS, prompt } from './sqlite-harness.ts';

/** 'FLTS', by which a file is known as a store. */
const APPLICATION_ID = 0x464c5453;

const scene = usePostgres();
const newDir = useTempDirs();
/** The last before the rule. */
const BEFORE = 25;

interface Place {
  /** Tables as they were before the rule, then as they are now. */
  readonly before: () => Promise<void>;
  readonly after: () => Promise<void>;
  readonly ask: (text: string) => Promise<Record<string, unknown>[]>;
  readonly open: () => Promise<Store>;
  /** Takes away what keeps such rows out. */
  readonly unguard: string;
}

async function postgres(): Promise<Place> {
  const url = await scene.server.createDatabase();
  const before = knownMigrations().filter(({ version }) => version <= BEFORE);
  return {
    before: async () => void (await migratePostgresStore(url, options, before)),
    after: async () => void (await migratePostgresStore(url, options)),
    ask: (text) => runOn(url, text),
    open: () => openPostgresStore(url, options),
    unguard: 'alter table step_tracker drop constraint open_is_runnable',
  };
}

async function sqlite(): Promise<Place> {
  const file = newDir('fleet.db');
  const before = readMigrations(migrationsDirectory('sqlite')).filter(
    ({ version }) => version <= BEFORE,
  );
  return {
    before: async () => {
      const database = new Database(file).unsafeMode();
      database.pragma(`application_id = ${APPLICATION_ID}`);
      for (const { version, name, checksum, sql } of before) {
        database.exec(sql);
        database
          .prepare('insert into schema_version (version, name, checksum) values (?, ?, ?)')
          .run(version, name, checksum);
      }
      database.close();
    },
    after: async () => void (await migrateSqliteStore(file, PORTS)),
    ask: async (text) =>
      prompt(file, (database) => {
        const statement = database.prepare(text);
        if (statement.reader) return statement.all() as Record<string, unknown>[];
        statement.run();
        return [];
      }),
    open: () => openSqliteStore(file, PORTS),
    unguard: 'drop trigger step_tracker_runnable',
  };
}

const PLACES = [
  ['Postgres', postgres],
  ['SQLite', sqlite],
] as const;

const insert = (machine: string, version: number, more = ['', '']) =>
  `insert into step_tracker (machine, version, payload${more[0]})
   values ('${machine}', ${version}, '1'${more[1]})`;

test.each(PLACES)(
  'a migration fails what no pod can run, and keeps what is beside it: %s',
  async (_, make) => {
    const place = await make();
    await place.before();
    const bad = [
      [MACHINE, 0],
      [MACHINE, -1],
      ['recovery/sweep', 1],
    ] as const;
    for (const [machine, version] of bad) {
      await place.ask(insert(machine, version, [', key', ", 'k'"]).replace("'k'", `'${version}'`));
    }
    await place.ask(insert(MACHINE, 999_999));
    await place.after();
    const rows = await place.ask(
      'select machine, version, status, outcome, error from step_tracker order by version',
    );
    expect(rows.map(({ version, status }) => [version, status])).toEqual([
      [-1, 'failed'],
      [0, 'failed'],
      [1, 'failed'],
      [999_999, 'pending'],
    ]);
    for (const { outcome, error } of rows.slice(0, 3)) {
      expect(outcome).toBe('aborted');
      expect(JSON.parse(error as string)).toMatchObject({ code: 'FLEETQ_ROW_REFUSED' });
    }
    for (const [machine, version] of bad) {
      await expect(place.ask(insert(machine, version)), machine).rejects.toThrow();
    }
    // What has ended can still be put aside and removed.
    await place.ask('update step_tracker set discarded_at = finished_at where version < 1');
    const store = await place.open();
    expect(await store.violations()).toEqual([]);
    await store.close();
  },
);

test.each(PLACES)(
  'a row that no pod can run is found where it came in all the same: %s',
  async (_, make) => {
    const place = await make();
    await place.after();
    const store = await place.open();
    await place.ask(place.unguard);
    for (const [machine, version] of [
      [MACHINE, 0],
      ['recovery/sweep', 1],
      [MACHINE, 1],
    ] as const)
      await place.ask(insert(machine, version));
    const rows = await place.ask(
      `select task_id from step_tracker where machine <> '${MACHINE}' or version < 1 order by task_id`,
    );
    const [found, ...others] = await store.violations();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ rule: 'an open task is one that a pod can run', count: 2 });
    expect(found!.examples.toSorted()).toEqual(rows.map((row) => row['task_id']));
    await store.close();
  },
);

test.each(PLACES)('what no live pod can run is named as stuck at once: %s', async (_, make) => {
  const place = await make();
  await place.after();
  const store = await place.open();
  await store.announce([{ route: `${MACHINE}@3`, fingerprint: 'f', shape: 's' }]);
  await place.ask(insert('sample/typo', 1));
  await place.ask(insert(MACHINE, 1));
  await place.ask(insert(MACHINE, 3));
  await place.ask(insert(MACHINE, 4));
  const stuck = () => place.ask('select machine, version, reason from stuck_tasks order by 1, 2');
  // Without a pod it is not for want of a machine that nothing goes on.
  expect(await stuck()).toEqual([]);
  await store.register({ ...birthOf('alder'), routes: [`${MACHINE}@3`] });
  expect(await stuck()).toEqual([
    { machine: MACHINE, version: 4, reason: 'no live pod can run it' },
    { machine: 'sample/typo', version: 1, reason: 'no pod ever had its machine' },
  ]);
  await store.close();
});

/** The case of the crash table for a deploy that dies while it migrates the tables: row 32. */
import pg from 'pg';
import { expect } from 'vitest';
import { knownMigrations } from '../../src/store/postgres/migrate.ts';
import { runOn } from '../../test/support/postgres.ts';
import { judge } from './judge.ts';
import type { Ground } from './rig.ts';
import type { Case } from './strikes.ts';

const GATE = 32_001;
const KNOWN = knownMigrations().length;
const numbered = (ahead: number, name: string) =>
  `${String(KNOWN + ahead).padStart(4, '0')}_${name}.sql`;
/** Of a later day: one that is done when the deploy dies, and one that stands half way then. */
const LATER = {
  [numbered(1, 'create_remarks')]: 'create table remarks (id integer primary key);',
  [numbered(2, 'widen_remarks')]: `
    alter table remarks add column task_id text;
    select pg_advisory_xact_lock(${GATE});
    alter table step_tracker add column remark text;
    create index remarks_by_task on remarks (task_id);`,
};
const WAITS = `select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`;

async function isThere(ground: Ground, name: string): Promise<boolean> {
  const text = `select to_regclass('${name}') is not null as is_there`;
  const [row] = await runOn<{ is_there: boolean }>(ground.url, text);
  return row!.is_there;
}

async function versions(ground: Ground): Promise<number[]> {
  const text = 'select version from schema_version order by version';
  return (await runOn<{ version: number }>(ground.url, text)).map(({ version }) => version);
}

async function shut(ground: Ground): Promise<() => Promise<void>> {
  const gate = new pg.Client(ground.url).on('error', () => undefined);
  await gate.connect();
  await gate.query(`select pg_advisory_lock(${GATE})`);
  return () => gate.end();
}

const halfWay: Case = {
  row: 32,
  disk: 'lost',
  name: 'old pods go on, whoever comes next finishes it, and new pods join',
  isAlone: true,
  run: async (ground, machine) => {
    const old = ground.start({ machine, name: 'old' });
    await old.says(/ready/);
    const newer = ground.newerPackage(LATER);
    const open = await shut(ground);
    const dying = ground.migrate(newer);
    await ground.until(
      'it stands half way',
      async () => (await runOn(ground.url, WAITS)).length > 0,
    );
    const rival = ground.migrate(newer);
    await rival.says(/begins/);
    // What is done is done, and what is not can be seen by nobody.
    expect(await versions(ground)).toHaveLength(KNOWN + 1);
    await ground.enqueue(machine);
    const isDone = async () =>
      (await ground.rows(machine)).every(({ status }) => status === 'completed');
    await ground.until('the old pod works', isDone);
    await dying.kill();
    await open();
    await rival.finishes();
    expect(await versions(ground)).toEqual(Array.from({ length: KNOWN + 2 }, (_, n) => n + 1));
    expect(await isThere(ground, 'remarks_by_task')).toBe(true);
    await ground.migrate(newer).finishes();
    // The pods of yesterday have not been told, and those of today find their tables.
    await ground.enqueue(machine);
    await ground.until('the old pod still works', isDone);
    const next = `${machine}-next`;
    await ground.enqueue(next);
    await ground.finish(next, undefined, { dist: newer });
    await judge(ground, machine, 'lost', 2);
    await judge(ground, next, 'lost');
    await old.kill('SIGTERM');
  },
};

export const MIGRATION_CASES: readonly Case[] = [halfWay];

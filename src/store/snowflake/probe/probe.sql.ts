/** Statements of the probe. Its tables have names of their own, so each text is made for one of them. */
import type { TableKind } from '../migrate.ts';
import { FLATTENED, NOW } from '../sql.ts';

/** Three rows: two to be locked against each other, and one to be raced for. */
export const ROWS = [
  { id: 1, rev: 'a' },
  { id: 2, rev: 'a' },
  { id: 3, rev: 'a' },
];

export function createTable(table: string, kind: TableKind): string {
  return `create ${kind === 'hybrid' ? 'hybrid table' : 'table'} ${table} (id number(9,0) not null,
    v number(19,0) not null, rev varchar(64) not null, primary key (id))`;
}

export const dropTable = (table: string) => `drop table if exists ${table}`;
export const deleteRows = (table: string) => `delete from ${table}`;

/** ? rows. */
export const insertRows = (table: string) => `insert into ${table} (id, v, rev)
  select f.value:id::number(9,0), 0, f.value:rev::varchar from ${FLATTENED}`;

/** ? rows: those that are missing. */
export const mergeRows = (table: string) => `merge into ${table} using
  (select f.value:id::number(9,0) as id, f.value:rev::varchar as rev from ${FLATTENED}) s
  on ${table}.id = s.id when not matched then insert (id, v, rev) values (s.id, 0, s.rev)`;

/** ? id. */
export const countUp = (table: string) => `update ${table} set v = v + 1 where id = ?`;
/** Writes a row as it is; see touchOf. */
export const touch = (table: string) =>
  `update ${table} set id = id where id = (select min(id) from ${table})`;
/** ? new rev, ? id, ? rev that was seen. */
export const compareAndSet = (table: string) =>
  `update ${table} set rev = ? where id = ? and rev = ?`;
/** ? id. */
export const selectRow = (table: string) => `select t.v, t.rev from ${table} t where t.id = ?`;
/** ? id, ? rows: as the store writes, with one bind for all of a batch. */
export const updateBatch = (table: string) => `update ${table} set rev = s.rev from
  (select f.value:id::number(9,0) as id, f.value:rev::varchar as rev from ${FLATTENED}) s
  where ${table}.id = s.id`;

export const selectFirstLocked = (table: string) =>
  `select t.id from ${table} t order by t.id limit 1 for update`;
/** ? id. */
export const selectOneLocked = (table: string) =>
  `select t.id from ${table} t where t.id = ? for update nowait`;
/** ? count. */
export const selectLimited = (table: string) => `select t.id from ${table} t order by t.id limit ?`;

export const lockSeconds = (seconds: number) =>
  `alter session set lock_timeout = ${seconds}, hybrid_table_lock_timeout = ${seconds}`;
export const readOld = 'alter session set read_latest_writes = false';

export const lastChange = (table: string) =>
  `select system$last_change_commit_time('${table}') as changed`;

export const createInline = (name: string) => `create inline procedure ${name}(n number)
  returns number as begin atomic return n; end`;
export const dropInline = (name: string) => `drop procedure if exists ${name}(number)`;

export const createSchema = (schema: string) => `create schema ${schema}`;
export const dropSchema = (schema: string) => `drop schema if exists ${schema}`;

export const selectView = (view: string) => `select v.* from ${view} v limit 1`;

export const selectNothing = `select ${NOW} as now_ms`;

/**
 * The rules of the tables as queries. What a constraint or a unique index keeps is looked for row by
 * row only where that one is missing or was never made valid: the tables may be large.
 */
import { ended, sql } from './sql.ts';

export interface Rule {
  readonly rule: string;
  /** The constraint, or unique index, that keeps it. */
  readonly keptBy?: string;
  /** Selects `example` of what breaks it. */
  readonly select: string;
}

export const selectKeepers = sql`
  select conname as name from pg_constraint
   where convalidated and conrelid in (to_regclass('step_tracker'), to_regclass('pod_health'))
     and coalesce((to_jsonb(pg_constraint) ->> 'conenforced')::boolean, true)
  union all
  select relname from pg_index join pg_class on pg_class.oid = indexrelid
   where indrelid = to_regclass('step_tracker') and indisunique and indisvalid and indisready`;

const tasks = (condition: string) =>
  sql`select task_id as example from step_tracker task where ${condition}`;

export const RULES: readonly Rule[] = [
  {
    rule: 'only claimed tasks have an owner',
    keptBy: 'claimed_iff_held',
    select: tasks(`(status = 'claimed') <> (claimed_by is not null)`),
  },
  {
    rule: 'a claimed task has an epoch',
    keptBy: 'claimed_has_epoch',
    select: tasks(`status = 'claimed' and claim_epoch < 1`),
  },
  {
    rule: 'an open task is one that a pod can run',
    keptBy: 'open_is_runnable',
    select: tasks(`status in ('pending', 'waiting', 'claimed')
      and (version < 1 or (starts_with(machine, 'recovery/') and pinned_to is null))`),
  },
  {
    rule: 'ended tasks, and only they, have a finish time',
    keptBy: 'ended_iff_finished',
    select: tasks(`(status in ${ended}) <> (finished_at is not null)`),
  },
  {
    rule: 'waiting tasks, and only they, say what they wait for',
    keptBy: 'waiting_iff_reasoned',
    select: tasks(`(status = 'waiting') <> (wait_for is not null)`),
  },
  {
    rule: 'a failed task has an error',
    keptBy: 'failed_has_error',
    select: tasks(`status = 'failed' and error is null`),
  },
  {
    rule: 'a serial key has one holder',
    keptBy: 'step_tracker_serial',
    select: sql`select queue || '/' || serial_key as example from step_tracker
                 where serial_held group by queue, serial_key having count(*) > 1`,
  },
  {
    rule: 'a key stands for one task of its machine',
    keptBy: 'step_tracker_key',
    select: sql`select machine || '/' || key as example from step_tracker
                 where key is not null group by machine, key having count(*) > 1`,
  },
  {
    rule: 'dead pods, and only they, have a time of death',
    keptBy: 'dead_iff_fenced',
    select: sql`select pod_id as example from pod_health
                 where (status in ('dead', 'down')) <> (dead_at is not null)`,
  },
  {
    rule: 'the owner of a claim is up, draining, or dead and not yet swept',
    select: tasks(sql`claimed_by is not null and not exists (
      select 1 from pod_health pod where pod.pod_id = claimed_by and pod.status <> 'down')`),
  },
  {
    // The latest of them: those before were looked at when they were the latest.
    rule: 'an ended task has its history',
    select: sql`
      select task_id as example from (
        select task_id, generation, last_seq, last_hash from step_tracker
         where finished_at is not null order by finished_at desc limit 100000) task
       where last_seq >= 0 and not exists (
         select 1 from run_events part
          where part.task_id = task.task_id and part.generation = task.generation
            and part.last_seq >= task.last_seq)`,
  },
];

/** $1 how many are counted at most, $2 how many are shown. */
export function countBreaches({ select }: Rule): string {
  return sql`
    with breach as (${select} limit $1)
    select count(*) as count, (array_agg(example))[1:$2] as examples from breach`;
}

/** What the server says of itself, and what it has been told for this connection. */
export const selectFacts = sql`
  select version() as version, extract(epoch from clock_timestamp()) * 1000 as now_ms,
         (select setting from pg_settings where name = 'statement_timeout') as timeout_ms,
         current_setting('transaction_isolation') as isolation, pg_is_in_recovery() as is_standby`;

/**
 * How many connections there are, and may be: of the server, of this role and of this database. What is
 * reserved counts for whom it is not reserved, and no limit but the server's holds for a superuser.
 */
export const selectConnections = sql`
  with me as (
    select oid, rolname, rolsuper, rolconnlimit from pg_roles where rolname = session_user),
  here as (
    select oid, datname, datconnlimit from pg_database where datname = current_database()),
  kept as (
    select case when rolsuper then 0 else
             coalesce(current_setting('superuser_reserved_connections', true)::int, 0)
             + case when exists (select 1 from pg_roles grp
                                  where grp.rolname = 'pg_use_reserved_connections'
                                    and pg_has_role(me.oid, grp.oid, 'usage')) then 0
                    else coalesce(current_setting('reserved_connections', true)::int, 0) end
           end as count from me),
  used as (
    select datid, usesysid from pg_stat_activity where datid is not null)
  select 'server' as whose, '' as name, (select count(*) from used) as count, kept.count as reserved,
         current_setting('max_connections', true)::int - kept.count as count_max
    from kept
  union all
  select 'role', rolname, (select count(*) from used where usesysid = me.oid), 0, rolconnlimit
    from me where rolconnlimit >= 0 and not rolsuper
  union all
  select 'database', datname, (select count(*) from used where datid = here.oid), 0, datconnlimit
    from here, me where datconnlimit >= 0 and not rolsuper`;

/**
 * What keeps the server from removing rows that have ended, the oldest first: a transaction of this database,
 * or of another that has written, a prepared one, a replication slot or a standby. The server does not know
 * since when the last two do. None where the role is shown its own sessions only. Autovacuum does not count.
 */
export const selectHolders = sql`
  with held as (
    select case backend_type when 'walsender' then 'standby' else 'session' end as kind, pid,
           coalesce(nullif(application_name, ''), usename, backend_type) as name, datname as database,
           (extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as ms,
           greatest(age(backend_xid), age(backend_xmin)) as transactions
      from pg_stat_activity
     where pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'
       and (backend_xid is not null
            or backend_xmin is not null and coalesce(datname, current_database()) = current_database())
    union all
    select 'prepared transaction', null, gid, database,
           (extract(epoch from clock_timestamp() - prepared) * 1000)::float8, age(transaction)
      from pg_prepared_xacts
    union all
    select 'replication slot', active_pid, slot_name, database, null, greatest(age(xmin), age(catalog_xmin))
      from pg_replication_slots where xmin is not null or catalog_xmin is not null)
  select kind, pid, name, database, ms, transactions from held
   where pg_has_role(current_user, 'pg_read_all_stats', 'usage')
   order by ms desc nulls last, transactions desc limit 10`;

/** Null where the role is shown its own sessions only; 0 where no transaction is open. */
export const selectOldestTransaction = sql`
  select case when pg_has_role(current_user, 'pg_read_all_stats', 'usage') then
           (select coalesce(max(ms), 0) from (${selectHolders}) held) end as oldest_ms`;

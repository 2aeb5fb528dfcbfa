/** What live views look at, in one statement. */
import { glanceColumns, msOf, sql } from './sql.ts';

const since = sql`to_timestamp($3::float8 / 1000)`;

/**
 * When the oldest transaction began that was running just now: what it will have made bears that time.
 * Of others' sessions a role without pg_read_all_stats is told nothing; then it is a minute ago.
 */
const oldest = sql`(
  select least(min(xact_start), case when bool_or(backend_type is null and state is null)
                                  then clock_timestamp() - interval '1 minute' end)
    from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid())`;

/** A row's number of its transaction in full: ages are counted back from the newest there is. */
const newest = sql`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;
const writer = sql`(${newest} - ((${newest} - xmin::text::bigint) & 4294967295))::text::xid8`;

/** Made by transactions that had not ended when $5 was taken, though they say that it was before $3. */
const made = (status: string) => sql`
    (select task_id from (
       select task_id, ${writer} as writer from step_tracker
        where $5::text is not null and status = '${status}' and created_at < ${since}
          and created_at >= greatest(to_timestamp($6::float8 / 1000), ${since} - interval '10 minutes')
        order by created_at desc limit 20000) lately
      where not pg_visible_in_snapshot(writer, $5::pg_snapshot) limit $4)`;

/**
 * $1 ids that are followed, $2 ids that were claimed at the last look, $3 since when, or null, $4 count,
 * $5 the snapshot of the last look, or null, $6 when the oldest transaction had begun that ran then.
 * Each branch has an index of its own and a limit; what was claimed and is parked by now is in none of
 * them but the second. With a null nothing but $1 is looked at. Rows are looked up one by one, whatever
 * the planner thinks of their number.
 */
export const watchTasks = sql`
  with clock as materialized (
    select ${msOf('clock_timestamp()')} as now_ms, pg_current_snapshot()::text as snapshot,
           ${msOf(oldest)} as oldest_ms),
  near as materialized (
    select unnest($1::text[]) as task_id
    union
    select task_id from step_tracker
     where $3::float8 is not null and task_id = any ($2::text[]) and last_update >= ${since}
    union
    (select task_id from step_tracker
      where $3::float8 is not null and claimed_by is not null and last_update >= ${since}
      order by claimed_by, task_id limit $4)
    union
    (select task_id from step_tracker
      where finished_at is not null and finished_at >= ${since}
      order by finished_at desc limit $4)
    union
    (select task_id from step_tracker
      where status = 'pending' and created_at >= ${since} order by created_at desc limit $4)
    union
    (select task_id from step_tracker
      where status = 'waiting' and created_at >= ${since} order by created_at desc limit $4)
    union ${made('pending')}
    union ${made('waiting')}
    union
    (select acted.task_id from (
       select task_id from audit_log
        where at >= ${since} and task_id is not null order by at desc limit $4) acted
      where exists (select 1 from step_tracker changed
                     where changed.task_id = acted.task_id and changed.last_update >= ${since}))),
  found as (
    select task.* from near cross join lateral (
      select ${glanceColumns} from step_tracker
       where step_tracker.task_id = near.task_id offset 0) task)
  select clock.now_ms, clock.snapshot, clock.oldest_ms, found.*, head.epoch as head_epoch,
         head.last_seq as head_seq, head.last_hash as head_hash
    from clock
    left join found on true
    left join lateral (
      select * from run_events stored
       where stored.task_id = found.task_id and stored.generation = found.generation
         and stored.state <> 'outcome' and found.task_id = any ($1::text[])
       order by stored.epoch desc, stored.last_seq desc, stored.first_seq desc limit 1) head on true`;

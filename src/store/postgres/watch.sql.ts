/** What live views look at, in one statement. */
import { glanceColumns, msOf, sql } from './sql.ts';

const since = sql`to_timestamp($3::float8 / 1000)`;

/**
 * $1 ids that are followed, $2 ids that were claimed at the last look, $3 since when, or null, $4 count.
 * Each branch has an index of its own and a limit; what was claimed and is parked by now is in none of
 * them but the second. With a null nothing but $1 is looked at. Rows are looked up one by one, whatever
 * the planner thinks of their number.
 */
export const watchTasks = sql`
  with clock as materialized (select ${msOf('clock_timestamp()')} as now_ms),
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
    union
    (select task_id from audit_log
      where $3::float8 is not null and at >= ${since} and task_id is not null
      order by at desc limit $4)),
  found as (
    select task.* from near cross join lateral (
      select ${glanceColumns} from step_tracker
       where step_tracker.task_id = near.task_id offset 0) task)
  select clock.now_ms, found.*, head.epoch as head_epoch, head.last_seq as head_seq,
         head.last_hash as head_hash
    from clock
    left join found on true
    left join lateral (
      select * from run_events stored
       where stored.task_id = found.task_id and stored.generation = found.generation
         and stored.state <> 'outcome' and found.task_id = any ($1::text[])
       order by stored.epoch desc, stored.first_seq desc limit 1) head on true`;

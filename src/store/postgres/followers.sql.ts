/**
 * Statements that let tasks go which follow others. What becomes of each is asked of the row it follows,
 * as `followerBecomes` says it.
 */
import { keyUntil, onceFound, raised, sql } from './sql.ts';

/** Written as the index is. */
const waits = sql`status = 'waiting' and wait_for = 'run'`;

/** Asked of each by itself: a join would read all there are where nobody has counted them lately. */
const becomes = sql`
  coalesce((
    select case when followed.finished_at is null then 'wait'
                when follower.follows_on = 'end' or followed.status = 'completed' then 'go'
                when followed.status = 'cancelled' or followed.discarded_at is not null then 'end'
                else 'wait' end
      from step_tracker followed where followed.task_id = follower.follows),
    case when follower.follows_on = 'end' then 'go' else 'end' end)`;

/** In the order of tasks, so that two who do this wait in one direction only. */
function chosen(becomes: string): string {
  return sql`
     where task.task_id = any (array (
         select task_id from judged where becomes = '${becomes}' order by task_id))
       and ${onceFound(sql`task.status = 'waiting' and task.wait_for = 'run'`)}
    returning task.task_id, task.status`;
}

/** One that goes is due from now on, with as much time until its deadline as whoever enqueued it gave. */
function letGo(error: string): string {
  return sql`
  judged as materialized (select follower.task_id, ${becomes} as becomes from follower),
  gone as (
    update step_tracker task
       set status = 'pending', wait_for = null, waiting_on = null, run_at = now(),
           deadline_at = task.deadline_at - (task.run_at - now()),
           put_off_ms = greatest(0, task.put_off_ms
             - floor(extract(epoch from task.run_at - now()) * 1000)::bigint),
           last_update = clock_timestamp()
    ${chosen('go')}),
  ended as (
    update step_tracker task
       set status = 'cancelled', outcome = 'cancelled', error = ${error},
           wait_for = null, waiting_on = null, finished_at = clock_timestamp(),
           key_until = case when task.key is not null then ${keyUntil('task.key_ms')} end,
           claim_epoch = ${raised('task.claim_epoch')},
           control = null, control_reason = null, last_update = clock_timestamp()
    ${chosen('end')}),
  done as (select * from gone union all select * from ended)`;
}

/** $1 runs that may have ended, $2 count, $3 error. Answers who waits no more. */
export const letFollowersGo = sql`
  with follower as materialized (
    select found.* from (select distinct unnest($1::text[]) as run) asked cross join lateral (
      select task_id, follows, follows_on from step_tracker
       where ${waits} and follows = asked.run order by follows, task_id limit $2) found
     limit $2),
  ${letGo('$3::text')}
  select task_id, status from done`;

/**
 * $1 run, $2 task, $3 count, $4 error: those after this one, whoever they follow. For what nobody has let
 * go: whoever was to do it died just then, or did not see them. Answers everyone looked at.
 */
export const letOverdueGo = sql`
  with follower as materialized (
    select task_id, follows, follows_on from step_tracker
     where ${waits} and (follows, task_id) > ($1::text, $2::text)
     order by follows, task_id limit $3),
  ${letGo('$4::text')}
  select follower.task_id, follower.follows, done.status
    from follower left join done using (task_id)
   order by follower.follows, follower.task_id`;

/** $1 run, $2 count: who follows it, or did. */
export const selectFollowers = sql`
  select task_id, machine, status, follows_on from step_tracker
   where follows = $1 order by task_id limit $2`;

/**
 * Whether a task waits for that of a row. In the collation of the index of followers, or it is not used; and
 * asked of each row by itself: a join would read all followers.
 */
export const isFollowed = sql`
  exists (select 1 from step_tracker follower
           where follower.follows = task.task_id collate "default" and follower.status = 'waiting'
             and follower.wait_for = 'run' offset 0)`;

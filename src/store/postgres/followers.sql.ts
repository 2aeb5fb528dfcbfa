/**
 * Statements that let tasks go which follow others. What becomes of each is asked of the row it follows,
 * as `followerBecomes` says it.
 */
import { keyUntil, onceFound, raised, sql } from './sql.ts';

/** Written as the index is. */
const waits = sql`status = 'waiting' and wait_for = 'run'`;

const becomes = sql`
  case when followed.task_id is null or followed.status = 'cancelled'
         or (followed.status = 'failed' and followed.discarded_at is not null)
       then case when follower.follows_on = 'end' then 'go' else 'end' end
       when followed.status = 'completed' then 'go'
       when followed.status = 'failed' and follower.follows_on = 'end' then 'go'
       else 'wait' end`;

/**
 * One that goes is due from now on, with as much time until its deadline as whoever enqueued it gave. In
 * the order of tasks, so that two who do this wait in one direction only.
 */
function letGo(error: string): string {
  return sql`
  judged as materialized (
    select follower.task_id, ${becomes} as becomes
      from follower left join step_tracker followed on followed.task_id = follower.follows
     order by follower.task_id),
  gone as (
    update step_tracker task
       set status = case when becomes = 'go' then 'pending' else 'cancelled' end,
           wait_for = null, waiting_on = null,
           run_at = case when becomes = 'go' then now() else task.run_at end,
           deadline_at = case when becomes = 'go' then task.deadline_at - (task.run_at - now())
             else task.deadline_at end,
           put_off_ms = case when becomes = 'go' then greatest(0, task.put_off_ms
               - floor(extract(epoch from task.run_at - now()) * 1000)::bigint)
             else task.put_off_ms end,
           outcome = case when becomes = 'end' then 'cancelled' end,
           error = case when becomes = 'end' then ${error} end,
           finished_at = case when becomes = 'end' then clock_timestamp() end,
           key_until = case when becomes = 'end' and task.key is not null
             then ${keyUntil('task.key_ms')} end,
           claim_epoch = case when becomes = 'end' then ${raised('task.claim_epoch')}
             else task.claim_epoch end,
           control = null, control_reason = null, last_update = clock_timestamp()
      from judged
     where task.task_id = judged.task_id and becomes <> 'wait'
       and ${onceFound(sql`task.status = 'waiting' and task.wait_for = 'run'`)}
    returning task.task_id, task.status)`;
}

/** $1 runs that may have ended, $2 count, $3 error. Answers who waits no more. */
export const letFollowersGo = sql`
  with follower as materialized (
    select task_id, follows, follows_on from step_tracker
     where ${waits} and follows = any ($1::text[])
     order by follows, task_id limit $2),
  ${letGo('$3::text')}
  select task_id, status from gone`;

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
  select follower.task_id, follower.follows, gone.status
    from follower left join gone using (task_id)
   order by follower.follows, follower.task_id`;

/** Whether somebody waits for the task of a row. */
export const isFollowed = sql`
  exists (select 1 from step_tracker follower
           where follower.follows = task.task_id and follower.status = 'waiting'
             and follower.wait_for = 'run')`;

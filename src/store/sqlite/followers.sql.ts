/** Statements about tasks that follow others. Conditions are those of the index. */

const waits = `status = 'waiting' and wait_for = 'run'`;

/** @run, @count: who follows it, and still waits. */
export const selectFollowers = `
  select task_id, follows_on from step_tracker
   where follows = @run and ${waits} order by task_id limit @count`;

/** @run, @count: who follows it, or did. */
export const selectAllFollowers = `
  select task_id as run, machine, status, follows_on as "on" from step_tracker
   where follows = @run order by task_id limit @count`;

/** @run. */
export const selectFollowed = `select status, discarded_at from step_tracker where task_id = @run`;

/** @task, @now. Due from now on, with as much time until its deadline as whoever enqueued it gave. */
export const letGo = `
  update step_tracker
     set status = 'pending', wait_for = null, run_at = @now, last_update = @now,
         deadline_at = deadline_at - (run_at - @now),
         put_off_ms = max(0, put_off_ms - (run_at - @now))
   where task_id = @task and ${waits}`;

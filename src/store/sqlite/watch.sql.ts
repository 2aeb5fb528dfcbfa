/** What live views look at: each branch by an index of its own. */

const columns = `
  task_id, generation, machine, version, queue, priority, run_at, status, wait_for, claim_epoch, acts,
  claimed_by, retry_count, retries_max, crashes, claims, control, paused, key, serial_key,
  serial_held, pinned_to,
  deadline_at, outcome, error, last_seq, last_hash, carry_from, interrupted, created_at,
  last_update, finished_at, discarded_at, null as payload, null as result`;

/** @ids as a JSON array. */
export const watchFollowed = `
  select ${columns} from step_tracker where task_id in (select value from json_each(@ids))`;

/** @ids as a JSON array, @since. */
export const watchOthers = `${watchFollowed} and last_update >= @since`;

/** @since, @count. Those that somebody holds are few. */
export const watchClaimed = `
  select ${columns} from step_tracker
   where claimed_by is not null and last_update >= @since limit @count`;

/** @since, @count. */
export const watchEnded = `
  select ${columns} from step_tracker
   where finished_at is not null and finished_at >= @since order by finished_at desc limit @count`;

/** @since, @count. What people have changed: they leave a row. */
export const watchActed = `
  select ${columns} from step_tracker
   where last_update >= @since and task_id in (
     select task_id from audit_log
      where at >= @since and task_id is not null order by at desc limit @count)`;

/** @since, @count, @row. Committed since, whatever time they bear: rows are numbered as they are written. */
export const watchLate = `
  select ${columns} from step_tracker
   where rowid > @row and created_at < @since order by rowid desc limit @count`;

export const selectLastRow = `select coalesce(max(rowid), 0) as row from step_tracker`;

/** @since, @count. */
export const watchMade = `
  select ${columns} from step_tracker
   where created_at >= @since order by created_at desc limit @count`;

/** Statements on queues and machines that have a limit, or stand still. */

export const selectLimits = `select queue, max_claimed, paused from queue_limits`;
export const selectPauses = `select machine from machine_pauses`;

/** @queue. By the index of owners: as many as are claimed at all. Local runs are their host's. */
export const countClaimed = `
  select count(*) as count from step_tracker
   where claimed_by is not null and pinned_to is null and queue = @queue`;

/** Every queue that has open tasks, a limit, or is paused; at the cost of what is open. */
export const selectQueues = `
  with open as (
    select queue, sum(status = 'pending') as pending, sum(status = 'waiting') as waiting,
           sum(status = 'claimed' and pinned_to is null) as claimed,
           min(case when status = 'pending' then run_at end) as due_at
      from step_tracker where status || '' in ('pending', 'waiting', 'claimed') group by queue)
  select name.queue, coalesce(pending, 0) as pending, coalesce(waiting, 0) as waiting,
         coalesce(claimed, 0) as claimed, due_at, max_claimed, coalesce(paused, 0) as paused,
         paused_by, paused_at
    from (select queue from open union select queue from queue_limits) as name
    left join open using (queue) left join queue_limits using (queue)
   order by name.queue`;

export const selectPausedMachines = `
  select machine, paused_by, paused_at from machine_pauses order by machine`;

/** @queue. */
export const selectQueue = `select max_claimed, paused from queue_limits where queue = @queue`;
/** @queue, @limit. */
export const setLimit = `
  insert into queue_limits (queue, max_claimed, last_update) values (@queue, @limit, @now)
  on conflict (queue) do update set max_claimed = @limit, last_update = @now`;
/** @queue, @who. */
export const pauseQueue = `
  insert into queue_limits (queue, paused, paused_by, paused_at, last_update)
  values (@queue, 1, @who, @now, @now)
  on conflict (queue) do update
     set paused = 1, paused_by = @who, paused_at = @now, last_update = @now`;
/** @queue. */
export const resumeQueue = `
  update queue_limits set paused = 0, paused_by = null, paused_at = null, last_update = @now
   where queue = @queue`;
/** @queue. One that says nothing is not kept. */
export const forgetQueue = `
  delete from queue_limits where queue = @queue and max_claimed is null and paused = 0`;

/** @machine. */
export const selectMachine = `select 1 from machine_pauses where machine = @machine`;
/** @machine, @who. */
export const pauseMachine = `
  insert into machine_pauses (machine, paused_by, paused_at) values (@machine, @who, @now)
  on conflict (machine) do nothing`;
/** @machine. */
export const resumeMachine = `delete from machine_pauses where machine = @machine`;

/** @queue. */
export const selectOneQueue = `
  select queue, max_claimed, paused, paused_by, paused_at from queue_limits where queue = @queue`;
/** @queue, @count: who holds them, the most first. */
export const countByOwner = `
  select claimed_by as pod, count(*) as count from step_tracker
   where claimed_by is not null and pinned_to is null and queue = @queue
   group by claimed_by order by count(*) desc, claimed_by limit @count`;
/** @machine. */
export const selectPausedMachine = `
  select machine, paused_by, paused_at from machine_pauses where machine = @machine`;
/** @queue, @serial_key, @task: another that has the turn. */
export const selectOtherHolder = `
  select task_id as id, status from step_tracker
   where queue = @queue and serial_key = @serial_key and serial_held = 1 and task_id <> @task`;

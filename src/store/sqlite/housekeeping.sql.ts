/** Statements that end what can never run, and remove what ended long ago. */
import { isUnsent } from './archive-sink.sql.ts';

/**
 * @before, @count. Machines are skipped through by the index, so that the cost is the number of
 * machines that have open tasks, and not the number of tasks. What was redriven has its grace again.
 */
export const selectOfUnknownMachines = `
  with recursive open_machines (machine) as (
    select min(machine) from step_tracker where status in ('pending', 'waiting')
    union all
    select (select min(machine) from step_tracker
             where status in ('pending', 'waiting') and machine > open_machines.machine)
      from open_machines where machine is not null)
  select task.task_id from open_machines
    join step_tracker as task on task.machine = open_machines.machine
   where open_machines.machine not in (select machine from machine_registry)
     and task.status in ('pending', 'waiting') and task.created_at <= @before
     and task.paused = 0 and task.crashes < 2 and task.pinned_to is null
     and iif(task.status = 'waiting', task.wait_for <> 'turn', task.run_at <= @before)
   limit @count`;

/** @count. The condition is that of the index, word for word; there is hardly ever a row in it. */
export const selectMalformed = `
  select task_id from step_tracker
   where status in ('pending', 'waiting') and not (
    (length(task_id) = 26 and task_id glob '[0-7]*' and task_id not glob '*[^0-9A-HJKMNP-TV-Z]*')
    or (task_id glob '????????-????-????-????-????????????'
      and replace(task_id, '-', '') not glob '*[^0-9a-f]*'
      and length(replace(task_id, '-', '')) = 32))
   limit @count`;

/**
 * @now, @before, @count. Where a live pod has the route, that pod claims the task and ends it itself;
 * unless it may not: a task that is pinned, paused or a suspect is ended here all the same, later.
 */
export const selectPastDeadline = `
  select task_id from step_tracker
   where deadline_at <= @now and status in ('pending', 'waiting')
     and (wait_for = 'host' or deadline_at < @before or route not in (
       select route.value from pod_health as pod, json_each(pod.routes) as route
        where pod.status in ('up', 'draining')))
   order by deadline_at limit @count`;

/** @before, @count: without those that keep their key. */
export const selectPrunable = `
  select task_id, finished_at from step_tracker as task
   where finished_at <= @before and key is null
     and not exists (select 1 from step_tracker as child where child.parent_id = task.task_id)
     and not exists (select 1 from step_tracker as follower
                      where follower.follows = task.task_id and follower.status = 'waiting'
                        and follower.wait_for = 'run')
     and not ${isUnsent}
   order by finished_at limit @count`;
/** @task, each: what belongs to a task goes before it. */
export const deleteEvents = `delete from run_events where task_id = @task`;
export const deleteSignals = `delete from signals where task_id = @task`;
export const deleteTask = `
  delete from step_tracker where task_id = @task and finished_at is not null`;

/** @now, @count. */
export const selectKeysExpired = `
  select task_id from step_tracker
   where key_until < @now and finished_at is not null limit @count`;
/** @now, @count. */
export const expireKeys = `
  update step_tracker set key = null, key_until = null where task_id in (${selectKeysExpired})`;

/** When the first key that outlives its task is free. */
export const selectFirstExpiry = `
  select min(key_until) as at from step_tracker where key_until is not null and key is not null`;

-- For people with a SQL prompt.

-- What is there, by machine and status, and for how many milliseconds the oldest has been due.
create view queue_now as
  select queue, machine, version, status, count(*) as tasks,
         min(run_at) as oldest_run_at,
         max(0, cast(round(unixepoch('subsec') * 1000) as integer) - min(run_at)) as oldest_waits_for
    from step_tracker
   where status in ('pending', 'waiting', 'claimed')
   group by queue, machine, version, status;

-- What will not go on by itself, or has not for a quarter of an hour, and why.
create view stuck_tasks as
  with live as (select pod_id, routes from pod_health where status in ('up', 'draining')),
       runnable as (
         select route.value as route from pod_health as pod, json_each(pod.routes) as route
          where pod.status = 'up'),
       long_ago as (select (unixepoch('subsec') - 900) * 1000 as at)
  select task_id, machine, version, status, run_at, claimed_by, last_update, crashes,
         case
           when paused = 1 then 'paused'
           when status = 'claimed' and claimed_by not in (select pod_id from live)
             then 'its owner is gone'
           when status = 'claimed' then 'claimed for a long time'
           when wait_for = 'host' then 'its host is gone'
           when wait_for = 'version' then 'no live pod can go on with its version'
           when route not in (select route from runnable) then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from step_tracker, long_ago
   where paused = 1 and status in ('pending', 'waiting')
      or status in ('pending', 'waiting') and run_at < long_ago.at
      or wait_for in ('host', 'version')
      or status = 'claimed' and last_update < long_ago.at
      or status = 'claimed' and claimed_by not in (select pod_id from live);

-- What failed for good and nobody has put aside.
create view dead_letters as
  select task_id, generation, machine, version, outcome, error, retry_count, crashes,
         created_at, finished_at, payload
    from step_tracker
   where status = 'failed' and discarded_at is null;

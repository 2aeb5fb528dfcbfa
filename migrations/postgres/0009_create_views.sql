-- For people with a SQL prompt.

-- What is there, by machine and status, and for how long the oldest has been due.
create view queue_now as
  select queue, machine, version, status, count(*) as tasks,
         min(run_at) as oldest_run_at,
         greatest(interval '0', now() - min(run_at)) as oldest_waits_for
    from step_tracker
   where status in ('pending', 'waiting', 'claimed')
   group by queue, machine, version, status;

-- What will not go on by itself, or has not for a quarter of an hour, and why.
create view stuck_tasks as
  select task_id, machine, version, status, run_at, claimed_by, last_update, crashes,
         case
           when paused then 'paused'
           when status = 'claimed' and not exists (
             select 1 from pod_health pod
              where pod.pod_id = claimed_by and pod.status in ('up', 'draining'))
             then 'its owner is gone'
           when status = 'claimed' then 'claimed for a long time'
           when wait_for = 'host' then 'its host is gone'
           when wait_for = 'version' then 'no live pod can go on with its version'
           when not exists (
             select 1 from pod_health pod where pod.status = 'up' and route = any (pod.routes))
             then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from step_tracker
   where paused and status in ('pending', 'waiting')
      or status in ('pending', 'waiting') and run_at < now() - interval '15 minutes'
      or wait_for in ('host', 'version')
      or status = 'claimed' and last_update < now() - interval '15 minutes'
      or status = 'claimed' and not exists (
           select 1 from pod_health pod
            where pod.pod_id = claimed_by and pod.status in ('up', 'draining'));

-- What failed for good and nobody has put aside.
create view dead_letters as
  select task_id, generation, machine, version, outcome, error, retry_count, crashes,
         created_at, finished_at, payload
    from step_tracker
   where status = 'failed' and discarded_at is null;

-- A task whose texts are sealed with a key that a pod has not got waits for one that has: a word more for
-- what a task may wait for. Old pods may keep running: they take such a task when it is due, as any other.
alter table step_tracker drop constraint wait_for_is_known;
-- Not validated: every row that is there keeps the narrower rule, and reading them all would hold up the
-- fleet.
alter table step_tracker add constraint wait_for_is_known
  check (wait_for in ('time', 'retry', 'sleep', 'signal', 'children', 'run', 'throttle', 'turn', 'host',
                      'version', 'key')) not valid;

create or replace view stuck_tasks as
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
           when wait_for = 'key' then 'the pod that looked last has no key for it'
           when not exists (
             select 1 from pod_health pod where pod.status = 'up' and route = any (pod.routes))
             then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from step_tracker
   where paused and status in ('pending', 'waiting')
      or status in ('pending', 'waiting') and run_at < now() - interval '15 minutes'
      or wait_for in ('host', 'version', 'key')
      or status = 'claimed' and last_update < now() - interval '15 minutes'
      or status = 'claimed' and not exists (
           select 1 from pod_health pod
            where pod.pod_id = claimed_by and pod.status in ('up', 'draining'));

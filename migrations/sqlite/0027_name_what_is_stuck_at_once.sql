-- A due task that no pod can run is stuck from its first moment, and was named after a quarter of an hour.
-- A newer version that is up may go on with it, and where no pod is up at all it is not for want of a
-- machine that nothing goes on: such tasks are named later, as before. Old processes may keep running.
drop view stuck_tasks;
create view stuck_tasks as
  with live as (select pod_id, routes from pod_health where status in ('up', 'draining')),
       runnable as (
         select distinct route.value as route from pod_health as pod, json_each(pod.routes) as route
          where pod.status = 'up'),
       times as (
         select unixepoch('subsec') * 1000 as now, (unixepoch('subsec') - 900) * 1000 as long_ago),
       open as (
         select step_tracker.*, times.long_ago,
                exists (select 1 from runnable) and status <> 'claimed' and run_at <= times.now
                  and pinned_to is null and coalesce(wait_for, '') not in ('turn', 'run')
                  and route not in (select route from runnable)
                  and not exists (
                    select 1 from runnable as newer
                     where substr(newer.route, 1, length(machine) + 1) = machine || '@'
                       and substr(newer.route, length(machine) + 2) not glob '*[^0-9]*'
                       and cast(substr(newer.route, length(machine) + 2) as integer) > version)
                  as is_strange
           from step_tracker, times where status in ('pending', 'waiting', 'claimed'))
  select task_id, machine, version, status, run_at, claimed_by, last_update, crashes,
         case
           when paused = 1 then 'paused'
           when status = 'claimed' and claimed_by not in (select pod_id from live)
             then 'its owner is gone'
           when status = 'claimed' then 'claimed for a long time'
           when wait_for = 'host' then 'its host is gone'
           when wait_for = 'version' then 'no live pod can go on with its version'
           when wait_for = 'key' then 'the pod that looked last has no key for it'
           when is_strange and machine not in (select machine from machine_registry)
             then 'no pod ever had its machine'
           when route not in (select route from runnable) then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from open
   where paused = 1 and status <> 'claimed'
      or status <> 'claimed' and run_at < long_ago
      or wait_for in ('host', 'version', 'key')
      or is_strange
      or status = 'claimed' and last_update < long_ago
      or status = 'claimed' and claimed_by not in (select pod_id from live);

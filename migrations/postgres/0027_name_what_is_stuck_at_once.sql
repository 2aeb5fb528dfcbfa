-- A due task that no pod can run is stuck from its first moment, and was named after a quarter of an hour.
-- A newer version that is up may go on with it, and where no pod is up at all it is not for want of a
-- machine that nothing goes on: such tasks are named later, as before. Old pods may keep running.
create or replace view stuck_tasks as
  with runnable as materialized (
    select distinct unnest(routes) as route from pod_health where status = 'up'),
  newest as materialized (
    select regexp_replace(route, '@[^@]*$', '') as machine,
           max(regexp_replace(route, '^.*@', '')::numeric) as version
      from runnable where route ~ '@[0-9]+$' group by 1),
  open as (
    select task_id, machine, version, route, status, wait_for, run_at, claimed_by, last_update, crashes,
           paused,
           exists (select 1 from runnable) and status <> 'claimed' and run_at <= now()
             and pinned_to is null and coalesce(wait_for, '') not in ('turn', 'run')
             and route not in (select route from runnable)
             and not exists (select 1 from newest
                              where newest.machine = step_tracker.machine
                                and newest.version > step_tracker.version) as is_strange
      from step_tracker where status in ('pending', 'waiting', 'claimed'))
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
           when is_strange and machine not in (select machine from machine_registry)
             then 'no pod ever had its machine'
           when route not in (select route from runnable) then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from open
   where paused and status <> 'claimed'
      or status <> 'claimed' and run_at < now() - interval '15 minutes'
      or wait_for in ('host', 'version', 'key')
      or is_strange
      or status = 'claimed' and last_update < now() - interval '15 minutes'
      or status = 'claimed' and not exists (
           select 1 from pod_health pod
            where pod.pod_id = claimed_by and pod.status in ('up', 'draining'));

-- A task whose texts are sealed with a key that a pod has not got waits for one that has: a word more for
-- what a task may wait for. A CHECK that has no name cannot be dropped, so it is rewritten in the schema,
-- which changes no row. Old processes may keep running: they take such a task when it is due, as any other.
pragma writable_schema = on;
update sqlite_schema
   set sql = replace(sql, '''host'', ''version'')', '''host'', ''version'', ''key'')')
 where type = 'table' and name = 'step_tracker';
pragma writable_schema = reset;

drop view stuck_tasks;
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
           when wait_for = 'key' then 'the pod that looked last has no key for it'
           when route not in (select route from runnable) then 'no live pod can run it'
           when crashes >= 2 then 'suspected of killing its process'
           else 'due for a long time'
         end as reason
    from step_tracker, long_ago
   where paused = 1 and status in ('pending', 'waiting')
      or status in ('pending', 'waiting') and run_at < long_ago.at
      or wait_for in ('host', 'version', 'key')
      or status = 'claimed' and last_update < long_ago.at
      or status = 'claimed' and claimed_by not in (select pod_id from live);

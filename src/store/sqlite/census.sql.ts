/** Statements of the census: each walks the index that its WHERE is that of, and ends at its limit. */
import { CENSUS_PRIORITIES_MAX, CENSUS_ROUTES_MAX } from '../census.ts';

const READY = `route = @route and status = 'pending' and paused = 0 and pinned_to is null
       and crashes < 2`;
const DUE = `route = @route and status = 'waiting' and paused = 0 and pinned_to is null
       and crashes < 2 and wait_for <> 'turn'`;
const SUSPECT = `route = @route and crashes >= 2 and status in ('pending', 'waiting') and paused = 0
       and pinned_to is null and wait_for is not 'turn'`;

export const selectCensusRoutes = `
  select route, machine, exists (
           select 1 from pod_health as pod, json_each(pod.routes) as live
            where pod.status = 'up' and live.value = machine_registry.route) as is_live
    from machine_registry order by route limit ${CENSUS_ROUTES_MAX}`;

/** By hops from priority to priority, and within each from queue to queue, where the first is due first. */
const firstReady = `(
    with recursive level (priority) as (
      select max(priority) from step_tracker where ${READY}
      union all
      select (select max(priority) from step_tracker where ${READY} and priority < level.priority)
        from level where level.priority is not null
       limit ${CENSUS_PRIORITIES_MAX}),
    place (priority, queue) as (
      select priority, (select min(queue) from step_tracker
                         where ${READY} and priority = level.priority)
        from level where priority is not null
      union all
      select place.priority, (select min(queue) from step_tracker
                               where ${READY} and priority = place.priority and queue > place.queue)
        from place where place.queue is not null
       limit ${CENSUS_PRIORITIES_MAX})
    select min((select run_at from step_tracker
                 where ${READY} and priority = place.priority and step_tracker.queue = place.queue
                 order by run_at, task_id limit 1))
      from place where queue is not null)`;

function countOf(where: string): string {
  return `(select count(*) from (select 1 from step_tracker where ${where} limit @count))`;
}
function firstOf(where: string): string {
  return `(select run_at from step_tracker where ${where} order by run_at, task_id limit 1)`;
}

/** @route, @count. */
export const selectRouteCensus = `
  select ${countOf(READY)} as pending, ${countOf(SUSPECT)} as suspect,
         ${firstReady} as ready_at, ${firstOf(DUE)} as due_at, ${firstOf(SUSPECT)} as suspect_at`;

/** @route, @count. */
export const countWaits = `
  select wait_for as reason, count(*) as count from (
    select wait_for from step_tracker where ${DUE} order by run_at, task_id limit @count)
   group by wait_for order by wait_for`;

function byMachine(where: string, order: string): string {
  return `
  select machine, count(*) as count
    from (select machine from step_tracker where ${where} order by ${order} limit @count)
   group by machine order by machine`;
}
/** @count. */
export const countClaimed = byMachine('claimed_by is not null', 'claimed_by, task_id');
/** @count. */
export const countDeadLetters = byMachine(
  `status = 'failed' and discarded_at is null`,
  'created_at, task_id',
);

/** @now, @silent_ms, @count. Owners by hops over the index: as many as there are, not tasks. */
export const selectOrphans = `
  with recursive owners (owner) as (
    select * from (select claimed_by from step_tracker where claimed_by is not null
                    order by claimed_by limit 1)
    union all
    select (select claimed_by from step_tracker where claimed_by > owner order by claimed_by limit 1)
      from owners where owner is not null),
  orphaned as (
    select owner, last_heartbeat from owners left join pod_health as pod on pod.pod_id = owner
     where owner is not null and (pod.pod_id is null or pod.status in ('dead', 'down')
       or pod.last_heartbeat < @now - coalesce(pod.silent_ms, @silent_ms)))
  select (select count(*) from (
            select 1 from step_tracker where claimed_by = owner limit @count)) as count,
         coalesce(last_heartbeat, (
            select last_update from step_tracker where claimed_by = owner
             order by task_id limit 1)) as since
    from orphaned`;

/** @count. Queues that people have given a rule; claimed ones by the index of owners. */
export const selectRuledQueues = `
  select queue, max_claimed, paused, (
      select count(*) from step_tracker task
       where task.claimed_by is not null and task.pinned_to is null
         and task.queue = queue_limits.queue) as claimed
    from queue_limits order by queue limit @count`;

/** When the first tick of an active schedule is due. */
export const selectNextTick = `select min(next_at) as at from schedule where status = 'active'`;

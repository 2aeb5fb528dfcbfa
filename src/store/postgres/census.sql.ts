/**
 * The census as one statement. Each head is written, and ordered, as its index is: so each count ends
 * where its limit does, whatever the planner believes of the table.
 */
import { CENSUS_PRIORITIES_MAX, CENSUS_QUEUES_MAX, CENSUS_ROUTES_MAX } from '../census.ts';
import { owners, silenceOf } from './pod-health.sql.ts';
import { READY as IS_READY, urgency } from './ready-head.sql.ts';
import { sql } from './sql.ts';
import { ENDED_ORDER, endedBefore, firstKeyUntil, mayGo } from './step-tracker-sweep.sql.ts';

const READY = sql`route = known.route and ${IS_READY}`;
const READY_ORDER = `${urgency}, queue, run_at, task_id`;
const DUE = sql`route = known.route and status = 'waiting' and wait_for <> 'turn' and not paused
         and crashes < 2 and pinned_to is null`;
const SUSPECT = sql`route = known.route and status in ('pending', 'waiting')
         and wait_for is distinct from 'turn' and not paused and crashes >= 2 and pinned_to is null`;
const ORDER = 'run_at, task_id';

function countOf(where: string, order: string): string {
  return sql`(select count(*) from (
        select 1 from step_tracker where ${where} order by ${order} limit $1) head)`;
}

const waits = sql`(select json_object_agg(wait_for, count) from (
        select wait_for, count(*) as count from (
          select wait_for from step_tracker where ${DUE} order by ${ORDER} limit $1) head
         group by wait_for) counted)`;

function firstOf(where: string): string {
  return sql`(select run_at from step_tracker where ${where} order by ${ORDER} limit 1)`;
}

/** By hops from place to place, a queue at one priority: the first of each is the first that is due there. */
const firstReady = sql`(
      with recursive hop (urgency, queue, run_at) as (
        (select ${urgency}, queue, run_at from step_tracker
          where ${READY} order by ${READY_ORDER} limit 1)
        union all
        select next.urgency, next.queue, next.run_at from hop cross join lateral (
          select ${urgency} as urgency, queue, run_at from step_tracker
           where ${READY} and (${urgency}, step_tracker.queue) > (hop.urgency, hop.queue)
           order by ${READY_ORDER} limit 1) next)
      select min(run_at) from (select run_at from hop limit ${CENSUS_PRIORITIES_MAX}) few)`;

function agoOf(time: string): string {
  return sql`((extract(epoch from clock_timestamp()) - extract(epoch from ${time})) * 1000)::float8`;
}

const routes = sql`
  select json_agg(json_build_object(
           'route', known.route, 'machine', known.machine, 'isLive', live.is_live,
           'pending', ${countOf(READY, READY_ORDER)},
           'waits', coalesce(${waits}, '{}'::json),
           'suspect', ${countOf(SUSPECT, ORDER)},
           'oldestMs', ${agoOf('first.at')}) order by known.route)
    from (select route, machine from machine_registry
           order by route limit ${CENSUS_ROUTES_MAX}) known
   cross join lateral (
     select exists (select 1 from pod_health pod
                     where pod.status = 'up' and known.route = any (pod.routes)) as is_live) live
   cross join lateral (
     select least(${firstReady}, ${firstOf(DUE)}, ${firstOf(SUSPECT)}) as at) first`;

function byMachine(where: string, order: string): string {
  return sql`
  select json_agg(json_build_object('machine', machine, 'count', count)
                  order by machine collate "C")
    from (select machine, count(*) as count
            from (select machine from step_tracker where ${where} order by ${order} limit $1) few
           group by machine) counted`;
}

/** Claimed ones by the index of owners, once for all queues: as many as are claimed at all. */
const queues = sql`
  select json_agg(json_build_object(
           'queue', ruled.queue, 'limit', ruled.max_claimed, 'isPaused', ruled.paused,
           'claimed', coalesce(held.claimed, 0)) order by ruled.queue collate "C")
    from (select queue, max_claimed, paused from queue_limits
           order by queue limit ${CENSUS_QUEUES_MAX}) ruled
    left join (
      select queue, count(*) as claimed from step_tracker
       where claimed_by is not null and pinned_to is null
         and exists (select 1 from queue_limits)
       group by queue) held on held.queue = ruled.queue`;

/** Where a hundred older ones have to stay, there is none. */
const oldestEnded = sql`
  select ${agoOf('task.finished_at')} from (
    select task_id, finished_at, last_update from step_tracker
     where ${endedBefore('0')} order by ${ENDED_ORDER} limit 100) task
   where ${mayGo} order by task.finished_at limit 1`;

/** $1 the bound of each count, $2 silence in ms of a pod that gave none. */
export const selectCensus = sql`
  with recursive ${owners},
  orphaned as materialized (
    select owners.owner, pod.last_heartbeat
      from owners left join pod_health pod on pod.pod_id = owners.owner
     where owners.owner is not null
       and (pod.pod_id is null or pod.status in ('dead', 'down')
            or pod.last_heartbeat < clock_timestamp() - ${silenceOf('$2::float8')})),
  orphans as (
    select sum(held.count) as count, max(${agoOf('coalesce(last_heartbeat, held.at)')}) as oldest_ms
      from orphaned cross join lateral (
        select count(*) as count, min(last_update) as at from (
          select last_update from step_tracker
           where claimed_by = orphaned.owner order by task_id limit $1) few) held)
  select (${routes}) as routes,
         (${byMachine('claimed_by is not null', 'claimed_by, task_id')}) as claimed,
         (${byMachine(`status = 'failed' and discarded_at is null`, 'task_id')}) as dead_letters,
         coalesce(orphans.count, 0)::int as orphans, orphans.oldest_ms,
         (${queues}) as queues,
         (select ${agoOf('min(next_at)')} from schedule where status = 'active') as late_ms,
         (${oldestEnded}) as ended_ms,
         ${agoOf(firstKeyUntil)} as keys_ms
    from orphans`;

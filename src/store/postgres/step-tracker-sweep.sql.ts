/** Statements on step_tracker that clear up: after dead pods, after mistakes, and after years. */
import { COUNT_MAX } from '../bounds.ts';
import { CRASHES_MAX, RECOVERY_PREFIX, SUSPECT_CRASHES } from '../words.ts';
import { isUnsent } from './archive-sink.sql.ts';
import { isFollowed } from './followers.sql.ts';
import { hasRecords, hasToldItsEnd } from './run-events.sql.ts';
import { ended, fenceOf, keyUntil, nextEpoch, onceFound, raised, spanOf, sql } from './sql.ts';
import { claimedColumns } from './step-tracker-claim.sql.ts';
import { cancelledError } from './step-tracker-settle.sql.ts';

const wasInside = sql`($4::boolean or task.task_id = any ($5::text[]))`;
/**
 * A run that belongs to a host is that host's affair, however often it dies. And a pod that ended by
 * its own word has crashed in nothing.
 */
const isCounted = sql`(task.pinned_to is null and not gone.left_itself and ${wasInside})`;
const crashes = sql`least(task.crashes + case when ${isCounted} then 1 else 0 end, ${COUNT_MAX})`;
const isTold = hasToldItsEnd('task');
const isCancelled = sql`(task.control = 'cancel' and not ${isTold}) is true`;
const isLoop = sql`(${isCounted} and task.crashes + 1 >= ${CRASHES_MAX} and not ${isTold})`;
/** Not gone on with, whoever takes it. One that has told its end has nothing left to be paused. */
const isPaused = sql`(task.control = 'pause' and not ${isTold}) is true`;
/** Of what is paused nobody could tell whether a phase was open: `check` is asked once it goes on. */
const isCut = sql`(not gone.left_itself and ($6::boolean or ${wasInside} or ${isPaused}))`;
/** That an earlier owner was cut off is for the next one to say, unless the last one has. */
const interrupted = sql`
  case when ${isCut} then 'cut' when not gone.left_itself then task.interrupted
       when task.interrupted = 'cut' and not ${hasRecords('task')} then 'cut' else 'left' end`;
const isOrphan = sql`starts_with(task.machine, '${RECOVERY_PREFIX}')`;

/** Where the task goes. A recovery is its leader's own: the next one starts afresh. */
const TO = {
  pool: sql`
    case when ${isCancelled} or ${isOrphan} then 'cancelled' when ${isLoop} then 'failed'
         when task.pinned_to is not null then 'waiting' else 'pending' end`,
  taker: sql`
    case when ${isCancelled} then 'cancelled' when ${isLoop} then 'failed'
         when ${crashes} >= ${SUSPECT_CRASHES} or ${isPaused} then 'pending'
         else 'claimed' end`,
} as const;

function takeTo(to: keyof typeof TO): string {
  const status = TO[to];
  const hasEnded = sql`(${status}) in ${ended}`;
  const isKept = sql`(${status}) = 'claimed'`;
  const isHosted = sql`(${status}) = 'waiting'`;
  const orphaned = to === 'pool' ? sql`when ${isOrphan} then $9` : '';
  return sql`
  with ${to === 'taker' ? `${fenceOf(`'up'`)},` : ''}
  gone as materialized (
    select coalesce((select dead_by from pod_health where pod_id = $2) = $2, false) as left_itself
     where not exists (
       select 1 from pod_health where pod_id = $2 and status in ('up', 'draining'))
       ${to === 'taker' ? 'and exists (select 1 from fence)' : ''}),
  left_behind as materialized (
    select task_id, claim_epoch, run_at from step_tracker
     where claimed_by = $2 and exists (select 1 from gone)
       and (not $10::boolean or control = 'pause')
     order by task_id limit $3 for update skip locked)
  update step_tracker task
     set status = ${status},
         wait_for = case when ${isHosted} then 'host' end,
         run_at = case (${status})
           when 'pending' then clock_timestamp() + random() * ${spanOf('$7::float8')}
           when 'waiting' then clock_timestamp() else task.run_at end,
         deadline_at = case when ${isHosted}
           then coalesce(task.deadline_at, clock_timestamp() + interval '24 hours')
           else task.deadline_at end,
         outcome = case when ${isLoop} and (${status}) = 'failed' then 'crashLoop'
           when ${hasEnded} then 'cancelled' end,
         error = case when ${isCancelled} then ${cancelledError} ${orphaned}
           when ${isLoop} then $8 end,
         finished_at = case when ${hasEnded} then clock_timestamp() end,
         key_until = case when ${hasEnded} and task.key is not null
           then ${keyUntil('task.key_ms')} end,
         serial_held = task.serial_held and not ${hasEnded},
         crashes = ${crashes},
         interrupted = ${interrupted},
         cut_epoch = case when ${isCut} then task.claim_epoch else task.cut_epoch end,
         claim_epoch = ${to === 'taker' ? nextEpoch : raised('task.claim_epoch')},
         claimed_by = case when ${isKept} then $1 end,
         claimed_at = case when ${isKept} then clock_timestamp() end,
         claim_token = null,
         paused = task.paused or (${isPaused} and not ${hasEnded}),
         control = case when ${isKept} then task.control end,
         control_reason = case when ${isKept} then task.control_reason end,
         last_update = clock_timestamp()
    from left_behind, gone
   where task.task_id = left_behind.task_id and ${onceFound('task.claimed_by = $2')}
  returning ${claimedColumns(to === 'pool' ? undefined : '$9::int', 'left_behind.run_at')},
    task.status, task.queue, task.serial_key, task.outcome, task.error,
    left_behind.claim_epoch as previous_epoch`;
}

/**
 * $1 who takes, $2 from whom, $3 count; whose crash counts: $4 all, or $5 these, $6 nobody's;
 * $7 spread in ms; errors: $8 of a crash loop, $9 (pool) of a recovery without its leader; $9
 * (taker) the largest payload in bytes: the pool gets none, for nobody runs them yet; $10 whether
 * only what was asked to pause is taken. Nothing
 * is moved while the pod is up or draining; rows that somebody else is moving are passed over.
 * What was interrupted before and never settled since stays so: nobody has looked after it. What
 * has ended by its own records is not ended here: whoever gets it next says how.
 */
export const takeTasks = { pool: takeTo('pool'), taker: takeTo('taker') } as const;

/** Routes with tasks that could be claimed, by hops over an index: as many as there are routes. */
function routesOf(name: string, where: string): string {
  return sql`
  ${name} (route) as (
    (select route from step_tracker where ${where} order by route limit 1)
    union all
    select (select next.route from step_tracker next
             where ${where} and next.route > ${name}.route order by next.route limit 1)
      from ${name} where ${name}.route is not null)`;
}
const ready = sql`status = 'pending' and not paused and crashes < 2 and pinned_to is null`;
const due = sql`
  status = 'waiting' and wait_for <> 'turn' and not paused and crashes < 2 and pinned_to is null`;

function strangersOf(where: string): string {
  return sql`
    select found.task_id, 2 as why from strange cross join lateral (
      select task_id from step_tracker
       where route = strange.route and ${where}
         and created_at < clock_timestamp() - ${spanOf('$1::float8')} limit $2) found`;
}

/**
 * Neither a ULID nor a lower-case UUID: what TASK_ID_PATTERN says, word for word as the index has it. One
 * pattern for all of it costs five times as much, for every row that comes in.
 */
export const isMalformed = sql`
  case octet_length(task_id)
    when 26 then task_id >= '8' or task_id ~ '[^0-9A-HJKMNP-TV-Z]'
    when 36 then task_id not like '________-____-____-____-____________'
              or octet_length(replace(task_id, '-', '')) <> 32 or task_id ~ '[^0-9a-f-]'
    else true
  end`;

/**
 * $1 grace in ms, $2 count. A live pod claims what has passed its deadline and ends it itself; unless
 * it may not, for the task is pinned, paused or a suspect: then it is hopeless after the grace.
 */
const hopeless = sql`
  with recursive ${routesOf('ready_route', ready)}, ${routesOf('due_route', due)},
  strange as (
    select route from (select route from ready_route union select route from due_route) found
     where route is not null and not exists (
       select 1 from machine_registry
        where machine = regexp_replace(found.route, '@[^@]*$', ''))),
  hopeless as materialized (
    (select task_id, 1 as why from step_tracker
      where status in ('pending', 'waiting') and ${isMalformed} limit $2)
    union all (${strangersOf(sql`${ready} and run_at < now() - ${spanOf('$1::float8')}`)} limit $2)
    union all (${strangersOf(due)} limit $2)
    union all
    (select task_id, 3 from step_tracker
      where status in ('pending', 'waiting') and deadline_at is not null and deadline_at < now()
        and (wait_for = 'host' or deadline_at < now() - ${spanOf('$1::float8')} or not exists (
          select 1 from pod_health pod
           where pod.status in ('up', 'draining') and step_tracker.route = any (pod.routes)))
      order by deadline_at limit $2))`;

/**
 * $1 grace in ms, $2 count, $3 errors of: a malformed id, an unknown machine, a passed deadline.
 * Answers ids.
 */
export const failHopelessTasks = sql`
  ${hopeless},
  chosen as materialized (
    select task_id, min(why) as why from hopeless group by task_id order by task_id limit $2)
  update step_tracker task
     set status = 'failed', wait_for = null, waiting_on = null,
         outcome = case when chosen.why = 3 then 'timedOut' else 'aborted' end,
         error = ($3::text[])[chosen.why], finished_at = clock_timestamp(),
         key_until = case when key is not null
           then ${keyUntil('key_ms')} end,
         serial_held = false, control = null, claim_epoch = ${raised('claim_epoch')},
         last_update = clock_timestamp()
    from chosen
   where task.task_id = chosen.task_id
     and ${onceFound(sql`task.status in ('pending', 'waiting')`)}
  returning task.task_id, task.queue, task.serial_key`;

/** $1 grace in ms, $2 how many to look for. Answers ids, and changes nothing. */
export const selectHasHopeless = sql`${hopeless} select task_id from hopeless limit $2`;

/** $1 age in ms: whether anything is there that `clearKeys`, `deleteEnded` or `deletePods` would take. */
export const selectHasOld = sql`
  select exists (
      select 1 from step_tracker
       where key is not null and key_until is not null and key_until < now())
    or exists (
      select 1 from step_tracker task
       where finished_at is not null and finished_at < clock_timestamp() - ${spanOf('$1::float8')}
         and (key is null or key_until < now())
         and not exists (select 1 from step_tracker child where child.parent_id = task.task_id)
         and not ${isFollowed} and not ${isUnsent('task')})
    or exists (
      select 1 from pod_health
       where status = 'down' and dead_at < clock_timestamp() - ${spanOf('$1::float8')}) as has_old`;

/** $1 count. A key that has outlived its task stands for nothing any more. */
export const clearKeys = sql`
  update step_tracker task set key = null, key_until = null
    from (select task_id from step_tracker
           where key is not null and key_until is not null and key_until < now()
           order by key_until limit $1 for update skip locked) expired
   where task.task_id = expired.task_id`;

/** $1 age in ms, $2 count. With their history; never one that another task calls its parent or follows. */
export const deleteEnded = sql`
  with old as materialized (
    select task_id from step_tracker task
     where finished_at is not null and finished_at < clock_timestamp() - ${spanOf('$1::float8')}
       and (key is null or key_until < now()) and not ${isFollowed} and not ${isUnsent('task')}
       and not exists (select 1 from step_tracker child where child.parent_id = task.task_id)
     order by finished_at limit $2 for update skip locked),
  forgotten as (delete from run_events using old where run_events.task_id = old.task_id)
  delete from step_tracker using old where step_tracker.task_id = old.task_id
  returning step_tracker.task_id`;

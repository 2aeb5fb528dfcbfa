/** Statements on step_tracker that clear up: after dead pods, after mistakes, and after years. */
import { COUNT_MAX } from '../bounds.ts';
import { CRASHES_MAX, RECOVERY_PREFIX, SUSPECT_CRASHES } from '../words.ts';
import { isUnsent } from './archive-sink.sql.ts';
import { isFollowed } from './followers.sql.ts';
import { READY } from './ready-head.sql.ts';
import { hasRecords, hasToldItsEnd } from './run-events.sql.ts';
import { ended, fenceOf, keyUntil, nextEpoch, onceFound, raised, spanOf, sql } from './sql.ts';
import { claimedColumns } from './step-tracker-claim.sql.ts';
import { cancelledError } from './step-tracker-settle.sql.ts';

/** Where the task goes. A recovery is its leader's own: the next one starts afresh. */
const TO = {
  pool: sql`
    case when is_cancelled or is_orphan then 'cancelled' when is_loop then 'failed'
         when pinned_to is not null then 'waiting' else 'pending' end`,
  taker: sql`
    case when is_cancelled then 'cancelled' when is_loop then 'failed'
         when crashes_now >= ${SUSPECT_CRASHES} or is_paused then 'pending'
         else 'claimed' end`,
} as const;

/**
 * What is found of each row is found once: who was inside a phase, and what its records tell. The rows are
 * locked by then.
 *
 *   left_behind ──▶ found ──▶ counted ──▶ judged ──▶ moved, with its status
 *
 * A run that belongs to a host is that host's affair, however often it dies, and a pod that ended by itself
 * has crashed in nothing. A task whose records tell its end has nothing left to be cancelled or paused. Of
 * what is paused nobody could tell whether a phase was open: `check` is asked once it goes on. That an
 * earlier owner was cut off is for the next one to say, unless the last one has.
 */
const judged = sql`
  found as materialized (
    select task.*, gone.left_itself,
           ($4::boolean or task.task_id in (select unnest($5::text[]))) as was_inside,
           ${hasToldItsEnd('task')} as has_told_its_end,
           task.interrupted = 'cut' and not ${hasRecords('task')} as is_still_cut
      from left_behind task cross join gone),
  counted as materialized (
    select *, pinned_to is null and not left_itself and was_inside as is_counted,
           (control = 'cancel' and not has_told_its_end) is true as is_cancelled,
           (control = 'pause' and not has_told_its_end) is true as is_paused,
           starts_with(machine, '${RECOVERY_PREFIX}') as is_orphan
      from found),
  judged as materialized (
    select *, is_counted and crashes + 1 >= ${CRASHES_MAX} and not has_told_its_end as is_loop,
           least(crashes + is_counted::int, ${COUNT_MAX}) as crashes_now,
           not left_itself and ($6::boolean or was_inside or is_paused) as is_cut
      from counted)`;

/** By the index of what a pod holds, which has the ids: each is found by itself, however much it holds. */
const ofTheseClaims = sql`
       and task_id = any ($11::text[])
       and (task_id, claim_epoch) in (select * from unnest($11::text[], $12::bigint[]))`;

function takeTo(to: keyof typeof TO, isOfThese = false): string {
  const orphaned = to === 'pool' ? 'when moved.is_orphan then $9' : '';
  return sql`
  with ${to === 'taker' ? `${fenceOf(`'up'`)},` : ''}
  gone as materialized (
    select coalesce((select dead_by from pod_health where pod_id = $2) = $2, false) as left_itself
     where not exists (
       select 1 from pod_health where pod_id = $2 and status in ('up', 'draining'))
       ${to === 'taker' ? 'and exists (select 1 from fence)' : ''}),
  left_behind as materialized (
    select task_id, generation, machine, claim_epoch, run_at, pinned_to, crashes, control, interrupted
      from step_tracker
     where claimed_by = $2 and exists (select 1 from gone)
       and case $10::text when 'paused' then control = 'pause'
             when 'free' then pinned_to is null else true end
       ${isOfThese ? ofTheseClaims : ''}
     order by task_id limit $3 for update skip locked),
  ${judged},
  placed as materialized (select *, ${TO[to]} as goes_to from judged),
  moved as materialized (select *, goes_to in ${ended} as has_ended from placed)
  update step_tracker task
     set status = moved.goes_to,
         wait_for = case when moved.goes_to = 'waiting' then 'host' end,
         run_at = case moved.goes_to
           when 'pending' then clock_timestamp() + random() * ${spanOf('$7::float8')}
           when 'waiting' then clock_timestamp() else task.run_at end,
         deadline_at = case when moved.goes_to = 'waiting'
           then coalesce(task.deadline_at, clock_timestamp() + interval '24 hours')
           else task.deadline_at end,
         outcome = case when moved.is_loop and moved.goes_to = 'failed' then 'crashLoop'
           when moved.has_ended then 'cancelled' end,
         error = case when moved.is_cancelled then ${cancelledError} ${orphaned}
           when moved.is_loop then $8 end,
         finished_at = case when moved.has_ended then clock_timestamp() end,
         key_until = case when moved.has_ended and task.key is not null
           then ${keyUntil('task.key_ms')} end,
         serial_held = task.serial_held and not moved.has_ended,
         crashes = moved.crashes_now,
         interrupted = case
           when moved.is_cut then 'cut' when not moved.left_itself then task.interrupted
           when moved.is_still_cut then 'cut' else 'left' end,
         cut_epoch = case when moved.is_cut then task.claim_epoch else task.cut_epoch end,
         claim_epoch = ${to === 'taker' ? nextEpoch : raised('task.claim_epoch')},
         claimed_by = case when moved.goes_to = 'claimed' then $1 end,
         claimed_at = case when moved.goes_to = 'claimed' then clock_timestamp() end,
         claim_token = null,
         paused = task.paused or (moved.is_paused and not moved.has_ended),
         control = case when moved.goes_to = 'claimed' then task.control end,
         control_reason = case when moved.goes_to = 'claimed' then task.control_reason end,
         last_update = clock_timestamp()
    from moved
   where task.task_id = moved.task_id and ${onceFound('task.claimed_by = $2')}
  returning ${claimedColumns(to === 'pool' ? undefined : '$9::int', 'moved.run_at')},
    task.status, task.serial_key, task.outcome, task.error,
    moved.claim_epoch as previous_epoch`;
}

/**
 * $1 who takes, $2 from whom, $3 count; whose crash counts: $4 all, or $5 these, $6 nobody's;
 * $7 spread in ms; errors: $8 of a crash loop, $9 (pool) of a recovery without its leader; $9
 * (taker) the largest payload in bytes: the pool gets none, for nobody runs them yet; $10 whether
 * only what was asked to pause (`paused`) or belongs to no host (`free`) is taken; $11 tasks and $12 epochs,
 * where only these claims are. Nothing is moved while the pod is up or draining; rows that somebody
 * else is moving are passed over. What was interrupted before and never settled since stays so:
 * nobody has looked after it. What has ended by its own records is not ended here: whoever gets it
 * next says how.
 */
export const takeTasks = {
  pool: { ofAll: takeTo('pool'), ofThese: takeTo('pool', true) },
  taker: { ofAll: takeTo('taker'), ofThese: takeTo('taker', true) },
} as const;

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
  with recursive ${routesOf('ready_route', READY)}, ${routesOf('due_route', due)},
  strange as (
    select route from (select route from ready_route union select route from due_route) found
     where route is not null and not exists (
       select 1 from machine_registry
        where machine = regexp_replace(found.route, '@[^@]*$', ''))),
  hopeless as materialized (
    (select task_id, 1 as why from step_tracker
      where status in ('pending', 'waiting') and ${isMalformed} limit $2)
    union all (${strangersOf(sql`${READY} and run_at < now() - ${spanOf('$1::float8')}`)} limit $2)
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

/**
 * Ended more than `ms` ago, by the index of those: a task that keeps its key is not in it, and one that
 * ended after the last that a sink has sent is not looked at. By `now()`: the clock itself would rule the
 * index out.
 */
export function endedBefore(ms: string): string {
  return sql`finished_at is not null and key is null
       and finished_at < now() - ${spanOf(ms)}
       and finished_at < (select coalesce(min(coalesce(sent_until, '-infinity')), 'infinity')
                            from archive_sink)`;
}

/** As no other index is, so that a planner that does not sort takes this one. */
export const ENDED_ORDER = 'key, finished_at';

/** No task calls it its parent or follows it, and every sink has sent it. */
export const mayGo = sql`not exists (
           select 1 from step_tracker child where child.parent_id = task.task_id offset 0)
         and not ${isFollowed} and not ${isUnsent('task')}`;

/** When the first key that outlives its task is free. */
export const firstKeyUntil = sql`(
    select key_until from step_tracker where key is not null and key_until is not null
     order by key_until limit 1)`;

/** So many that have to stay are looked at; where all of them have to, there may be others. */
const STAY_COUNT_MAX = 1_000;

/** $1 age in ms: whether anything is there that `clearKeys`, `deleteEnded` or `deletePods` would take. */
export const selectHasOld = sql`
  with few as materialized (
    select task_id, last_update from step_tracker
     where ${endedBefore('$1::float8')} order by ${ENDED_ORDER} limit ${STAY_COUNT_MAX})
  select ${firstKeyUntil} < now()
    or exists (select 1 from few task where ${mayGo})
    or (select count(*) from few) = ${STAY_COUNT_MAX}
    or exists (
      select 1 from pod_health
       where status = 'down' and dead_at < clock_timestamp() - ${spanOf('$1::float8')}) as has_old`;

/** $1 count. A key that has outlived its task stands for nothing any more. */
export const clearKeys = sql`
  update step_tracker task set key = null, key_until = null
    from (select task_id from step_tracker
           where key is not null and key_until is not null and key_until < now()
           order by key_until limit $1 for update skip locked) expired
   where task.task_id = expired.task_id
  returning task.task_id`;

/** $1 age in ms, $2 count. With their history; never one that another task calls its parent or follows. */
export const deleteEnded = sql`
  with old as materialized (
    select task_id from step_tracker task
     where ${endedBefore('$1::float8')} and ${mayGo}
     order by ${ENDED_ORDER} limit $2 for update skip locked),
  forgotten as (delete from run_events using old where run_events.task_id = old.task_id)
  delete from step_tracker using old where step_tracker.task_id = old.task_id
  returning step_tracker.task_id`;

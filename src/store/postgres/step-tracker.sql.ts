/** Statements on step_tracker by which tasks come in, are looked at, and are changed by people. */
import { SPAN_MS_MAX } from '../bounds.ts';
import { hasToldItsEnd } from './run-events.sql.ts';
import { ended, glanceColumns, isoOf, keyUntil, raised, spanOf, sql } from './sql.ts';

const latest = sql`timestamptz '9999-12-31 00:00:00+00'`;

/** $1 machines, $2 keys. Frees those whose time is over, so that they can be given again. */
export const freeKeys = sql`
  update step_tracker task set key = null, key_until = null
    from (select task_id from step_tracker
            join (select distinct machine, key
                    from unnest($1::text[], $2::text[]) as given (machine, key)) asked
           using (machine, key)
           where key is not null and status in ${ended} and key_until < now()
           order by task_id for update of step_tracker) expired
   where task.task_id = expired.task_id`;

/**
 * $1 ids, $2 machines, $3 versions, $4 queues, $5 priorities, $6 after ms, $7 at ms, $8 payloads,
 * $9 keys, $10 key lifetimes, $11 retries_max, $12 deadlines in ms, $13 trace parents. What is due
 * later waits for the time, outside the head of the queue.
 */
export const enqueueTasks = sql`
  insert into step_tracker
    (task_id, machine, version, queue, priority, run_at, status, wait_for, payload, key, key_ms,
     retries_max, deadline_at, trace_parent)
  select task_id, machine, version, queue, priority, due,
         case when due > now() then 'waiting' else 'pending' end,
         case when due > now() then 'time' end,
         payload, key, key_ms, retries_max,
         case when deadline_ms is not null
           then least(greatest(now(), due) + deadline_ms * interval '1 millisecond', ${latest}) end,
         trace_parent
    from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::int[], $6::float8[],
                $7::float8[], $8::text[], $9::text[], $10::bigint[], $11::int[], $12::float8[],
                $13::text[])
         as task (task_id, machine, version, queue, priority, after_ms, at_ms, payload, key, key_ms,
                  retries_max, deadline_ms, trace_parent),
         lateral (select coalesce(to_timestamp(at_ms / 1000),
                                  now() + after_ms * interval '1 millisecond') as due) when_due
  on conflict do nothing
  returning task_id, status`;

/** $1 ids. */
export const selectStandingById = sql`
  select task_id, status, payload from step_tracker where task_id = any ($1::text[])`;

/** $1 machines, $2 keys. */
export const selectStandingByKey = sql`
  select task_id, machine, key, status, payload
    from unnest($1::text[], $2::text[]) as asked (machine, key)
    join step_tracker using (machine, key)
   where key is not null`;

const columns = sql`${glanceColumns}, payload, result`;

/** $1 ids. */
export const selectTasks = sql`
  select ${columns} from step_tracker where task_id = any ($1::text[])`;

/**
 * $1 status, $2 machine, $3 owner, $4 before id, each or null; $5 count, $6 only those that have not
 * ended. Newest first.
 */
export const listTasks = sql`
  select ${columns} from step_tracker
   where ($1::text is null or status = $1) and ($2::text is null or machine = $2)
     and ($3::text is null or claimed_by = $3) and ($4::text is null or task_id < $4)
     and (not $6::bool or finished_at is null)
   order by task_id desc limit $5`;

/** The same, of what failed and nobody has discarded: written as its index is. */
export const listDeadLetters = sql`
  select ${columns} from step_tracker
   where status = 'failed' and discarded_at is null
     and ($1::text is null or status = $1) and ($2::text is null or machine = $2)
     and ($3::text is null or claimed_by = $3) and ($4::text is null or task_id < $4)
     and (not $6::bool or finished_at is null)
   order by task_id desc limit $5`;

/** What has not ended, by route. */
export const tallies = sql`
  route, machine, version,
  (count(*) filter (where status = 'pending'))::int as pending,
  (count(*) filter (where status = 'waiting'))::int as waiting,
  (count(*) filter (where status = 'claimed'))::int as claimed,
  (count(*) filter (where status <> 'claimed' and pinned_to is not null))::int as pinned,
  (count(*) filter (where status <> 'claimed' and pinned_to is null
                      and wait_for = 'version'))::int as shelved,
  (count(*) filter (where status <> 'claimed' and pinned_to is null
                      and wait_for is distinct from 'version' and crashes >= 2))::int as suspect`;
const byRoute = sql`group by route, machine, version order by route collate "C"`;
export const countInFlight = sql`
  select ${tallies} from step_tracker
   where status in ('pending', 'waiting', 'claimed') ${byRoute}`;

/**
 * $1 task, $2 reason, $3 error. One statement for both, so that a task which is claimed meanwhile is
 * asked rather than missed. The first who asks is remembered.
 */
export const cancelTask = sql`
  update step_tracker
     set status = case when status = 'claimed' then 'claimed' else 'cancelled' end,
         outcome = case when status <> 'claimed' then 'cancelled' end,
         error = case when status <> 'claimed' then $3 end,
         finished_at = case when status <> 'claimed' then clock_timestamp() end,
         key_until = case when status <> 'claimed' and key is not null
           then ${keyUntil('key_ms')} end,
         wait_for = null, waiting_on = null,
         serial_held = serial_held and status = 'claimed',
         claim_epoch = case when status = 'claimed' then claim_epoch
           else ${raised('claim_epoch')} end,
         control_reason = case when status <> 'claimed' then null
           when control = 'cancel' then control_reason else $2 end,
         last_update = case when status = 'claimed' and control = 'cancel' then last_update
           else clock_timestamp() end,
         control = case when status = 'claimed' then 'cancel' end
   where task_id = $1 and status in ('pending', 'waiting', 'claimed')
     and (status = 'claimed' or not ${hasToldItsEnd('step_tracker')})
  returning status`;

/** $1 task. */
export const selectStatus = sql`select status from step_tracker where task_id = $1`;

const due = sql`
  coalesce(to_timestamp($3::float8 / 1000), clock_timestamp() + ${spanOf('$2::float8')})`;

/** $1 task, $2 after ms, or $3 at ms. What is put off has as long as before once it is due. */
export const rescheduleTask = sql`
  update step_tracker
     set run_at = ${due},
         deadline_at = case when deadline_at is not null then least(${latest}, deadline_at
           + greatest(interval '0', ${due} - greatest(run_at, clock_timestamp()))) end,
         status = case when ${due} > clock_timestamp() then 'waiting' else 'pending' end,
         wait_for = case when ${due} > clock_timestamp() then coalesce(wait_for, 'time') end,
         last_update = clock_timestamp()
   where task_id = $1
     and (status = 'pending' or status = 'waiting' and wait_for in ('time', 'retry', 'sleep'))
  returning task_id`;

/**
 * $1 task, $2 the generation that was seen, $3 afresh. The old outcome goes into the history first,
 * for there is one for each generation, behind whatever was archived of it. The deadline is as far
 * away as it was when the old generation began, at its own redrive or when the task was made. A task
 * with a serial key waits for its turn again. A run of a host is in that host's journal, and ended.
 * Where nobody had begun the old generation, what that was to go on from still counts.
 */
export const redriveTask = sql`
  with old as materialized (
    select * from step_tracker
     where task_id = $1 and generation = $2 and status in ${ended} and pinned_to is null
       for update),
  begun as materialized (
    select max(at) as at from run_events
     where task_id = $1 and generation = $2 - 1 and state = 'outcome'),
  last as materialized (
    select greatest(old.last_seq, max(part.last_seq)) as seq
      from old left join run_events part
        on part.task_id = $1 and part.generation = $2 and part.epoch = old.claim_epoch
     group by old.last_seq),
  kept as (
    insert into run_events
      (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
    select task_id, generation, claim_epoch, last.seq + 1, last.seq + 1, coalesce(last_hash, ''),
           coalesce(last_hash, ''), 'outcome',
           json_build_array(json_build_object(
             'type', 'OUTCOME', 'status', status, 'outcome', outcome, 'error', error,
             'finishedAt', ${isoOf('finished_at')}))::text
      from old, last
    on conflict do nothing)
  update step_tracker task
     set generation = task.generation + 1, claim_epoch = ${raised('task.claim_epoch')},
         status = case when task.serial_key is null then 'pending' else 'waiting' end,
         wait_for = case when task.serial_key is not null then 'turn' end,
         run_at = clock_timestamp(), retry_count = 0, crashes = 0, interrupted = null,
         outcome = null, result = null, error = null, finished_at = null, discarded_at = null,
         key_until = null, control = null, control_reason = null, paused = false,
         last_seq = -1, last_hash = null,
         carry_from = case when $3::boolean then null
           when task.last_seq < 0 and not exists (
             select 1 from run_events part where part.task_id = $1 and part.generation = $2)
           then task.carry_from
           else task.generation end,
         key_generation = task.key_generation + case when $3::boolean then 1 else 0 end,
         deadline_at = case when task.deadline_at is not null
           then clock_timestamp() + ${spanOf(sql`
             least(extract(epoch from task.deadline_at)
               - extract(epoch from coalesce(begun.at, task.created_at)), ${SPAN_MS_MAX / 1_000})
             * 1000`)} end,
         last_update = clock_timestamp()
    from old, begun
   where task.task_id = old.task_id
  returning task.generation`;

/** $1 task, $2 the generation that was seen. */
export const discardTask = sql`
  update step_tracker set discarded_at = coalesce(discarded_at, clock_timestamp())
   where task_id = $1 and generation = $2 and status = 'failed'
  returning task_id`;

/** The statement by which an owner lets go of tasks, each with the rest of its history. */
import { COUNT_MAX } from '../bounds.ts';
import { isFollowed } from './followers.sql.ts';
import { extendOrRefuse } from './run-events.sql.ts';
import { ended, fenceOf, keyUntil, onceFound, raised, sql } from './sql.ts';

/** What a person said when asking for the end, as the error of the task. */
export const cancelledError = sql`
  json_build_object('code', 'FLEETQ_CANCELLED',
    'message', coalesce(task.control_reason, 'it was asked for'))::text`;

const isParked = sql`leaving.goes_to in ('pending', 'waiting')`;
/** A cancel that was asked for while the run went on is kept, whatever its owner makes of it. */
const isCancelled = sql`(${isParked} and task.control = 'cancel') is true`;
const isSpent = sql`
  (leaving.wait_for = 'retry' and task.retry_count + leaving.retries_add > task.retries_max) is true`;

/** Written out wherever it is needed: only what is computed from the row itself is looked at again
 *  when the update has had to wait for a rival's. */
const goesTo = sql`
  case when ${isCancelled} then 'cancelled' when ${isSpent} then 'failed' else leaving.goes_to end`;
const hasEnded = sql`(${goesTo}) in ${ended}`;

/** Of $2 to $24, in their order. */
const TYPES = [
  ...['text', 'int', 'bigint', 'text', 'text', 'text', 'text', 'text', 'float8'],
  ...['boolean', 'int', 'boolean', 'int', 'text'],
  ...['int', 'bigint', 'int', 'int', 'text', 'text', 'text', 'text', 'int'],
] as const;
const LISTS = TYPES.map((_, index) => `list${index}`).join(', ');

/**
 * $1 pod, $2 tasks, $3 generations, $4 epochs, $5 statuses, $6 outcomes, $7 results, $8 errors,
 * $9 wait_for, $10 after ms, $11 untouched, $12 retries to add, $13 a step was completed,
 * $14 last seqs, $15 last hashes; of the tail $16 generation, $17 epoch, $18 first seq, $19 last,
 * $20 prev hash, $21 last, $22 state, $23 events; $24 versions, where they are others than before;
 * $25 the error of retries that are spent; $26 the timeline it is meant for, or null.
 *
 * Fenced twice: by the row of the pod, which is held, and by that of the task. An end keeps the
 * epoch, so that its author knows it again; everything else raises it. A row that somebody else has
 * locked is passed over, or one person at a prompt would hold up all that this pod has to say. The
 * lists come by way of a row, so that the planner takes them for short and finds each task by its id:
 * told their length, it reads all of a table of some ten thousand rows for five hundred of them.
 */
export const settleTasks = sql`
  with ${fenceOf(`'up', 'draining'`, '$26')},
  given (${LISTS}) as materialized (
    select ${TYPES.map((type, index) => `$${index + 2}::${type}[]`).join(', ')}),
  leaving as materialized (
    select leaving.*, free.served_until from given, unnest(${LISTS})
        as leaving (task_id, generation, epoch, goes_to, outcome, result, error, wait_for, after_ms,
          is_untouched, retries_add, has_completed_step, last_seq, last_hash,
          tail_generation, tail_epoch, tail_first_seq, tail_last_seq, tail_prev_hash,
          tail_last_hash, tail_state, tail_events, version)
      cross join lateral (
        select task.run_at + (clock_timestamp() - task.claimed_at) as served_until
          from step_tracker task where task.task_id = leaving.task_id
           for no key update skip locked) free
     order by leaving.task_id collate "C" offset 0),
  settled as (
    update step_tracker task
       set status = ${goesTo},
           wait_for = case when (${goesTo}) = 'waiting' then leaving.wait_for end,
           run_at = case when (${goesTo}) = 'waiting'
             then least(clock_timestamp() + leaving.after_ms * interval '1 millisecond',
                        task.deadline_at)
             else task.run_at end,
           outcome = case when ${isCancelled} then 'cancelled' when ${isSpent} then 'exhausted'
             else leaving.outcome end,
           result = leaving.result,
           error = case when ${isCancelled} then ${cancelledError} when ${isSpent} then $25
             else leaving.error end,
           paused = task.paused or (task.control = 'pause' and not ${hasEnded}) is true,
           retry_count = least(task.retry_count + leaving.retries_add, ${COUNT_MAX}),
           crashes = case when leaving.has_completed_step then 0 else task.crashes end,
           claim_epoch = case when ${hasEnded} then task.claim_epoch
             else ${raised('task.claim_epoch')} end,
           key_until = case when ${hasEnded} and task.key is not null
             then ${keyUntil('task.key_ms')} end,
           serial_held = task.serial_held and not ${hasEnded},
           finished_at = case when ${hasEnded} then clock_timestamp() end,
           version = coalesce(leaving.version, task.version),
           last_seq = leaving.last_seq, last_hash = leaving.last_hash,
           claimed_by = null, claim_token = null, claimed_at = null,
           interrupted = case when leaving.is_untouched then task.interrupted end,
           control = null, control_reason = null, last_update = clock_timestamp()
      from leaving, fence
     where task.task_id = leaving.task_id and ${onceFound(sql`
       task.generation = leaving.generation and task.claim_epoch = leaving.epoch
       and task.claimed_by = $1 and task.status = 'claimed'`)}
    returning task.task_id, task.status, task.queue, task.serial_key, ${isFollowed} as is_followed,
              extract(epoch from served_until)::float8 as served_until,
              tail_generation, tail_epoch,
              tail_first_seq, tail_last_seq,
              tail_prev_hash, tail_last_hash, tail_state, tail_events),
  written as (
    insert into run_events
      (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
    select task_id, tail_generation, tail_epoch, tail_first_seq, tail_last_seq, tail_prev_hash,
           tail_last_hash, tail_state, tail_events
      from settled where tail_events is not null
    ${extendOrRefuse})
  select task_id, status, queue, serial_key, served_until, is_followed from settled`;

/**
 * $1 pod, $2 tasks, $3 generations, $4 epochs: which of them their owner has ended already, and which
 * are still the pod's and were only locked.
 */
export const selectUnsettled = sql`
  select task.task_id, case when task.status in ${ended} then 'done' else 'locked' end as kind
    from unnest($2::text[], $3::int[], $4::bigint[]) as asked (task_id, generation, epoch)
    join step_tracker task using (task_id)
   where ${onceFound(sql`
     task.generation = asked.generation and task.claim_epoch = asked.epoch
     and (task.status in ${ended} or task.status = 'claimed' and task.claimed_by = $1 and exists (
       select 1 from pod_health where pod_id = $1 and status in ('up', 'draining')))`)}`;

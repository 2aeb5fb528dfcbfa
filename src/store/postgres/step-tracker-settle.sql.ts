/** The statement by which an owner lets go of tasks, each with the rest of its history. */
import { extendSegment } from './run-events.sql.ts';
import { ended, fenceOf, onceFound, sql } from './sql.ts';

/** What a person said when asking for the end, as the error of the task. */
export const cancelledError = sql`
  json_build_object('code', 'FLEETQ_CANCELLED', 'message', coalesce(task.control_reason, ''))::text`;

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

/** Of $2 to $23, in their order. */
const TYPES = [
  ...['text', 'int', 'bigint', 'text', 'text', 'text', 'text', 'text', 'float8', 'boolean', 'int'],
  ...['boolean', 'int', 'text', 'int', 'bigint', 'int', 'int', 'text', 'text', 'text', 'text'],
] as const;
const LISTS = TYPES.map((_, index) => `list${index}`).join(', ');

/**
 * $1 pod, $2 tasks, $3 generations, $4 epochs, $5 statuses, $6 outcomes, $7 results, $8 errors,
 * $9 wait_for, $10 after ms, $11 paused, $12 retries to add, $13 a step was completed, $14 last seqs,
 * $15 last hashes; of the tail $16 generation, $17 epoch, $18 first seq, $19 last, $20 prev hash,
 * $21 last, $22 state, $23 events; $24 the error of retries that are spent.
 *
 * Fenced twice: by the row of the pod, which is held, and by that of the task. An end keeps the
 * epoch, so that its author knows it again; everything else raises it. In the order of ids, so that
 * two batches never wait for each other. The lists come by way of a row, so that the planner takes
 * them for short and finds each task by its id: told their length, it reads all of a table of some
 * ten thousand rows for five hundred of them.
 */
export const settleTasks = sql`
  with ${fenceOf(`'up', 'draining'`)},
  given (${LISTS}) as materialized (
    select ${TYPES.map((type, index) => `$${index + 2}::${type}[]`).join(', ')}),
  leaving as materialized (
    select leaving.* from given, unnest(${LISTS})
        as leaving (task_id, generation, epoch, goes_to, outcome, result, error, wait_for, after_ms,
          is_paused, retries_add, has_completed_step, last_seq, last_hash, tail_generation,
          tail_epoch, tail_first_seq, tail_last_seq, tail_prev_hash, tail_last_hash, tail_state,
          tail_events)
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
           error = case when ${isCancelled} then ${cancelledError} when ${isSpent} then $24
             else leaving.error end,
           paused = leaving.is_paused,
           retry_count = task.retry_count + leaving.retries_add,
           crashes = case when leaving.has_completed_step then 0 else task.crashes end,
           claim_epoch = task.claim_epoch + case when ${hasEnded} then 0 else 1 end,
           key_until = case when ${hasEnded} and task.key is not null
             then clock_timestamp() + task.key_ms * interval '1 millisecond' end,
           serial_held = task.serial_held and not ${hasEnded},
           finished_at = case when ${hasEnded} then clock_timestamp() end,
           last_seq = leaving.last_seq, last_hash = leaving.last_hash,
           claimed_by = null, claim_token = null, claimed_at = null, interrupted = false,
           control = null, control_reason = null, last_update = clock_timestamp()
      from leaving, fence
     where task.task_id = leaving.task_id and ${onceFound(sql`
       task.generation = leaving.generation and task.claim_epoch = leaving.epoch
       and task.claimed_by = $1 and task.status = 'claimed'`)}
    returning task.task_id, task.status, tail_generation, tail_epoch, tail_first_seq, tail_last_seq,
              tail_prev_hash, tail_last_hash, tail_state, tail_events),
  written as (
    insert into run_events
      (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
    select task_id, tail_generation, tail_epoch, tail_first_seq, tail_last_seq, tail_prev_hash,
           tail_last_hash, tail_state, tail_events
      from settled where tail_events is not null
    ${extendSegment})
  select task_id, status from settled`;

/** $1 tasks, $2 generations, $3 epochs: which of them their owner has ended already. */
export const selectSettledBefore = sql`
  select task.task_id
    from unnest($1::text[], $2::int[], $3::bigint[]) as asked (task_id, generation, epoch)
    join step_tracker task using (task_id)
   where ${onceFound(sql`
     task.generation = asked.generation and task.claim_epoch = asked.epoch
     and task.status in ${ended}`)}`;

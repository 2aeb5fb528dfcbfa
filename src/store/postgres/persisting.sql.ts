/** Statements by which a step that persists keeps its claim, and by which a lost answer is found again. */
import { extendOrRefuse } from './run-events.sql.ts';
import { ended, fenceOf, sql } from './sql.ts';

/**
 * Begins, in one message, what an author writes in: the server ends it by itself where nobody goes on
 * with it, or the locks of one that was forgotten would hold up the fleet. The limit is put in.
 */
export function beginPersisting(serverMs: number): string {
  return sql`begin isolation level read committed;
    set local statement_timeout = ${serverMs};
    set local idle_in_transaction_session_timeout = ${serverMs}`;
}

/**
 * $1 pod, $2 task, $3 generation, $4 epoch; of the segment $5 first seq, $6 last, $7 prev hash, $8 last,
 * $9 state, $10 events; $11 version, where it is another; $12 the timeline it is
 * meant for, or null. The run goes on: its row is held, so that
 * nobody takes it before this has committed, and its records are kept. Fenced as a settle is.
 */
export const keepRun = sql`
  with ${fenceOf(`'up', 'draining'`, '$12')},
  held as (
    update step_tracker task
       set version = coalesce($11::int, task.version), last_update = clock_timestamp()
      from fence
     where task.task_id = $2 and task.generation = $3::int and task.claim_epoch = $4::bigint
       and task.claimed_by = $1 and task.status = 'claimed'
    returning task.task_id),
  kept as (
    insert into run_events
      (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
    select task_id, $3::int, $4::bigint, $5::int, $6::int, $7::text, $8::text, $9::text, $10::text
      from held
    ${extendOrRefuse})
  select task_id from held`;

/** $1 task. Waits for whoever has the row, and for nothing else. */
export const waitForTask = sql`
  select 1 from step_tracker where task_id = $1 for no key update`;

/**
 * $1 pod, $2 task, $3 generation, $4 epoch. Waits for whoever has the row: a transaction that may still
 * commit has it, and what it leaves is what this sees.
 */
export const lookAtPersisted = sql`
  select task.status in ${ended} as has_ended, task.last_hash,
         task.status = 'claimed' and task.claimed_by = $1 as is_held
    from step_tracker task
   where task.task_id = $2 and task.generation = $3::int and task.claim_epoch = $4::bigint
     for no key update`;

/** $1 task, $2 generation, $3 epoch, $4 seq: whether this owner's record of that number is there. */
export const selectIsKept = sql`
  select exists (
    select 1 from run_events
     where task_id = $1 and generation = $2::int and epoch = $3::bigint
       and first_seq <= $4::int and last_seq >= $4::int) as is_kept`;

/** The statement on step_tracker by which a pod gets back what a lost server had given it. */
import { COUNT_MAX } from '../bounds.ts';
import { fenceOf, sql } from './sql.ts';

/**
 * $1 pod, $2 tasks, $3 generations, $4 epochs. The server that gave these claims is no more, and this one
 * has not heard of them: whoever has them goes on, unless somebody has had the task since.
 */
export const restoreClaims = sql`
  with ${fenceOf(`'up', 'draining'`)},
  given as materialized (
    select * from unnest($2::text[], $3::int[], $4::bigint[]) as given (task_id, generation, epoch)),
  open as materialized (
    select task.task_id, given.epoch from given join step_tracker task
        on task.task_id = given.task_id and task.generation = given.generation
     where task.status in ('pending', 'waiting') and task.wait_for is distinct from 'turn'
       and task.claim_epoch < given.epoch and exists (select 1 from fence)
     order by task.task_id for update of task skip locked)
  update step_tracker task
     set status = 'claimed', wait_for = null, waiting_on = null, claimed_by = $1, claim_token = null,
         claimed_at = clock_timestamp(), claims = least(claims, ${COUNT_MAX - 1}) + 1,
         serial_held = serial_key is not null, claim_epoch = open.epoch,
         last_update = clock_timestamp()
    from open
   where task.task_id = open.task_id and task.claim_epoch < open.epoch
  returning task.task_id`;

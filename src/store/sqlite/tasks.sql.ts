/** Statements on single tasks: on their way in and out, and as people see them. */
import { COUNT_MAX, EPOCH_ANEW, EPOCH_TURN } from '../bounds.ts';

/** The epoch after this one; one that somebody wrote by hand may leave no room above it. */
export const raised = `iif(claim_epoch < ${EPOCH_TURN}, claim_epoch, ${EPOCH_ANEW}) + 1`;

/** @task. */
export const selectTask = `select * from step_tracker where task_id = @task`;
/** @task. What a settle decides from, and no more: this is read for every one of them. */
export const selectForSettle = `
  select status, generation, claim_epoch, run_at, deadline_at, retry_count, retries_max, control,
         control_reason, queue, serial_key, claimed_at
    from step_tracker where task_id = @task`;
/** @machine, @key. */
export const selectByKey = `select * from step_tracker where machine = @machine and key = @key`;

/** @task and the rest of a new task. One whose id is there is left as it is. */
export const insertTask = `
  insert into step_tracker (task_id, machine, version, queue, priority, run_at, status, wait_for,
    payload, key, key_ms, retries_max, deadline_at, put_off_ms, trace_parent, serial_key,
    follows, follows_on, created_at, last_update)
  values (@task, @machine, @version, @queue, @priority, @run_at, @status, @wait_for,
    @payload, @key, @key_ms, @retries_max, @deadline_at, @put_off_ms, @trace_parent,
    @serial_key, @follows, @follows_on, @now, @now)
  on conflict (task_id) do nothing`;

/** @task. Its key has outlived it and may stand for another task. */
export const clearKey = `update step_tracker set key = null, key_until = null where task_id = @task`;

/**
 * @pod, @task, @generation, @epoch and what the task becomes. Fenced twice: by the claim, and by the
 * pod being up or draining. A terminal settle keeps the epoch, so that whoever sends it again knows.
 */
export const settleTask = `
  update step_tracker
     set status = @status, wait_for = @wait_for, waiting_on = null, run_at = @run_at,
         outcome = @outcome, result = @result, error = @error, finished_at = @finished_at,
         version = coalesce(@version, version),
         retry_count = min(retry_count + @retries_add, ${COUNT_MAX}),
         crashes = case when @has_completed_step then 0 else crashes end,
         interrupted = iif(@untouched, interrupted, null),
         paused = iif(control = 'pause' and @finished_at is null, 1, paused), last_seq = @last_seq,
         last_hash = @last_hash, claim_epoch = iif(@finished_at is null, ${raised}, claim_epoch),
         claimed_by = null, claim_token = null, claimed_at = null, control = null,
         control_reason = null, serial_held = serial_held and @finished_at is null,
         key_until = case when @finished_at is not null and key is not null
           then @finished_at + key_ms end,
         last_update = @now
   where task_id = @task and generation = @generation and claim_epoch = @epoch
     and claimed_by = @pod and status = 'claimed'
     and exists (select 1 from pod_health where pod_id = @pod and status in ('up', 'draining'))`;

/** @task, @generation, @epoch, @version. Its present owner has it under another version now. */
export const moveTask = `
  update step_tracker set version = @version, last_update = @now
   where task_id = @task and generation = @generation and claim_epoch = @epoch
     and status = 'claimed' and version <> @version`;

/** @task, @status, @outcome, @error. Only what nobody holds, and nobody may come after. */
export const endTask = `
  update step_tracker
     set status = @status, wait_for = null, waiting_on = null, outcome = @outcome, error = @error,
         finished_at = @now, claim_epoch = ${raised}, control = null, control_reason = null,
         serial_held = 0, key_until = case when key is not null then @now + key_ms end,
         last_update = @now
   where task_id = @task and status in ('pending', 'waiting')
  returning *`;

/** Newest first, older than (@created_at, @task); null means any. @count. */
const page = `
     and (created_at, task_id) < (@created_at, @task)
     and (@status is null or status = @status) and (@machine is null or machine = @machine)
     and (@claimed_by is null or claimed_by = @claimed_by)
     and (@in_flight = 0 or finished_at is null)
   order by created_at desc, task_id desc limit @count`;
export const selectPage = `select * from step_tracker where true ${page}`;
export const selectPageOfDeadLetters = `
  select * from step_tracker where status = 'failed' and discarded_at is null ${page}`;
/** The owner's index: it holds few. */
export const selectPageOfPod = `
  select * from step_tracker where claimed_by = @claimed_by ${page}`;

const tallies = `
  route, machine, version,
  sum(status = 'pending') as pending, sum(status = 'waiting') as waiting,
  sum(status = 'claimed') as claimed,
  sum(status <> 'claimed' and pinned_to is not null) as pinned,
  sum(status <> 'claimed' and pinned_to is null and wait_for is 'version') as shelved,
  sum(status <> 'claimed' and pinned_to is null and wait_for is not 'version'
      and crashes >= 2) as suspect`;
/** What has not ended, by route. */
export const countInFlight = `
  select ${tallies} from step_tracker where status in ('pending', 'waiting', 'claimed')
   group by route, machine, version order by route`;
const ofRoute = 'select * from step_tracker where route = @route and paused = 0';
/** @route: what is in its heads, due or not. Each part is written as its index is. */
export const countClaimable = `
  select ${tallies} from (
    ${ofRoute} and status = 'pending' and pinned_to is null and crashes < 2
    union all
    ${ofRoute} and status = 'waiting' and pinned_to is null and crashes < 2 and wait_for <> 'turn'
    union all
    ${ofRoute} and crashes >= 2 and status in ('pending', 'waiting') and wait_for is not 'turn'
      and pinned_to is null)
   group by machine, version`;

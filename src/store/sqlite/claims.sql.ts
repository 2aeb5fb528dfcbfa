/** Statements that give tasks to pods. The WHERE of each head is that of the index made for it. */
import { COUNT_MAX } from '../bounds.ts';
import { raised } from './tasks.sql.ts';

const ready = `status = 'pending' and paused = 0 and pinned_to is null and crashes < 2`;
/** @route, @priority, or null for the highest there is: the next lower one. */
export const selectReadyLevel = `
  select priority from step_tracker
   where route = @route and ${ready} and priority < coalesce(@priority, ${2 ** 31})
   order by priority desc limit 1`;

/** @route, @priority: the first queue. */
export const selectFirstQueue = `
  select queue, run_at from step_tracker
   where route = @route and ${ready} and priority = @priority
   order by queue, run_at, task_id limit 1`;

/** @route, @priority, @behind: the one behind that. */
export const selectNextQueue = `
  select queue, run_at from step_tracker
   where route = @route and ${ready} and priority = @priority and queue > @behind
   order by queue, run_at, task_id limit 1`;

/** @route, @priority, @queue, @now, @from, @count. Pinned rows are not in this index. */
export const selectReady = `
  select task_id, route, queue, priority, run_at from step_tracker
   where route = @route and priority = @priority and queue = @queue and ${ready}
     and run_at <= @now
   order by run_at, task_id limit @count offset @from`;

/** @closed: queues that have no room, or are paused. */
const isOpen = `queue not in (select value from json_each(@closed))`;

/** @route, @now, @count, @closed. By due time: a long queue of sleepers is never looked through. */
export const selectDue = `
  select task_id, route, queue, priority, run_at from step_tracker
   where route = @route and status = 'waiting' and paused = 0 and pinned_to is null and crashes < 2
     and wait_for <> 'turn' and run_at <= @now and ${isOpen}
   order by run_at, task_id limit @count`;

/** @journal, @routes as JSON, @now, @count. What waits for this very host, sleepers of it included. */
export const selectPinned = `
  select task_id, route, queue, 1 as is_pinned, priority, run_at from step_tracker
   where pinned_to = @journal and status in ('pending', 'waiting') and paused = 0 and crashes < 2
     and run_at <= @now and (wait_for is null or wait_for <> 'turn')
     and route in (select value from json_each(@routes))
   order by run_at, task_id limit @count`;

/** @route, @journal, @now, @count, @closed. What killed its process twice, wherever it comes from. */
export const selectSuspects = `
  select task_id, route, queue, pinned_to is not null as is_pinned, priority, run_at from step_tracker
   where route = @route and crashes >= 2 and status in ('pending', 'waiting') and paused = 0
     and run_at <= @now and (wait_for is null or wait_for <> 'turn')
     and (pinned_to is null and ${isOpen} or pinned_to = @journal)
   order by run_at, task_id limit @count`;

/** When the first record of its generation came; asked for only where there is no deadline. */
const recordedAt = `iif(deadline_at is null, (
    select min(at) from run_events as part
     where part.task_id = step_tracker.task_id and part.generation = step_tracker.generation),
    null) as recorded_at`;

/**
 * Not all of them: making an object of every column takes longer than finding the row. @bytes_max: of
 * a larger payload only the size is told.
 */
const claimColumns = `task_id, generation, claim_epoch, machine, version, queue, priority,
  key,
  iif(octet_length(payload) <= @bytes_max, payload, null) as payload,
  iif(octet_length(payload) > @bytes_max, octet_length(payload), null) as oversize,
  key_generation, carry_from, retry_count, retries_max, crashes, interrupted, cut_epoch, last_seq,
  control,  deadline_at, created_at, run_at, claimed_at, ${recordedAt}, trace_parent, pinned_to, claim_token,
  last_hash`;

/** @task, @pod, @token, @bytes_max. Fenced: only a pod that is up is given anything. */
export const claimTask = `
  update step_tracker
     set status = 'claimed', wait_for = null, waiting_on = null, claimed_by = @pod,
         claim_token = @token, claimed_at = @now, claims = min(claims, ${COUNT_MAX - 1}) + 1,
         claim_epoch = ${raised},  serial_held = serial_key is not null, last_update = @now
   where task_id = @task and status in ('pending', 'waiting')
     and exists (select 1 from pod_health where pod_id = @pod and status = 'up')
  returning ${claimColumns}`;

/** @pod, @after, @count, @bytes_max. */
export const selectHeld = `
  select ${claimColumns} from step_tracker
   where claimed_by = @pod and task_id > @after order by task_id limit @count`;

/** @task and the rest of a run that was started on a host. Fenced like a claim. */
export const insertMirrored = `
  insert into step_tracker (task_id, machine, version, payload, status, claimed_by, claimed_at,
    claim_epoch, claims, pinned_to, run_at, created_at, last_update, deadline_at)
  select @task, @machine, @version, @payload, 'claimed', @pod, @now, 1, 1, @journal,
         @started_at, @started_at, @now, @deadline_at
   where exists (select 1 from pod_health where pod_id = @pod and status = 'up')
  on conflict (task_id) do nothing`;

/** @pod, @count, @only of this control, or null. A batch, in the order in which all are worked through. */
export const selectOfPod = `
  select * from step_tracker
   where claimed_by = @pod
     and case @only when 'paused' then control = 'pause' when 'free' then pinned_to is null
       when 'these' then (task_id, claim_epoch) in (
         select value ->> 'task', value ->> 'epoch' from json_each(@claims))
       else true end
   order by task_id limit @count`;

/** @task, @from, @epoch and what the task becomes. The epoch always rises. */
export const takeTask = `
  update step_tracker
     set status = @status, wait_for = @wait_for, waiting_on = null, run_at = @run_at,
         deadline_at = @deadline_at, crashes = @crashes, interrupted = @interrupted,
         cut_epoch = @cut_epoch, claim_epoch = ${raised}, claimed_by = @claimed_by, claim_token = null,
         claimed_at = case when @claimed_by is not null then @now end,
         paused = iif(@finished_at is null, @paused, paused),
         control = case when @claimed_by is not null then control end,
         control_reason = case when @claimed_by is not null then control_reason end,
         outcome = @outcome, error = @error, finished_at = @finished_at,
         serial_held = serial_held and @finished_at is null,
         key_until = case when @finished_at is not null and key is not null
           then @finished_at + key_ms end,
         last_update = @now
   where task_id = @task and claimed_by = @from and claim_epoch = @epoch and status = 'claimed'
  returning *, ${recordedAt}`;

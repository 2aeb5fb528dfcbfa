/** Statements by which a step that persists keeps its claim, and by which a lost end is found again. */

/** @pod, @task, @generation, @epoch, @version. The run goes on; fenced as a settle is. */
export const keepClaim = `
  update step_tracker set version = coalesce(@version, version), last_update = @now
   where task_id = @task and generation = @generation and claim_epoch = @epoch
     and claimed_by = @pod and status = 'claimed'
     and exists (select 1 from pod_health where pod_id = @pod and status in ('up', 'draining'))`;

/** @task, @generation, @epoch, @seq: whether this owner's record of that number is there. */
export const selectIsKept = `
  select 1 from run_events
   where task_id = @task and generation = @generation and epoch = @epoch
     and first_seq <= @seq and last_seq >= @seq`;

/** Statements of what people change: on audit_log, and on the row of one task. */

/** @id. */
export const selectLogged = `select who, what, task_id, detail from audit_log where id = @id`;

/** @id, @who, @what, @task, @detail. */
export const insertLogged = `
  insert into audit_log (id, at, who, what, task_id, detail)
  values (@id, @now, @who, @what, @task, @detail)`;

/** @before, @count. The oldest first. */
export const selectAudited = `select id from audit_log where at < @before order by at limit @count`;
export const deleteAudited = `delete from audit_log where id in (${selectAudited}) returning id`;

/** The columns that a change of people may set, by the names that decisions have for them. */
const COLUMNS = {
  status: 'status',
  waitFor: 'wait_for',
  runAt: 'run_at',
  deadlineAt: 'deadline_at',
  epoch: 'claim_epoch',
  acts: 'acts',
  putOffMs: 'put_off_ms',
  generation: 'generation',
  retryCount: 'retry_count',
  crashes: 'crashes',
  interruption: 'interrupted',
  cutEpoch: 'cut_epoch',
  control: 'control',
  controlReason: 'control_reason',
  isPaused: 'paused',
  payload: 'payload',
  outcome: 'outcome',
  result: 'result',
  error: 'error',
  finishedAt: 'finished_at',
  discardedAt: 'discarded_at',
  lastSeq: 'last_seq',
  lastHash: 'last_hash',
  carriesFrom: 'carry_from',
  keyGeneration: 'key_generation',
  keyUntil: 'key_until',
  isSerialHeld: 'serial_held',
} as const;

export type ChangedColumn = keyof typeof COLUMNS;

/** @task, and a value under the name of each column. There are as many of these as kinds of change. */
export function updateTask(columns: readonly ChangedColumn[]): string {
  const sets = columns.map((name) => `${COLUMNS[name]} = @${name}`);
  return `update step_tracker set ${sets.join(', ')}, last_update = @now where task_id = @task`;
}

/**
 * @as and what is its own; the rest is that of @task. Its first epoch is that of its beginning, which
 * another task's owner has written. One whose id is there is left as it is.
 */
export const insertFork = `
  insert into step_tracker (task_id, machine, version, queue, priority, retries_max, key_ms,
    trace_parent, serial_key, status, wait_for, run_at, payload, deadline_at, claim_epoch, last_seq,
    last_hash, created_at, last_update)
  select @as, machine, version, queue, priority, retries_max, key_ms, trace_parent,
         serial_key, iif(serial_key is null, 'pending', 'waiting'),
         iif(serial_key is null, null, 'turn'), @now, @payload,
         @deadline_at, 1, @last_seq, @last_hash, @now, @now
    from step_tracker where task_id = @task
  on conflict (task_id) do nothing`;

/** @id. */
export const selectNoted = `select 1 from audit_log where id = @id`;

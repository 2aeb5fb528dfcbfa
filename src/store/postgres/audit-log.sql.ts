/** Statements of what people change: on audit_log, and on the row of one task. */
import { hasToldItsEnd } from './run-events.sql.ts';
import { isoOf, msOf, spanOf, sql } from './sql.ts';
import { columns } from './step-tracker.sql.ts';

/** $1 task. Held until the change is committed; facts are read by a statement after it. */
export const lockTask = sql`select 1 from step_tracker where task_id = $1 for update`;

/**
 * $1 task, $2 request id: all that a decision rests on. Only once the row is held: what this reads of
 * other tables would otherwise be as it was before the lock was waited for.
 */
export const selectSubject = sql`
  select task.*, logged.what as logged_what, logged.task_id as logged_task,
         logged.detail as logged_detail, ${msOf('clock_timestamp()')} as now
    from (select 1) one
    left join audit_log logged on logged.id = $2
    left join (
      select ${columns}, key_ms, key_generation, put_off_ms, serial_key is not null as is_serial,
             ${hasToldItsEnd('step_tracker')} as has_told_its_end,
             exists (select 1 from run_events part
                      where part.task_id = step_tracker.task_id
                        and part.generation = step_tracker.generation) as has_records,
             ${msOf(sql`coalesce((select max(at) from run_events part
                      where part.task_id = step_tracker.task_id and part.state = 'outcome'
                        and part.generation = step_tracker.generation - 1), created_at)`)} as begun_at
        from step_tracker where task_id = $1) task on true`;

/** $1 request id, $2 who, $3 what, $4 task, $5 detail. One whose id somebody else uses answers none. */
export const insertLogged = sql`
  insert into audit_log (id, who, what, task_id, detail) values ($1, $2, $3, $4, $5)
  on conflict (id) do nothing
  returning id`;

/** $1 request id: what it stands for. */
export const selectLogged = sql`
  select id, ${msOf('at')} as at, who, what, task_id, detail from audit_log where id = $1`;

/** $1 age in ms, $2 count. The oldest first. */
export const selectAudited = sql`
  select id from audit_log where at < clock_timestamp() - ${spanOf('$1::float8')}
   order by at limit $2`;

/** $1 age in ms, $2 count. */
export const deleteAudited = sql`
  delete from audit_log where id in (${selectAudited}) returning id`;

/** The columns that a change of people may set, by the names that decisions have for them. */
const COLUMNS = {
  status: ['status', 'text'],
  waitFor: ['wait_for', 'text'],
  runAt: ['run_at', 'time'],
  deadlineAt: ['deadline_at', 'time'],
  epoch: ['claim_epoch', 'bigint'],
  acts: ['acts', 'int'],
  putOffMs: ['put_off_ms', 'bigint'],
  generation: ['generation', 'int'],
  retryCount: ['retry_count', 'int'],
  crashes: ['crashes', 'int'],
  interruption: ['interrupted', 'text'],
  cutEpoch: ['cut_epoch', 'bigint'],
  control: ['control', 'text'],
  controlReason: ['control_reason', 'text'],
  isPaused: ['paused', 'boolean'],
  payload: ['payload', 'text'],
  outcome: ['outcome', 'text'],
  result: ['result', 'text'],
  error: ['error', 'text'],
  finishedAt: ['finished_at', 'time'],
  discardedAt: ['discarded_at', 'time'],
  lastSeq: ['last_seq', 'int'],
  lastHash: ['last_hash', 'text'],
  carriesFrom: ['carry_from', 'int'],
  keyGeneration: ['key_generation', 'int'],
  keyUntil: ['key_until', 'time'],
  isSerialHeld: ['serial_held', 'boolean'],
} as const;

export type ChangedColumn = keyof typeof COLUMNS;

/** $1 task, then a value for each column in their order; times in milliseconds. */
export function updateTask(changed: readonly ChangedColumn[]): string {
  const sets = changed.map((name, index) => {
    const [column, type] = COLUMNS[name];
    const value = `$${index + 2}`;
    const given =
      type === 'time' ? sql`to_timestamp(${value}::float8 / 1000)` : `${value}::${type}`;
    return `${column} = ${given}`;
  });
  return sql`
  update step_tracker set ${sets.join(', ')}, last_update = clock_timestamp() where task_id = $1`;
}

/**
 * $1 task, whose row is held. How this generation has ended, behind whatever was archived of it: the
 * row is about to forget it.
 */
export const keepOutcome = sql`
  insert into run_events
    (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
  select task_id, generation, claim_epoch, last.seq + 1, last.seq + 1, coalesce(last_hash, ''),
         coalesce(last_hash, ''), 'outcome',
         json_build_array(json_build_object(
           'type', 'OUTCOME', 'status', status, 'outcome', outcome, 'error', error,
           'finishedAt', ${isoOf('finished_at')}))::text
    from step_tracker task
   cross join lateral (
     select greatest(task.last_seq, max(part.last_seq)) as seq from run_events part
      where part.task_id = task.task_id and part.generation = task.generation
        and part.epoch = task.claim_epoch) last
   where task_id = $1
  on conflict do nothing`;

/**
 * $1 task, $2 the new one, $3 payload, $4 deadline in ms from now, $5 last seq, $6 last hash. The rest
 * is that of the old one. Its first epoch is that of its beginning, which another task's owner wrote.
 */
export const insertFork = sql`
  insert into step_tracker
    (task_id, machine, version, queue, priority, retries_max, key_ms, trace_parent, serial_key,
     status, wait_for, payload, deadline_at, claim_epoch, last_seq, last_hash)
  select $2, machine, version, queue, priority, retries_max, key_ms, trace_parent,
         serial_key, case when serial_key is null then 'pending' else 'waiting' end,
         case when serial_key is not null then 'turn' end, $3,
         clock_timestamp() + $4::float8 * interval '1 millisecond', 1, $5::int, $6
    from step_tracker where task_id = $1
  on conflict do nothing
  returning task_id`;

/** $1 the new task, $2 last seq, $3 last hash, $4 state, $5 events. */
export const insertBeginning = sql`
  insert into run_events
    (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events)
  values ($1, 1, 1, 0, $2::int, '', $3, $4, $5)`;

/** $1 request ids. */
export const selectNoted = sql`select id from audit_log where id = any ($1::text[])`;

/** Whether a change of people can be written down, and done. */
export const selectMayChange = sql`
  select has_table_privilege('audit_log', 'insert')
         and has_table_privilege('step_tracker', 'update') as may_change`;

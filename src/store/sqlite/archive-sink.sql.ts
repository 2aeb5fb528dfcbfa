/** Statements of a sink: what has changed, who sends it, and how far it has come. */

/** Whether a sink has not certainly sent `task`, a row of step_tracker, and its history. */
export const isUnsent = `
  exists (select 1 from archive_sink as sink
           where sink.sent_until is null or task.last_update >= sink.sent_until
              or exists (select 1 from run_events as late
                          where late.task_id = task.task_id and late.written >= sink.sent_until))`;

/** Nobody pays for them where there is no sink. */
export const CREATE_INDEXES: readonly string[] = [
  'create index if not exists step_tracker_for_sinks on step_tracker (last_update)',
  'create index if not exists run_events_for_sinks on run_events (written)',
];

export const selectHasIndexes = `
  select count(*) as count from sqlite_schema
   where type = 'index' and name in ('step_tracker_for_sinks', 'run_events_for_sinks')`;

/** When the file was made stands for which one it is. */
export const selectUppers = `
  select (select max(last_update) from step_tracker) as step_tracker,
         (select max(written) from run_events) as run_events,
         (select min(applied_at) from schema_version) as made_at`;

const TASK = `
  task_id, generation, machine, version, queue, priority, run_at, status, wait_for, claim_epoch,
  claimed_by, retry_count, crashes, claims, paused, key as task_key, serial_key, parent_id, follows,
  deadline_at, payload, outcome, result, error, last_seq, last_hash, trace_parent, created_at,
  last_update, finished_at, discarded_at`;
const SEGMENT = `
  task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events, at as begun_at`;

const KEY = 'task_id, generation, epoch, first_seq';

/** @count, and the key of the last row. Everything, in the order of keys; each as it is asked for. */
export const PAGE_OF_ALL = {
  run_events: `
    select ${SEGMENT} from run_events
     where (${KEY}) > (@task, @generation, @epoch, @first_seq) order by ${KEY} limit @count`,
  step_tracker: `
    select ${TASK} from step_tracker where task_id > @task order by task_id limit @count`,
} as const;

/** @upper the newest time, @count, @stamp and the key of the last row. In the order of times. */
export const PAGE_OF_CHANGED = {
  run_events: `
    select ${SEGMENT}, written as page_stamp from run_events
     where written <= @upper and (written, ${KEY}) > (@stamp, @task, @generation, @epoch, @first_seq)
     order by written, ${KEY} limit @count`,
  step_tracker: `
    select ${TASK}, last_update as page_stamp from step_tracker
     where last_update <= @upper and (last_update, task_id) > (@stamp, @task)
     order by last_update, task_id limit @count`,
} as const;

/** @name, @target, @holder, @until, @now, @forced. What was sent elsewhere is not in this archive. */
export const holdSink = `
  insert into archive_sink (name, target, holder, held_until)
  values (@name, @target, @holder, @until)
  on conflict (name) do update
     set target = excluded.target, holder = excluded.holder, held_until = excluded.held_until,
         sent_until = case when archive_sink.target = excluded.target then archive_sink.sent_until end
   where archive_sink.holder is null or archive_sink.holder = excluded.holder or @forced = 1
      or archive_sink.held_until < @now`;

/** @name, @holder, @until, @now. Never back. */
export const confirmSent = `
  update archive_sink set sent_until = max(coalesce(sent_until, @until), @until), sent_at = @now
   where name = @name and holder = @holder`;

/** @name, @holder. */
export const freeSink = `
  update archive_sink set holder = null, held_until = null where name = @name and holder = @holder`;

/** @name, @now. Not while a process sends: it would be back at once. */
export const deleteSink = `
  delete from archive_sink where name = @name and (held_until is null or held_until < @now)`;

export const selectSinks = `
  select name, target, holder, held_until, sent_until from archive_sink order by name`;

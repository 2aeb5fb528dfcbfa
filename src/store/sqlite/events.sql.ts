/** Statements on run_events. */

/** @task, @generation, @epoch, @first_seq. */
export const selectSegment = `
  select * from run_events
   where task_id = @task and generation = @generation and epoch = @epoch
     and first_seq = @first_seq`;

/** @task, @generation. Every epoch: which records count is for the reader to find out. */
export const selectHistory = `
  select * from run_events where task_id = @task and generation = @generation
   order by epoch, first_seq`;

/** @task, @generation. The same without what is in them, which may be much. */
export const selectOutlines = `
  select task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state
    from run_events where task_id = @task and generation = @generation
   order by epoch, first_seq`;

/** @task, @generation, @epoch, @first_seq, @from: in the order of the array, as each is asked for.
 * What is no array has keys that are no numbers.
 */
export const selectRecordsIn = `
  select record.value from run_events, json_each(run_events.events) record
   where task_id = @task and generation = @generation and epoch = @epoch
     and first_seq = @first_seq and typeof(record.key) = 'integer' and record.key >= @from`;

/** @task, @generation. How far the last epoch reaches; a redrive's note is no record. */
export const selectHead = `
  select * from run_events
   where task_id = @task and generation = @generation and state <> 'outcome'
   order by epoch desc, last_seq desc, first_seq desc limit 1`;

/** @task. */
export const selectHasTask = `select 1 from step_tracker where task_id = @task`;

/** A whole segment. */
export const insertSegment = `
  insert into run_events (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash,
    state, events, at, written)
  values (@task, @generation, @epoch, @first_seq, @last_seq, @prev_hash, @last_hash, @state,
    @events, @now, @now)`;

/** The same, where a shorter one of the same beginning is there; `at` stays that of its beginning. */
export const extendSegment = `
  update run_events
     set last_seq = @last_seq, last_hash = @last_hash, state = @state, events = @events,
         written = @now
   where task_id = @task and generation = @generation and epoch = @epoch
     and first_seq = @first_seq and last_seq < @last_seq`;

/** @task, @generation: when that one was redriven, and so when the next one began. */
export const selectRedrivenAt = `
  select max(at) as at from run_events
   where task_id = @task and generation = @generation and state = 'outcome'`;

/** @task, @generation, @epoch. */
export const selectLastSeq = `
  select max(last_seq) as last_seq from run_events
   where task_id = @task and generation = @generation and epoch = @epoch`;

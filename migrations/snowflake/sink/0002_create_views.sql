-- For analysts: times as timestamps in UTC, texts of JSON as what they say. What was sealed stays so: it
-- is no JSON, and is null here.
create view if not exists archive_tasks as
select source, task_id, generation, machine, version, queue, priority, status, outcome, claimed_by,
       retry_count, crashes, claims, task_key, parent_id,
       to_timestamp_ntz(created_at, 3) as created_at,
       to_timestamp_ntz(run_at, 3) as run_at,
       to_timestamp_ntz(last_update, 3) as updated_at,
       to_timestamp_ntz(finished_at, 3) as finished_at,
       try_parse_json(payload) as payload,
       try_parse_json(result) as result,
       try_parse_json(error) as error
  from archived_task;

-- One row for each record of each run.
create view if not exists archive_events as
select a.source, a.task_id, a.generation, a.epoch, f.value:seq::number(19,0) as seq,
       to_timestamp_ntz(f.value:at::number(19,0), 3) as recorded_at,
       f.value:event::varchar as event, f.value:state::varchar as state, f.value:data as data
  from archived_segment a, lateral flatten(input => try_parse_json(a.events)) f;

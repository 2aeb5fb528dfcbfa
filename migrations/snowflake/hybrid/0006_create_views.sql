-- For analysts: times as timestamps in UTC, and texts of JSON as what they say.
create view if not exists tasks as
select task_id, machine, version, queue, priority, status, outcome, claimed_by, retry_count, crashes,
       to_timestamp_ntz(created_at, 3) as created_at,
       to_timestamp_ntz(run_at, 3) as run_at,
       to_timestamp_ntz(last_update, 3) as updated_at,
       to_timestamp_ntz(finished_at, 3) as finished_at,
       try_parse_json(payload) as payload,
       try_parse_json(result) as result,
       try_parse_json(error) as error
  from step_tracker;

create view if not exists histories as
select task_id, generation, epoch, first_seq, last_seq, state, try_parse_json(events) as events
  from run_events;

-- One partial index for each question that is asked all the time. A claim looks at the head of a
-- route, so rows that cannot be taken are in none of the indexes it walks: paused ones, those of
-- other routes, those that are not due, and those that are pinned to a journal.

create index step_tracker_ready on step_tracker (route, priority desc, run_at, task_id)
  where status = 'pending' and not paused and crashes < 2 and pinned_to is null;
create index step_tracker_due on step_tracker (route, run_at, task_id)
  where status = 'waiting' and wait_for <> 'turn' and not paused and crashes < 2 and pinned_to is null;
create index step_tracker_suspect on step_tracker (route, run_at, task_id)
  where status in ('pending', 'waiting') and not paused and crashes >= 2 and pinned_to is null;
create index step_tracker_pinned on step_tracker (pinned_to, run_at, task_id)
  where status in ('pending', 'waiting') and pinned_to is not null;

create index step_tracker_turn on step_tracker (queue, serial_key, priority desc, run_at, task_id)
  where status = 'waiting' and wait_for = 'turn';
create unique index step_tracker_serial on step_tracker (queue, serial_key) where serial_held;

create index step_tracker_owner on step_tracker (claimed_by, task_id) where claimed_by is not null;
create index step_tracker_control on step_tracker (claimed_by)
  where control is not null and claimed_by is not null;
create unique index step_tracker_key on step_tracker (machine, key) where key is not null;
create index step_tracker_key_expiry on step_tracker (key_until)
  where key is not null and key_until is not null;
create index step_tracker_children on step_tracker (parent_id) where parent_id is not null;
create index step_tracker_ended on step_tracker (finished_at) where finished_at is not null;
create index step_tracker_dead_letter on step_tracker (task_id)
  where status = 'failed' and discarded_at is null;
create index step_tracker_deadline on step_tracker (deadline_at)
  where status in ('pending', 'waiting') and deadline_at is not null;
-- Ids that are neither a ULID nor a lower-case UUID: there should be none, and finding none is free.
create index step_tracker_malformed on step_tracker (task_id)
  where status in ('pending', 'waiting')
    and task_id !~ '^([0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$';

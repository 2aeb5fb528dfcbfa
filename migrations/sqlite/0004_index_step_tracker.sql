-- One partial index for each question that is asked all the time. A claim looks at the head of a
-- route, so rows that it cannot take are in none of the indexes it walks: paused ones, those of other
-- routes, those that are not due, and those that are pinned to a journal.
create index step_tracker_ready on step_tracker (route, priority desc, run_at, task_id)
  where status = 'pending' and paused = 0 and pinned_to is null and crashes < 2;
create index step_tracker_due on step_tracker (route, run_at, task_id)
  where status = 'waiting' and paused = 0 and pinned_to is null and crashes < 2
    and wait_for <> 'turn';
create index step_tracker_pinned on step_tracker (pinned_to, run_at, task_id)
  where pinned_to is not null and status in ('pending', 'waiting') and paused = 0;
create index step_tracker_suspect on step_tracker (route, run_at, task_id)
  where crashes >= 2 and status in ('pending', 'waiting') and paused = 0;
create index step_tracker_turn on step_tracker (queue, serial_key, priority desc, run_at, task_id)
  where status = 'waiting' and wait_for = 'turn';
create index step_tracker_owner on step_tracker (claimed_by, task_id) where claimed_by is not null;
create index step_tracker_control on step_tracker (claimed_by, task_id)
  where control is not null;
create unique index step_tracker_key on step_tracker (machine, key) where key is not null;
create unique index step_tracker_serial on step_tracker (queue, serial_key) where serial_held = 1;
create index step_tracker_parent on step_tracker (parent_id) where parent_id is not null;
create index step_tracker_deadline on step_tracker (deadline_at)
  where deadline_at is not null and status in ('pending', 'waiting');
create index step_tracker_machine on step_tracker (machine, created_at)
  where status in ('pending', 'waiting');
create index step_tracker_malformed on step_tracker (task_id)
  where status in ('pending', 'waiting') and not (
    (length(task_id) = 26 and task_id glob '[0-7]*' and task_id not glob '*[^0-9A-HJKMNP-TV-Z]*')
    or (task_id glob '????????-????-????-????-????????????'
      and replace(task_id, '-', '') not glob '*[^0-9a-f]*'
      and length(replace(task_id, '-', '')) = 32));
create index step_tracker_finished on step_tracker (finished_at) where finished_at is not null;
create index step_tracker_key_until on step_tracker (key_until) where key_until is not null;
create index step_tracker_newest on step_tracker (created_at, task_id);
create index step_tracker_failed on step_tracker (created_at, task_id)
  where status = 'failed' and discarded_at is null;

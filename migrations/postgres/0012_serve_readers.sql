-- For people who look tasks up: lists are by status, newest first, and a list of everything is the six
-- of them merged. Made within the migration's transaction, it lets nobody write to the table while it
-- is built: a second or two for a million rows, during which claims and settles wait. For tables that
-- are much larger make it before, by hand: create index concurrently with the very name and columns.
-- Old pods may keep running.
create index if not exists step_tracker_by_status on step_tracker (status, created_at, task_id);

-- Who led, since when; told by leaders themselves when they begin.
create table leader_terms (
  pod_id text collate "C" not null,
  term   integer not null,
  name   text not null,
  since  timestamptz not null default clock_timestamp(),
  primary key (pod_id, term)
);

create index leader_terms_since on leader_terms (since, pod_id, term);

-- Pages of the audit log go by time and id; the index of times alone is of no use any more.
create index audit_log_newest on audit_log (at, id);
drop index audit_log_at;
drop index audit_log_task;
create index audit_log_of_task on audit_log (task_id, at, id) where task_id is not null;

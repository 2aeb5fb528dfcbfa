-- For people who look tasks up: lists of some statuses, newest first. On an expression, so that only
-- who writes the same one walks it: without statistics SQLite would take an index that begins with a
-- plain status for the best way to what pods ask. Old processes may keep running.
create index step_tracker_by_status on step_tracker (status || '', created_at, task_id);

-- Who led, since when; told by leaders themselves when they begin.
create table leader_terms (
  pod_id text not null,
  term   integer not null,
  name   text not null,
  since  integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  primary key (pod_id, term)
) strict;

create index leader_terms_since on leader_terms (since, pod_id, term);

-- Pages of the audit log go by time and id; the index of times alone is of no use any more.
create index audit_log_newest on audit_log (at, id);
drop index audit_log_at;
drop index audit_log_task;
create index audit_log_of_task on audit_log (task_id, at, id) where task_id is not null;

-- What people changed: each change once, found again by its id however often it was asked for.
create table audit_log (
  id      text primary key,
  at      integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  who     text not null,
  what    text not null,
  task_id text,
  detail  text
) strict;

create index audit_log_at on audit_log (at);
create index audit_log_task on audit_log (task_id) where task_id is not null;

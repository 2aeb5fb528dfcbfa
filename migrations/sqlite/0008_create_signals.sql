-- What was sent to a run from outside. Sending the same signal again changes nothing.
create table signals (
  task_id   text not null,
  signal_id text not null,
  name      text not null,
  payload   text,
  at        integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  primary key (task_id, signal_id)
) strict;

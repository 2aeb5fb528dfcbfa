-- What was sent to a run from outside. Sending the same signal again changes nothing.
create table signals (
  task_id   text collate "C" not null,
  signal_id text collate "C" not null,
  name      text not null,
  payload   text,
  at        timestamptz not null default clock_timestamp(),
  primary key (task_id, signal_id)
);

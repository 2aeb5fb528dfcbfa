-- Queues that have a limit, or are paused. A claim looks at the head of each queue of a route: the queue
-- comes before the priority in the index of what is ready, and a crowd in a queue that is full is
-- stepped over in one hop. Old processes may keep running, and claim more slowly; they know no limits,
-- so set the first one when they are gone.
drop index step_tracker_ready;
create index step_tracker_ready on step_tracker (route, queue, priority desc, run_at, task_id)
  where status = 'pending' and paused = 0 and pinned_to is null and crashes < 2;

alter table queue_limits add column paused_by text;
alter table queue_limits add column paused_at integer;
alter table queue_limits add column last_update integer not null default 0;

-- Machines that nobody begins or goes on with for a while, whatever queue their tasks are in.
create table machine_pauses (
  machine   text primary key,
  paused_by text,
  paused_at integer not null default (cast(round(unixepoch('subsec') * 1000) as integer))
) strict;

-- Queues that have a limit, or are paused, are claimed from by statements of their own or not at all. So
-- a claim looks at the head of each queue of a route: the queue comes before the priority in the index of
-- what is ready, and a crowd in a queue that is full is stepped over in one hop. Old pods may keep
-- running, and claim more slowly; they know no limits, so set the first one when they are gone.
drop index step_tracker_ready;
create index step_tracker_ready on step_tracker (route, queue, priority desc, run_at, task_id)
  where status = 'pending' and not paused and crashes < 2 and pinned_to is null;

alter table queue_limits
  add column paused_by text,
  add column paused_at timestamptz,
  add column last_update timestamptz not null default now();

-- Machines that nobody begins or goes on with for a while, whatever queue their tasks are in.
create table machine_pauses (
  machine   text primary key,
  paused_by text,
  paused_at timestamptz not null default now()
);

-- A claim takes the highest priority first and a share from each queue of it, so the index of what is ready has
-- the priority before the queue. Old pods may keep running, and claim more slowly.
drop index step_tracker_ready;
create index step_tracker_ready on step_tracker (route, priority desc, queue, run_at, task_id)
  where status = 'pending' and paused = 0 and pinned_to is null and crashes < 2;

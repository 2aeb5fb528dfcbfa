-- A claim takes the highest priority first and a share from each queue of it, so the index of what is ready has
-- the priority before the queue; as its complement, which ascends as the queues do. What is ready, or pinned,
-- is one condition, so that no other index is taken for a claim. Made within the migration's transaction, it lets
-- nobody read or write the table while it is built, which reads all of it: some two seconds for a million rows.
-- Old pods may keep running, and claim slowly where much is ready.
drop index step_tracker_ready;
create index step_tracker_ready on step_tracker (route, (~priority), queue, run_at, task_id)
  where case when status = 'pending' and not paused and crashes < 2 and pinned_to is null
          then true else false end;

drop index step_tracker_pinned;
create index step_tracker_pinned on step_tracker (pinned_to, run_at, task_id)
  where case when status in ('pending', 'waiting') and pinned_to is not null then true else false end;

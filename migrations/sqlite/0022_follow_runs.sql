-- A task may follow another: it waits, as `run`, until that one has ended, and whoever ends that one lets
-- it go in the same transaction. Old processes may keep running on the file, and let nobody go.
alter table step_tracker add column follows text;
alter table step_tracker add column follows_on text check (follows_on in ('success', 'end'));
create index step_tracker_follower on step_tracker (follows, task_id)
  where status = 'waiting' and wait_for = 'run';

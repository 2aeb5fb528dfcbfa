-- A task may follow another: it waits, as `run`, until that one has ended, and whoever ends that one lets
-- it go. The index is over those that wait alone, so that asking who follows a run costs nothing where
-- nobody does. Old pods may keep running: they let nobody go, and what they end is found by the others.
alter table step_tracker
  add column follows text,
  add column follows_on text,
  add constraint follows_on_is_known check (follows_on in ('success', 'end'));
create index step_tracker_follower on step_tracker (follows, task_id)
  where status = 'waiting' and wait_for = 'run';

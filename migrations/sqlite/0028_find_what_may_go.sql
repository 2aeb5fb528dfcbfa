-- Retention asks for the oldest tasks that have ended and keep no key: however many keep theirs, none of them is
-- read.
create index step_tracker_removable on step_tracker (finished_at)
  where finished_at is not null and key is null;

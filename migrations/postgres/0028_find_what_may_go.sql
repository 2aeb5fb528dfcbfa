-- Retention asks for the oldest tasks that have ended and keep no key: however many keep theirs, none of them is
-- read. The key stands first, though it is always null, so that no other index is in this order: a planner that
-- knows little of the table would take the one of all that have ended. Made within the migration's transaction, it lets nobody write to the table while it is built: a second
-- or two for a million rows, during which claims and settles wait. For tables that are much larger make it
-- before, by hand: create index concurrently with the very name and columns. Old pods may keep running.
create index if not exists step_tracker_removable on step_tracker (key, finished_at)
  where finished_at is not null and key is null;

-- Who follows a run is shown with it, also those that wait no more. The index is over followers alone, so
-- it costs nothing where there are none. Old pods may keep running.
create index step_tracker_follows on step_tracker (follows, task_id) where follows is not null;

-- A schedule may have one run at a time: a tick whose run before has not ended is left out, and counted.
-- The last run is that of a tick or one that people asked for, so its time is its own. Old processes may
-- keep running: they know no such rule, and put every tick in until they are gone.
alter table schedule add column overlap text not null default 'allow'
  check (overlap in ('allow', 'skip'));
alter table schedule add column skipped integer not null default 0;
alter table schedule add column last_run_at integer;
update schedule set last_run_at = last_at where last_run is not null;

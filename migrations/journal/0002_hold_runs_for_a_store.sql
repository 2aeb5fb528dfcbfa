-- Runs that came from a shared store are held here for a while and then forgotten: the store has
-- them. `generation` tells them from runs that were started here, which have none. Older builds
-- refuse a file of this format, as they must: they would go on with a run that may be another's.
alter table runs add column generation integer;
create index runs_held on runs (id) where generation is not null;

drop trigger events_of_live_runs_stay;
create trigger events_of_live_runs_stay before delete on events
when not exists (
  select 1 from runs where id = old.run and (finished_at is not null or generation is not null)
) begin
  select raise(abort, 'events of an unfinished run cannot be deleted');
end;

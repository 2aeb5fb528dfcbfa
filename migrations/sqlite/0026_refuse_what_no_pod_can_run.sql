-- No pod ever runs a version below 1, nor takes a recovery from the store: those are a leader's own, and
-- are only shown here, pinned to its journal. Such a row would stay pending without end. Old processes may
-- keep running: they write none.

-- Rows that are there already fail first, each with the reason; what has ended stays as it is.
update step_tracker
   set status = 'failed', wait_for = null, waiting_on = null, outcome = 'aborted',
       error = '{"code":"FLEETQ_ROW_REFUSED","message":"no pod can run it: its version is below 1, or its machine is a recovery of FleetQ''s own"}',
       finished_at = cast(round(unixepoch('subsec') * 1000) as integer),
       key_until = case when key is not null
         then cast(round(unixepoch('subsec') * 1000) as integer) + min(max(key_ms, 0), 10000000000000) end,
       serial_held = 0, control = null, claim_epoch = min(claim_epoch + 1, 9007199254740991),
       last_update = cast(round(unixepoch('subsec') * 1000) as integer)
 where status in ('pending', 'waiting')
   and (version < 1 or (substr(machine, 1, 9) = 'recovery/' and pinned_to is null));

-- A table cannot be given a CHECK later; triggers keep the rule. Of what has ended they ask nothing.
create trigger step_tracker_runnable before insert on step_tracker
  when new.status in ('pending', 'waiting', 'claimed')
   and (new.version < 1 or (substr(new.machine, 1, 9) = 'recovery/' and new.pinned_to is null))
begin
  select raise(abort, 'no pod can run it: its version is below 1, or its machine is a recovery');
end;
create trigger step_tracker_stays_runnable
  before update of status, version, machine, pinned_to on step_tracker
  when new.status in ('pending', 'waiting', 'claimed')
   and (new.version < 1 or (substr(new.machine, 1, 9) = 'recovery/' and new.pinned_to is null))
begin
  select raise(abort, 'no pod can run it: its version is below 1, or its machine is a recovery');
end;

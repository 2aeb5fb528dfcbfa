-- No pod ever runs a version below 1, nor takes a recovery from the store: those are a leader's own, and
-- are only shown here, pinned to its journal. Such a row would stay pending without end. Old pods may keep
-- running: they write none.

-- Rows that are there already fail first, each with the reason; what has ended stays as it is.
update step_tracker
   set status = 'failed', wait_for = null, waiting_on = null, outcome = 'aborted',
       error = '{"code":"FLEETQ_ROW_REFUSED","message":"no pod can run it: its version is below 1, or its machine is a recovery of FleetQ''s own"}',
       finished_at = clock_timestamp(),
       key_until = case when key is not null
         then clock_timestamp() + least(greatest(key_ms, 0), 10000000000000) * interval '1 millisecond' end,
       serial_held = false, control = null, claim_epoch = least(claim_epoch + 1, 9007199254740991),
       last_update = clock_timestamp()
 where status in ('pending', 'waiting')
   and (version < 1 or (starts_with(machine, 'recovery/') and pinned_to is null));

-- Not validated: that would hold up the fleet while every row is read. Of what has ended it asks nothing,
-- so that a row from before can be discarded and removed.
alter table step_tracker
  add constraint open_is_runnable check (
    status in ('completed', 'failed', 'cancelled')
    or (version >= 1 and (not starts_with(machine, 'recovery/') or pinned_to is not null))) not valid;

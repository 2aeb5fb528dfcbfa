-- No row may hold a number or a time that later statements cannot count with: a claim adds one, an
-- end adds the lifetime of the key, a heartbeat and a view subtract from now. One such row would make
-- the statement fail for every row beside it. Epochs stay below 2^53, where every program that reads
-- them can tell two of them apart. Old pods may keep running.

-- Rows that are there already are put right first; in a table without such rows this only reads.
update step_tracker
   set run_at = least(greatest(run_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00'),
       created_at = least(greatest(created_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00'),
       last_update = least(greatest(last_update, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00'),
       deadline_at = case when deadline_at is not null
         then least(greatest(deadline_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end,
       key_until = case when key_until is not null
         then least(greatest(key_until, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end,
       claimed_at = case when claimed_at is not null
         then least(greatest(claimed_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end,
       finished_at = case when finished_at is not null
         then least(greatest(finished_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end,
       discarded_at = case when discarded_at is not null
         then least(greatest(discarded_at, '0001-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') end,
       generation = least(greatest(generation, 1), 1000000000),
       key_generation = least(greatest(key_generation, 1), 1000000000),
       retry_count = least(greatest(retry_count, 0), 1000000000),
       crashes = least(greatest(crashes, 0), 1000000000),
       claims = least(greatest(claims, 0), 1000000000),
       last_seq = least(greatest(last_seq, -1), 1000000000),
       key_ms = least(greatest(key_ms, 0), 10000000000000),
       claim_epoch = case when claim_epoch between 0 and 9007199254740991 then claim_epoch
         else 4503599627370496 end
 where (
         run_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and created_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and last_update between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and deadline_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and key_until between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and claimed_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and finished_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and discarded_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
     and generation between 1 and 1000000000
     and key_generation between 1 and 1000000000
     and retry_count between 0 and 1000000000
     and crashes between 0 and 1000000000
     and claims between 0 and 1000000000
     and last_seq between -1 and 1000000000
     and key_ms between 0 and 10000000000000
     and claim_epoch between 0 and 9007199254740991) is false;

-- Not validated: that would hold up the fleet while every row is read. A row that came in between is
-- put right by whoever meets it.
alter table step_tracker
  add constraint times_are_countable check (
        run_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and created_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and last_update between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and deadline_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and key_until between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and claimed_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and finished_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00'
    and discarded_at between '0001-01-01 00:00:00+00' and '9999-12-31 00:00:00+00') not valid,
  add constraint counts_are_bounded check (
        generation between 1 and 1000000000
    and key_generation between 1 and 1000000000
    and retry_count between 0 and 1000000000
    and crashes between 0 and 1000000000
    and claims between 0 and 1000000000
    and last_seq between -1 and 1000000000
    and key_ms between 0 and 10000000000000) not valid,
  add constraint epoch_is_exact check (claim_epoch between 0 and 9007199254740991) not valid;

-- An infinite time cannot be subtracted before Postgres 17.
create or replace view queue_now as
  select queue, machine, version, status, count(*) as tasks,
         min(run_at) as oldest_run_at,
         greatest(interval '0', now() - min(run_at) filter (where isfinite(run_at)))
           as oldest_waits_for
    from step_tracker
   where status in ('pending', 'waiting', 'claimed')
   group by queue, machine, version, status;

-- No row may hold a number or a time that later statements cannot count with: a claim adds one, an
-- end adds the lifetime of the key, and sums that leave 64 bits are no integers any more. One such row
-- would make the statement fail for every row beside it. Epochs stay below 2^53, where every program
-- that reads them can tell two of them apart. Old processes may keep running.

-- Rows that are there already are put right first.
update step_tracker
   set run_at = min(max(run_at, -62135596800000), 253402214400000),
       created_at = min(max(created_at, -62135596800000), 253402214400000),
       last_update = min(max(last_update, -62135596800000), 253402214400000),
       deadline_at = min(max(deadline_at, -62135596800000), 253402214400000),
       key_until = min(max(key_until, -62135596800000), 253402214400000),
       claimed_at = min(max(claimed_at, -62135596800000), 253402214400000),
       finished_at = min(max(finished_at, -62135596800000), 253402214400000),
       discarded_at = min(max(discarded_at, -62135596800000), 253402214400000),
       generation = min(max(generation, 1), 1000000000),
       key_generation = min(max(key_generation, 1), 1000000000),
       retry_count = min(max(retry_count, 0), 1000000000),
       crashes = min(max(crashes, 0), 1000000000),
       claims = min(max(claims, 0), 1000000000),
       last_seq = min(max(last_seq, -1), 1000000000),
       key_ms = min(max(key_ms, 0), 10000000000000),
       claim_epoch = iif(claim_epoch between 0 and 9007199254740991, claim_epoch, 4503599627370496)
 where (run_at between -62135596800000 and 253402214400000
     and created_at between -62135596800000 and 253402214400000
     and last_update between -62135596800000 and 253402214400000
     and deadline_at between -62135596800000 and 253402214400000
     and key_until between -62135596800000 and 253402214400000
     and claimed_at between -62135596800000 and 253402214400000
     and finished_at between -62135596800000 and 253402214400000
     and discarded_at between -62135596800000 and 253402214400000
     and generation between 1 and 1000000000
     and key_generation between 1 and 1000000000
     and retry_count between 0 and 1000000000
     and crashes between 0 and 1000000000
     and claims between 0 and 1000000000
     and last_seq between -1 and 1000000000
     and key_ms between 0 and 10000000000000
     and claim_epoch between 0 and 9007199254740991) is false;

-- A table cannot be given a CHECK later; a trigger keeps the same rule.
create trigger step_tracker_inserted before insert on step_tracker
  when (new.run_at between -62135596800000 and 253402214400000
    and new.created_at between -62135596800000 and 253402214400000
    and new.last_update between -62135596800000 and 253402214400000
    and new.deadline_at between -62135596800000 and 253402214400000
    and new.key_until between -62135596800000 and 253402214400000
    and new.claimed_at between -62135596800000 and 253402214400000
    and new.finished_at between -62135596800000 and 253402214400000
    and new.discarded_at between -62135596800000 and 253402214400000
    and new.generation between 1 and 1000000000
    and new.key_generation between 1 and 1000000000
    and new.retry_count between 0 and 1000000000
    and new.crashes between 0 and 1000000000
    and new.claims between 0 and 1000000000
    and new.last_seq between -1 and 1000000000
    and new.key_ms between 0 and 10000000000000
    and new.claim_epoch between 0 and 9007199254740991) is false
begin
  select raise(abort, 'a time or a number of the task is out of range');
end;
create trigger step_tracker_updated before update on step_tracker
  when (new.run_at between -62135596800000 and 253402214400000
    and new.created_at between -62135596800000 and 253402214400000
    and new.last_update between -62135596800000 and 253402214400000
    and new.deadline_at between -62135596800000 and 253402214400000
    and new.key_until between -62135596800000 and 253402214400000
    and new.claimed_at between -62135596800000 and 253402214400000
    and new.finished_at between -62135596800000 and 253402214400000
    and new.discarded_at between -62135596800000 and 253402214400000
    and new.generation between 1 and 1000000000
    and new.key_generation between 1 and 1000000000
    and new.retry_count between 0 and 1000000000
    and new.crashes between 0 and 1000000000
    and new.claims between 0 and 1000000000
    and new.last_seq between -1 and 1000000000
    and new.key_ms between 0 and 10000000000000
    and new.claim_epoch between 0 and 9007199254740991) is false
begin
  select raise(abort, 'a time or a number of the task is out of range');
end;

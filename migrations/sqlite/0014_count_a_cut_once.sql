-- Names the claim whose owner was cut off, so that whoever reads the history can tell whether somebody
-- has told of it since: the records of an owner that left in order may come after the task was taken
-- from it, and the same crash was counted twice. Null where an older process has taken the task, which
-- is judged as before; one that it leaves standing is known by a later settlement. Old processes may
-- keep running.
alter table step_tracker
  add column cut_epoch integer
    constraint cut_epoch_is_exact check (cut_epoch between 0 and 9007199254740991);

-- How long a pod may be silent is a matter of its own settings: whoever sweeps judges it by these, and
-- not by its own. Null in the row of an older pod, which is judged as before. Old processes may keep
-- running.
alter table pod_health
  add column silent_ms integer constraint silence_is_a_span check (silent_ms > 0);

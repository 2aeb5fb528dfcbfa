-- Whether an id is well formed is asked of every row that comes in, since the index of those that are not
-- asks it. One pattern for the whole id was a fifth of the work of storing a task; the same question in
-- smaller ones is a twentieth. Old pods may keep running: the index says nothing to their leader, which
-- reads whatever waits instead, so do not leave them for long beside a crowd.
drop index step_tracker_malformed;
create index step_tracker_malformed on step_tracker (task_id)
  where status in ('pending', 'waiting')
    and case octet_length(task_id)
          when 26 then task_id >= '8' or task_id ~ '[^0-9A-HJKMNP-TV-Z]'
          when 36 then task_id not like '________-____-____-____-____________'
                    or octet_length(replace(task_id, '-', '')) <> 32 or task_id ~ '[^0-9a-f-]'
          else true
        end;

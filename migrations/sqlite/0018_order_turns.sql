-- Tasks with one serial key run one after the other. The next one of a key is the first that is due, so
-- the index is in that order: however many wait behind it, finding it is one step. Paused ones are not
-- in it, for they block nobody. What nobody has looked at since it came in has `waiting_on` empty.
-- Old processes may keep running: they claim what has its turn, and enqueue without serial keys.
drop index step_tracker_turn;
create index step_tracker_turn on step_tracker (queue, serial_key, run_at, task_id)
  where status = 'waiting' and wait_for = 'turn' and paused = 0;
create index step_tracker_arrival on step_tracker (run_at, task_id)
  where status = 'waiting' and wait_for = 'turn' and paused = 0 and waiting_on is null;

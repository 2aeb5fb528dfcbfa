-- Two numbers for what people change. `acts` counts their changes of a task, so that nobody changes what
-- somebody else has changed since it was seen, whoever holds it. `put_off_ms` is by how much a deadline is
-- later than at first, since the task was due later: it is taken back when the task is brought forward, and
-- is no part of the time that a redriven task or a fork has. Old pods may keep running: their changes are
-- not counted, and what they put off keeps its later deadline. Not validated: no row has a value yet.
alter table step_tracker
  add column acts integer not null default 0,
  add column put_off_ms bigint not null default 0,
  add constraint acts_are_counted check (acts >= 0) not valid,
  add constraint put_off_is_exact check (put_off_ms between 0 and 9007199254740991) not valid;

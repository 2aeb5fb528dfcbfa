-- Two numbers for what people change. `acts` counts their changes of a task, so that nobody changes what
-- somebody else has changed since it was seen, whoever holds it. `put_off_ms` is by how much a deadline is
-- later than at first, since the task was due later: it is taken back when the task is brought forward, and
-- is no part of the time that a redriven task or a fork has. Old processes may keep running: their changes
-- are not counted, and what they put off keeps its later deadline.
alter table step_tracker add column acts integer not null default 0 check (acts >= 0);
alter table step_tracker add column put_off_ms integer not null default 0 check (put_off_ms >= 0);

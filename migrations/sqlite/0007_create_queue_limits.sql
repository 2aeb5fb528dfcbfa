-- Queues that may have only so many tasks claimed at once, or none for a while.
create table queue_limits (
  queue       text primary key,
  max_claimed integer check (max_claimed >= 0),
  paused      integer not null default 0 check (paused in (0, 1))
) strict;

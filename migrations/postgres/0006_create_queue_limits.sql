-- Queues that may have only so many tasks claimed at once, or none for a while.
create table queue_limits (
  queue       text primary key,
  max_claimed integer,
  paused      boolean not null default false,
  constraint max_claimed_is_count check (max_claimed >= 0)
);

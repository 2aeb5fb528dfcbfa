-- What people do to many tasks at once: what is to be done to whichever tasks a filter finds, and how far
-- that is. One run at a time, its shift, works it off; what it writes here stands only under the epoch it
-- was given when it began, and the page it has in hand is written before anything is done to it. Old
-- processes may keep running: they know nothing of it, and their successors do the work.
create table bulk_operation (
  id         text primary key,
  what       text not null,
  deed       text not null,
  filter     text not null,
  is_masked  integer not null,
  rate       integer not null check (rate >= 1),
  count_max  integer check (count_max >= 1),
  who        text not null,
  via        text not null,
  status     text not null
    check (status in ('running', 'pausing', 'paused', 'cancelling', 'cancelled', 'completed')),
  created_at integer not null,
  updated_at integer not null,
  ended_at   integer,
  expected   integer,
  cursor     text,
  is_read    integer not null default 0,
  in_hand    text not null default '[]',
  found      integer not null default 0,
  done       integer not null default 0,
  requested  integer not null default 0,
  already    integer not null default 0,
  refused    integer not null default 0,
  refusals   text not null default '{}',
  samples    text not null default '[]',
  shift      integer not null default 1,
  shift_run  text not null,
  token      integer not null default 0,
  epoch      integer not null default 0,
  constraint bulk_ended_iff_over check ((status in ('cancelled', 'completed')) = (ended_at is not null)),
  constraint bulk_acted_on_found check (
    min(done, requested, already, refused) >= 0 and done + requested + already + refused <= found)
) strict;

create index bulk_operation_ended on bulk_operation (ended_at) where ended_at is not null;

-- What people do to many tasks at once: what is to be done to whichever tasks a filter finds, and how far
-- that is. One run at a time, its shift, works it off; what it writes here stands only under the epoch it
-- was given when it began, and the page it has in hand is written before anything is done to it. Old pods
-- may keep running: they know nothing of it, and their successors do the work.
create table bulk_operation (
  id         text collate "C" primary key,
  what       text not null,
  deed       text not null,
  filter     text not null,
  is_masked  boolean not null,
  rate       integer not null check (rate >= 1),
  count_max  bigint check (count_max >= 1),
  who        text not null,
  via        text not null,
  status     text not null
    check (status in ('running', 'pausing', 'paused', 'cancelling', 'cancelled', 'completed')),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  ended_at   timestamptz,
  expected   bigint,
  cursor     text,
  is_read    boolean not null default false,
  in_hand    text not null default '[]',
  found      bigint not null default 0,
  done       bigint not null default 0,
  requested  bigint not null default 0,
  already    bigint not null default 0,
  refused    bigint not null default 0,
  refusals   text not null default '{}',
  samples    text not null default '[]',
  shift      integer not null default 1,
  shift_run  text collate "C" not null,
  token      bigint not null default 0,
  epoch      bigint not null default 0,
  constraint bulk_ended_iff_over check ((status in ('cancelled', 'completed')) = (ended_at is not null)),
  constraint bulk_acted_on_found check (
    least(done, requested, already, refused) >= 0 and done + requested + already + refused <= found)
);

create index bulk_operation_ended on bulk_operation (ended_at) where ended_at is not null;
